/** `/usr/local/bin/godfather-login` of the two kinds of image: every member and officer session goes through it. */

/**
 * The login program of our own image. Components of the path are looked at without following links; an account gets
 * the uid its folder already has, so that files on the volume keep their owner; commands run with their own exit status
 * and nothing else on standard output, which is what scp, sftp and rsync need.
 */
export const ORGPODS_LOGIN = `#!/bin/bash
set -euo pipefail
umask 022
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
role=member
if [ "\${1:-}" = --admin ]; then
  role=officer
  shift
fi
name=\${1:-}
LC_ALL=C
if ! [[ $name =~ ^[a-z0-9_][a-z0-9._-]{0,21}$ ]]; then
  echo "godfather-login: invalid username" >&2
  exit 1
fi
unset LC_ALL

refuse() {
  echo "godfather-login: $1; ask an officer" >&2
  exit 1
}
# Makes a folder, or accepts one that is really a folder: a link would lead root somewhere else.
folder() {
  if [ -L "$1" ]; then refuse "$1 is a link"; fi
  if [ ! -e "$1" ]; then mkdir -m "$2" -- "$1"; fi
  if [ ! -d "$1" ]; then refuse "$1 is not a folder"; fi
}

account=godfather_$name
home=/workspace/users/$name
(umask 077 && : >>/run/godfather-login.lock)
exec 9</run/godfather-login.lock
flock 9
folder /workspace 755
chown -h root:root /workspace
chmod 755 /workspace
folder /workspace/users 755
chown -h root:root /workspace/users
chmod 755 /workspace/users
folder /workspace/shared 1777
chmod 1777 /workspace/shared
folder "$home" 700

if [ "$role" = officer ]; then
  exec 9<&-
  cd -- "$home"
  export GODFATHER_USER=$name
  exec bash --rcfile /etc/godfather/admin.bashrc -i
fi

if ! id "$account" >/dev/null 2>&1; then
  uid=$(stat -c %u -- "$home")
  if [ "$uid" -lt 1000 ] || [ "$uid" -gt 60000 ] || getent passwd "$uid" >/dev/null; then
    uid=$({
      echo 19999
      find /workspace/users -mindepth 1 -maxdepth 1 -printf '%U\\n'
      getent passwd | cut -d: -f3
    } | awk '$1 < 60000 && $1 > highest { highest = $1 } END { print highest + 1 }')
  fi
  useradd --no-log-init --no-create-home --home-dir "$home" --shell /bin/bash --uid "$uid" --user-group "$account"
fi
chown -h "$account:$account" "$home"
chmod 700 "$home"
exec 9<&-
unset GODFATHER_SSH_PUBLIC_KEY GODFATHER_SSH_CA_PUBLIC_KEY

go="cd -- $(printf %q "$home")"
if [ -n "\${SSH_ORIGINAL_COMMAND:-}" ]; then
  exec su - "$account" --session-command "$go && exec bash -c $(printf %q "$SSH_ORIGINAL_COMMAND")"
fi
if [ -t 0 ]; then echo "Your folder: $home   Shared: /workspace/shared"; fi
exec su - "$account" --session-command "$go && exec bash --rcfile /etc/godfather/user.bashrc -i"
`;

/**
 * A login program with the steps of the original image: it greets on standard output, ignores the command the client
 * sent, gives out uids in the order of first logins and keeps homes on the container disk.
 */
export const ORIGINAL_LOGIN = `#!/bin/bash
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
