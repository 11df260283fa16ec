/** Commands on a pod as somebody else than root, so that the pod's kernel decides what they may touch. */

/** A user of the pod by number: accounts are made anew at each start, the owners of files stay. */
export interface PodUser {
  readonly uid: number;
  readonly gid: number;
}

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const NOBODY = 65534;
/** As /proc/<pid>/status has it. */
const NO_CAPABILITY = "0".repeat(16);

/** Nobody's own: may touch only what everybody may. */
export const NOBODY_USER: PodUser = { uid: NOBODY, gid: NOBODY };

/** The user who owns something. Root's group is nothing a member's file may lend. */
export function ownerOf(uid: number, gid: number): PodUser {
  return { uid, gid: gid === 0 ? NOBODY : gid };
}

/**
 * A script for root's login shell that ends in `command` (fixed text) as `user`, root with null: in `/`, with a clean
 * environment (root's own may hold secrets, and a member can read that of a process with their uid), and after a line with
 * `marker` on stdout and stderr, because login scripts write there too.
 */
export function scriptAs(user: PodUser | null, command: string, marker: string): string {
  return `PATH=${PATH}; export PATH
cd / || exit 1
${user === null ? "as=" : switchTo(user, `--no-new-privs --reuid=${user.uid}`)}
printf '%s\\n' ${marker}
printf '%s\\n' ${marker} >&2
exec env -i PATH="$PATH" LC_ALL=C $as ${command}`;
}

/** Where distributions put OpenSSH's SFTP server; folders only root can write. */
const SERVERS = [
  "/usr/lib/openssh/sftp-server",
  "/usr/libexec/openssh/sftp-server",
  "/usr/lib/ssh/sftp-server",
  "/usr/libexec/sftp-server",
];

/**
 * A script that becomes an SFTP server for `user`. Its real uid is nobody's, because sftp-server ends when that has no
 * account, and accounts of members are gone after each start of a pod; the kernel looks at the effective uid. Root's must
 * not be left in any place: kernels differ in which uid and which capabilities come through an exec when the two uids are
 * not the same (with no_new_privs older ones make the real uid the effective one). So a program that is started in the
 * same way tells first what it has become, and nothing is served as anybody else. Before the line `marker` stands one with
 * the marker and the server's process id.
 */
export function sftpServerAs(user: PodUser, marker: string): string {
  const { uid, gid } = user;
  return `PATH=${PATH}; export PATH
cd / || exit 1
real=${NOBODY}
${switchTo(user, `--ruid=${NOBODY} --euid=${uid}`, `real=${uid}`)}
status=$(env -i PATH="$PATH" LC_ALL=C $as cat /proc/self/status) || exit 126
case "$status" in
*"
Uid:\t$real\t${uid}\t${uid}\t${uid}
Gid:\t${gid}\t${gid}\t${gid}\t${gid}
"*"
CapPrm:\t${NO_CAPABILITY}
CapEff:\t${NO_CAPABILITY}
"*) ;;
*) exit 126 ;;
esac
printf '%s %s\\n' ${marker} "$$"
printf '%s\\n' ${marker}
for server in ${SERVERS.join(" ")}; do
  if [ -x "$server" ]; then exec env -i PATH="$PATH" LC_ALL=C $as "$server"; fi
done
exit 127`;
}

/**
 * Sets $as to what runs a command as the user: setpriv, or chroot (which is everywhere) where that is missing; then
 * `otherwise` is run too.
 */
function switchTo(user: PodUser, uidOptions: string, otherwise = ":"): string {
  const { uid, gid } = user;
  if (![uid, gid].every((id) => Number.isSafeInteger(id) && id > 0 && id < 2 ** 32)) {
    throw new RangeError("A user of a pod is named by two positive numbers");
  }
  return `if command -v setpriv >/dev/null; then
  as='setpriv ${uidOptions} --regid=${gid} --clear-groups --'
else
  as='chroot --userspec=+${uid}:+${gid} --groups= /'
  ${otherwise}
fi`;
}
