#!/usr/bin/env bash
# Builds dist/orgpods, one executable for this platform; with --all also for linux x64, linux arm64 and macOS arm64.
# DENO_BIN names the deno to compile with (default: deno on the PATH). Deno itself reads DENORT_BIN, the runtime to fill.
set -euo pipefail
cd "$(dirname "$0")"

deno="${DENO_BIN:-deno}"
command -v "$deno" >/dev/null || { echo "compile.sh needs deno on the PATH (or DENO_BIN)" >&2; exit 1; }
targets=("")
case "${1:-}" in
  "") ;;
  --all)
    [ -z "${DENORT_BIN:-}" ] || { echo "compile.sh --all fills runtimes of other platforms: unset DENORT_BIN" >&2; exit 2; }
    targets=("x86_64-unknown-linux-gnu" "aarch64-unknown-linux-gnu" "aarch64-apple-darwin")
    ;;
  *) echo "usage: ./compile.sh [--all]" >&2; exit 2 ;;
esac

# Flags that only newer versions of Deno know.
help="$("$deno" compile --help 2>&1)"
flags=(--allow-all --no-check --include pod-image/rootfs)
for flag in --no-code-cache --exclude-unused-npm; do
  if grep -q -- "$flag" <<<"$help"; then flags+=("$flag"); fi
done

mkdir -p dist
for target in "${targets[@]}"; do
  out="dist/orgpods${target:+-$target}"
  "$deno" compile "${flags[@]}" ${target:+--target "$target"} --output "$out" main.ts
  echo "$out"
done
