/**
 * `/start.sh` of the two kinds of image: what process 1 of a pod does. The pod's environment reaches it as environment
 * only; no value is ever part of a command.
 */

/** `/start.sh` of our own image: the pod's environment is made visible to every shell before sshd starts. */
export const ORGPODS_START = `#!/bin/bash
set -euo pipefail
umask 022

mkdir -p /run/sshd /etc/update-motd.d /etc/profile.d /etc/ssh/sshd_config.d /etc/ssh/godfather_principals
install -d -m 700 /root/.ssh

# A key is one line; whatever follows it in the variable is not a key.
backend=\${GODFATHER_SSH_PUBLIC_KEY:-}
backend=\${backend%%$'\\n'*}
ca=\${GODFATHER_SSH_CA_PUBLIC_KEY:-}
ca=\${ca%%$'\\n'*}
touch /root/.ssh/authorized_keys
chmod 600 /root/.ssh/authorized_keys
if [ -z "$backend" ]; then
  echo "start: GODFATHER_SSH_PUBLIC_KEY is not set, the server cannot reach this pod" >&2
elif ! grep -qxF -- "$backend" /root/.ssh/authorized_keys; then
  printf '%s\\n' "$backend" >>/root/.ssh/authorized_keys
fi
if [ -z "$ca" ]; then
  echo "start: GODFATHER_SSH_CA_PUBLIC_KEY is not set, no certificate opens this pod" >&2
fi
printf '%s\\n' "$ca" >/etc/ssh/godfather_user_ca.pub
if [ -n "\${RUNPOD_POD_ID:-}" ]; then
  printf 'gf-%s\\n' "$RUNPOD_POD_ID" >/etc/ssh/godfather_principals/root
else
  : >/etc/ssh/godfather_principals/root
fi

# PAM reads /etc/environment without quoting rules, so it gets only what it can carry; login shells get every value.
: >/etc/environment
: >/etc/profile.d/pod-env.sh
while IFS= read -r -d '' pair; do
  name=\${pair%%=*}
  value=\${pair#*=}
  case $name in
    GODFATHER_* | RUNPOD_* | PUBLIC_KEY | JUPYTER_PASSWORD) continue ;;
    HOME | PWD | OLDPWD | SHLVL | _ | TERM | HOSTNAME | USER | LOGNAME | SHELL | MAIL | IFS | BASH_ENV | ENV) continue ;;
    UID | EUID | PPID | BASHOPTS | SHELLOPTS | BASH_*) continue ;;
  esac
  printf 'export %s=%q\\n' "$name" "$value" >>/etc/profile.d/pod-env.sh
  case $value in
    *$'\\n'* | *'#'* | *'\\' | ' '* | *' ' | $'\\t'* | *$'\\t' | \\"* | \\'*) ;;
    *) if [ "\${#value}" -lt 900 ]; then printf '%s=%s\\n' "$name" "$value" >>/etc/environment; fi ;;
  esac
done < <(env -0)

install -d -o root -g root -m 755 /workspace
if [ ! -L /workspace/users ]; then install -d -m 755 /workspace/users; fi
if [ ! -L /workspace/shared ]; then install -d -m 1777 /workspace/shared; fi

for type in ed25519 ecdsa; do
  ssh-keygen -q -t "$type" -N '' -f "/etc/ssh/ssh_host_\${type}_key"
done
cd /
env -i PATH="$PATH" /usr/sbin/sshd -D -e </dev/null &
sleep infinity &
while true; do wait || true; done
`;

/** `/start.sh` with the steps of the original image: keys, principals, all host keys, folders, and nothing more. */
export const ORIGINAL_START = `#!/bin/bash
set -e

mkdir -p /var/run/sshd /root/.ssh /etc/ssh/godfather_principals /etc/update-motd.d
chmod 700 /root/.ssh
if [ -n "$GODFATHER_SSH_PUBLIC_KEY" ]; then
  touch /root/.ssh/authorized_keys
  if ! grep -qxF -- "$GODFATHER_SSH_PUBLIC_KEY" /root/.ssh/authorized_keys; then
    echo "$GODFATHER_SSH_PUBLIC_KEY" >>/root/.ssh/authorized_keys
  fi
  chmod 600 /root/.ssh/authorized_keys
else
  echo "No backend key was given."
fi
if [ -n "$GODFATHER_SSH_CA_PUBLIC_KEY" ]; then
  echo "$GODFATHER_SSH_CA_PUBLIC_KEY" >/etc/ssh/godfather_user_ca.pub
  chmod 644 /etc/ssh/godfather_user_ca.pub
else
  echo "No CA key was given."
fi
if [ -n "$RUNPOD_POD_ID" ]; then
  echo "gf-$RUNPOD_POD_ID" >/etc/ssh/godfather_principals/root
else
  : >/etc/ssh/godfather_principals/root
fi
chmod 644 /etc/ssh/godfather_principals/root

ssh-keygen -A
env -i PATH="$PATH" /usr/sbin/sshd -D -e </dev/null &

mkdir -p /workspace/users /workspace/shared
chmod 755 /workspace/users
chmod 1777 /workspace/shared
: >/etc/motd
sleep infinity &
while true; do wait || true; done
`;
