# CUDA as a shell finds it, where the pod's own environment (pod-env.sh, read before) does not say otherwise.
if [ -d /usr/local/cuda ]; then
  export CUDA_HOME="${CUDA_HOME:-/usr/local/cuda}"
  case ":$PATH:" in
    *:/usr/local/cuda/bin:*) ;;
    *) export PATH="/usr/local/cuda/bin:$PATH" ;;
  esac
  case ":${LD_LIBRARY_PATH:-}:" in
    *:/usr/local/cuda/lib64:*) ;;
    *) export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/cuda/lib64" ;;
  esac
fi
