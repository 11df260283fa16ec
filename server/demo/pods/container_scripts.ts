/**
 * The three shell scripts that make a container out of this machine. They run with a clean environment and get every
 * value as an argument or from a file; nothing is ever spliced into them.
 */

/**
 * Process 1 of the outer pid namespace, outside of the pod's view. It ends, and the kernel ends the whole container
 * with it, as soon as the container is over or its own standard input closes. The input is a pipe from the program, so
 * a killed program takes its pods along.
 *
 * Arguments: the file of BUILD_ROOT and then its arguments.
 */
export const SUPERVISE = `
set -eu
exec 3<&0 </dev/null
unshare --mount --pid --ipc --uts --fork bash "$@" 3<&- &
cat <&3 >/dev/null &
wait -n || true
`;

/**
 * Process 1 of the inner namespaces: builds the pod's root file system, moves into it, lets go of the machine's own and
 * becomes DROP_PRIVILEGES in a user namespace of its own (root of the pod owns nothing of the kernel then: no mounts,
 * devices, settings, key rings). `/usr` is the machine's with the image's files in it, read-only but for
 * `/usr/lib/godfather` and without `/usr/local`; everything else is new.
 *
 * Arguments: the folder of the image's files, the file with the environment (NAME=value, each ended by NUL), the
 * volume, an empty folder to build in, the host name, the file of DROP_PRIVILEGES.
 */
export const BUILD_ROOT = `
set -euo pipefail
umask 022
image=$1 environment=$2 volume=$3 root=$4 name=$5 drop=$(<"$6")
mapfile -d '' -t pairs <"$environment"

readonly_bind() {
  mount --bind "$1" "$2"
  mount -o remount,bind,ro,nosuid,nodev "$2"
}

mount -t tmpfs -o mode=755,nosuid,nodev,size=512m pod-root "$root"
cd "$root"
mkdir usr etc root home workspace var run tmp dev proc old srv opt mnt media
mkdir -p var/log var/tmp var/lib var/mail var/spool var/cache
ln -s /run var/run
ln -s /run/lock var/lock
chmod 700 root
chmod 1777 var/tmp
touch var/log/lastlog var/log/wtmp
for folder in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$folder" ]; then
    ln -s "$(readlink "/$folder")" "$folder"
  elif [ -d "/$folder" ]; then
    mkdir "$folder"
    readonly_bind "/$folder" "$folder"
  fi
done
mkdir -p "$image/usr/lib/godfather"
# The folders of the image were made under whatever umask the program runs with.
find "$image" -type d -exec chmod 755 {} +
# The image's own files lie over the machine's; the folder is entered because its name could hold a colon.
(cd "$image" && mount -t overlay -o ro,nosuid,nodev,lowerdir=usr:/usr pod-usr "$root/usr")
# As on a real disk, what the server brings can be written here.
mount -t tmpfs -o mode=755,nosuid,nodev,size=1m pod-programs usr/lib/godfather
cp -R --preserve=mode "$image/usr/lib/godfather/." usr/lib/godfather
mount -t tmpfs -o mode=755,nosuid,nodev,size=256m pod-local usr/local
mkdir -p usr/local/bin usr/local/sbin usr/local/lib usr/local/share usr/local/etc usr/local/include
mount -t tmpfs -o mode=755,nosuid,nodev,size=64m pod-run run
mkdir -m 1777 run/lock
touch run/utmp
mount -t tmpfs -o mode=1777,nosuid,nodev,size=1g pod-tmp tmp

for file in ld.so.cache ld.so.conf services protocols mime.types resolv.conf; do
  if [ -f "/etc/$file" ]; then cp "/etc/$file" "etc/$file"; fi
done
for folder in alternatives terminfo ld.so.conf.d ssl/certs; do
  if [ -d "/etc/$folder" ]; then
    mkdir -p "etc/$folder"
    readonly_bind "/etc/$folder" "etc/$folder"
  fi
done
if [ -e /usr/share/zoneinfo/Etc/UTC ]; then ln -s /usr/share/zoneinfo/Etc/UTC etc/localtime; fi
ln -s ../usr/lib/os-release etc/os-release
ln -s ../proc/self/mounts etc/mtab
cp -R --preserve=mode "$image/etc/." etc
cp -R --preserve=mode "$image/usr/local/." usr/local
cp --preserve=mode "$image/start.sh" start.sh

mount --bind "$volume" workspace
mount -o remount,bind,nosuid,nodev workspace

mount -t tmpfs -o mode=755,nosuid,noexec,size=1m pod-dev dev
mknod -m 666 dev/null c 1 3
mknod -m 666 dev/zero c 1 5
mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8
mknod -m 666 dev/urandom c 1 9
mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,nosuid,noexec,gid=5,mode=620,ptmxmode=666 pod-pts dev/pts
mount -t tmpfs -o mode=1777,nosuid,nodev,size=256m pod-shm dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr

mount -t proc -o nosuid,nodev,noexec proc proc
for entry in sys sysrq-trigger irq bus fs; do
  if [ -e "proc/$entry" ]; then
    mount --bind "proc/$entry" "proc/$entry"
    mount -o remount,bind,ro,nosuid,nodev,noexec "proc/$entry"
  fi
done
for entry in cmdline config.gz kallsyms kcore key-users keys kmsg kpagecgroup kpagecount kpageflags modules \\
  sched_debug slabinfo timer_list vmallocinfo; do
  if [ -e "proc/$entry" ]; then mount --bind dev/null "proc/$entry"; fi
done
for entry in acpi asound driver scsi; do
  if [ -d "proc/$entry" ]; then mount -t tmpfs -o ro,mode=555,size=4k pod-mask "proc/$entry"; fi
done

hostname "$name"
pivot_root . old
cd /
umount -l /old
rmdir /old

# A process cannot map all ids into its own new user namespace; one that stayed outside does it.
mkfifo -m 600 /run/asked /run/mapped
{
  read -r _ </run/asked
  echo '0 0 4294967295' >/proc/1/uid_map
  echo '0 0 4294967295' >/proc/1/gid_map
  echo done >/run/mapped
} &
exec 4<>/run/asked 5<>/run/mapped
exec unshare --user bash -c "$drop" drop-privileges "\${pairs[@]}"
`;

/**
 * Last step before the image's start script: gives up every capability an ordinary container does not have, plus
 * making devices and raw packets.
 *
 * Arguments: the environment of the start script, as NAME=value.
 */
export const DROP_PRIVILEGES = `
set -eu
echo ask >&4
read -r _ <&5
exec 4>&- 5>&-
rm -f /run/asked /run/mapped
capabilities=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+sys_chroot
exec setpriv --inh-caps=-all --bounding-set="$capabilities,+audit_write,+setfcap" -- env -i "$@" /start.sh
`;
