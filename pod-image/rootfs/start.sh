#!/bin/bash
# Process 1 of the pod. The pod's environment comes to it as environment only; no value is ever part of a command.
#
#   GODFATHER_SSH_PUBLIC_KEY     the server's key, which may log in as root
#   GODFATHER_SSH_CA_PUBLIC_KEY  the key that signs members' and officers' certificates
#   RUNPOD_POD_ID                the pod's id, the only principal is gf-<id>
#   GODFATHER_TRUST_CA_AT_START  true: certificates are accepted before the server has delivered the list of revoked ones
set -euo pipefail
umask 022

# A stop: everything is asked to end, and what has not ended after 3 seconds ends with this process.
stop() {
  trap '' TERM INT HUP
  if [ "$$" = 1 ]; then
    kill -TERM -1 || true
    for _ in {1..30}; do
      others_run || break
      sleep 0.1
    done
  else
    kill -TERM $(jobs -p) || true
  fi
  exit 0
}
others_run() {
  local process
  for process in /proc/[0-9]*; do
    [ "$process" = /proc/1 ] || return 0
  done
  return 1
}
trap stop TERM INT HUP

mkdir -p /run/sshd /etc/profile.d /etc/ssh/godfather_principals
# Records of connections of an earlier start say nothing.
rm -rf /run/godfather
install -d -m 700 /root/.ssh /run/godfather /run/godfather/connections

# A key is one line; whatever follows it in the variable is not a key.
backend=${GODFATHER_SSH_PUBLIC_KEY:-}
backend=${backend%%$'\n'*}
ca=${GODFATHER_SSH_CA_PUBLIC_KEY:-}
ca=${ca%%$'\n'*}
touch /root/.ssh/authorized_keys
chmod 600 /root/.ssh/authorized_keys
if [ -z "$backend" ]; then
  echo "start: GODFATHER_SSH_PUBLIC_KEY is not set, the server cannot reach this pod" >&2
elif ! grep -qxF -- "$backend" /root/.ssh/authorized_keys; then
  printf '%s\n' "$backend" >>/root/.ssh/authorized_keys
fi

# sshd refuses every key while the list of revoked ones is missing. The CA is not trusted yet: a revoked certificate would
# be, until the list is here. The server delivers the list and then the CA over its own connection, and sshd reads both
# files at each login.
: >/etc/ssh/godfather_revoked
: >/etc/ssh/godfather_user_ca.pub
chmod 644 /etc/ssh/godfather_revoked /etc/ssh/godfather_user_ca.pub
if [ -z "$ca" ]; then
  echo "start: GODFATHER_SSH_CA_PUBLIC_KEY is not set, no certificate opens this pod" >&2
elif [ "${GODFATHER_TRUST_CA_AT_START:-}" = true ]; then
  printf '%s\n' "$ca" >/etc/ssh/godfather_user_ca.pub
fi
if [ -n "${RUNPOD_POD_ID:-}" ]; then
  printf 'gf-%s\n' "$RUNPOD_POD_ID" >/etc/ssh/godfather_principals/root
else
  : >/etc/ssh/godfather_principals/root
fi

# PAM reads /etc/environment without quoting rules, so it gets only what it can carry; login shells get every value. What
# chooses the code that a program loads stays out of it: PAM sets it for programs of root too, which run before the
# account is changed.
: >/etc/environment
: >/etc/profile.d/pod-env.sh
while IFS= read -r -d '' pair; do
  name=${pair%%=*}
  value=${pair#*=}
  case $name in
    GODFATHER_* | RUNPOD_* | PUBLIC_KEY | JUPYTER_PASSWORD) continue ;;
    HOME | PWD | OLDPWD | SHLVL | _ | TERM | HOSTNAME | USER | LOGNAME | SHELL | MAIL | IFS | BASH_ENV | ENV) continue ;;
    UID | EUID | PPID | BASHOPTS | SHELLOPTS | BASH_*) continue ;;
    '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;;
  esac
  printf 'export %s=%q\n' "$name" "$value" >>/etc/profile.d/pod-env.sh
  case $name in
    LD_* | GCONV_PATH | LOCPATH | GLIBC_TUNABLES) continue ;;
  esac
  case $value in
    *$'\n'* | *'#'* | *'\' | ' '* | *' ' | $'\t'* | *$'\t' | \"* | \'*) ;;
    *) if [ "${#value}" -lt 900 ]; then printf '%s=%s\n' "$name" "$value" >>/etc/environment; fi ;;
  esac
done < <(env -0)

# A volume that is full or read-only keeps nobody from mending it: the server and officers still get in. Nothing is done
# through a link, and the login program looks at every folder again.
folder() { # path, mode
  if [ -L "$1" ]; then
    echo "start: $1 is a link" >&2
  elif ! install -d -o root -g root -m "$2" -- "$1"; then
    echo "start: $1 cannot be made" >&2
  fi
}
folder /workspace 755
if [ ! -L /workspace ]; then
  folder /workspace/users 755
  folder /workspace/shared 1777
fi

rm -f /etc/ssh/ssh_host_*
for type in ed25519 ecdsa; do
  ssh-keygen -q -t "$type" -N '' -f "/etc/ssh/ssh_host_${type}_key"
done

cd /
while true; do
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /usr/sbin/sshd -D -e </dev/null &
  wait "$!" || true
  echo "start: sshd has ended, it is started again" >&2
  sleep 2 &
  wait "$!" || true
done
