/**
 * The image the contract was written for, as far as a pod shows it, with its faults: what differs from our own image, whose
 * files are in `pod-image/`.
 */
import type { ImageFile } from "./etc_files.ts";

const DIRECTIVES = `PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
TrustedUserCAKeys /etc/ssh/godfather_user_ca.pub
AuthorizedPrincipalsFile /etc/ssh/godfather_principals/%u
`;

const ALIASES = `alias ll='ls -alF --color=auto'
alias shared='cd /workspace/shared'
`;

/** The login program has set GODFATHER_USER. */
const ADMIN_BASHRC = `[ -f /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -f /root/.bashrc ] && . /root/.bashrc
[ -f /etc/profile.d/pod-env.sh ] && . /etc/profile.d/pod-env.sh
PS1='\\[\\e[1;31m\\]\${GODFATHER_USER}@\\h\\[\\e[0m\\]:\\[\\e[1;34m\\]\\w\\[\\e[0m\\]# '
${ALIASES}alias workspace='cd "/workspace/users/$GODFATHER_USER"'
`;

const USER_BASHRC = `[ -f /etc/bash.bashrc ] && . /etc/bash.bashrc
if [ -d /usr/local/cuda/bin ]; then PATH=/usr/local/cuda/bin:$PATH; fi
export PATH
export GODFATHER_USER=\${USER#godfather_}
PS1='\\[\\e[1;32m\\]\${GODFATHER_USER}@\\h\\[\\e[0m\\]:\\[\\e[1;34m\\]\\w\\[\\e[0m\\]$ '
${ALIASES}alias workspace='cd "/workspace/users/$GODFATHER_USER"'
`;

/**
 * It greets on standard output, ignores the command the client
 * sent, gives out uids in the order of first logins and keeps homes on the container disk.
 */
const LOGIN = `#!/bin/bash
set -e
admin=
if [ "$1" = --admin ]; then
  admin=1
  shift
fi
name=$1
if ! [[ $name =~ ^[a-z0-9_][a-z0-9._-]{0,21}$ ]]; then
  echo "godfather-login: invalid username" >&2
  exit 1
fi
mkdir -p /workspace/users /workspace/shared
chmod 755 /workspace/users
chmod 1777 /workspace/shared
home=/workspace/users/$name
mkdir -p "$home"

banner() {
  echo
  echo "  Welcome to the pod, $name."
  echo "  Your folder:   $home"
  echo "  Shared folder: /workspace/shared"
  echo
}

if [ -n "$admin" ]; then
  banner
  cd "$home"
  export GODFATHER_USER=$name
  exec bash --rcfile /etc/godfather/admin.bashrc -i
fi

account=godfather_$name
if ! id "$account" >/dev/null 2>&1; then
  useradd -m -s /bin/bash "$account"
  passwd -l "$account" >/dev/null
fi
chown "$account:$account" "$home"
chmod 700 "$home"
banner
exec su - "$account" -c "cd '$home' && exec bash --rcfile /etc/godfather/user.bashrc -i"
`;

/** Keys, principals, all host keys, folders, and nothing more. */
const START = `#!/bin/bash
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

/** The files of the original image. */
export const ORIGINAL_IMAGE: readonly ImageFile[] = [
  { path: "etc/godfather/admin.bashrc", text: ADMIN_BASHRC, mode: 0o644 },
  { path: "etc/godfather/user.bashrc", text: USER_BASHRC, mode: 0o644 },
  { path: "etc/ssh/sshd_config.d/godfather.conf", text: DIRECTIVES, mode: 0o644 },
  { path: "usr/local/bin/godfather-login", text: LOGIN, mode: 0o755 },
  { path: "start.sh", text: START, mode: 0o755 },
];
