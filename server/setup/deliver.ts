import type { PodTarget, SshPool } from "../ssh/pool.ts";
import { failureIn, PREAMBLE, PUT, putCall, type RemoteFile } from "./remote_shell.ts";
import type { Trust } from "./trust.ts";

const DELIVER_MS = 10_000;
const MOST_OUTPUT = 64 * 1024;
const AUTHORIZED_KEYS = "/root/.ssh/authorized_keys";

/** Why something could not be delivered, as the end of the sentence "… because"; null when it is on the pod. */
export type Failure = string | null;

/**
 * Puts files on a pod in their order, each by a rename, and stops at the first that cannot be written. What is there
 * already is left alone. Rejects with the pool's errors where it is not known what happened.
 */
export async function deliverFiles(
  ssh: SshPool,
  target: PodTarget,
  files: readonly RemoteFile[],
  after = "",
  deadlineMs = DELIVER_MS,
): Promise<Failure> {
  const stdin = `${PREAMBLE}${PUT}${files.map(putCall).join("")}${after}echo end\n`;
  const result = await ssh.exec(target, "exec /bin/sh -s", { stdin, deadlineMs, maxOutputBytes: MOST_OUTPUT });
  const output = new TextDecoder().decode(result.stdout);
  const failure = failureIn(output);
  if (failure !== null) return failure;
  return result.exitCode === 0 && output.trimEnd().endsWith("end")
    ? null
    : "the commands for it did not run to their end";
}

/** Delivers the revocation list, then the CA keys, then the server's own keys. sshd reads each file at the next login. */
export function deliverTrust(ssh: SshPool, target: PodTarget, trust: Trust, deadlineMs = DELIVER_MS): Promise<Failure> {
  return deliverFiles(ssh, target, trust.files, authorizedKeys(trust), deadlineMs);
}

/**
 * Adds and removes lines of root's `authorized_keys`; other lines stay. Public keys hold nothing that a shell would read
 * as more than text within single quotes.
 */
function authorizedKeys({ backendLines, goneLines }: Trust): string {
  const keyOf = (line: string) => {
    const key = line.split(" ").slice(0, 2).join(" ");
    if (!/^[a-z0-9@.-]+ [A-Za-z0-9+/=]+$/.test(key)) throw new TypeError("A public key line has an unexpected form");
    return key;
  };
  const add = backendLines.map(keyOf);
  const gone = goneLines.map(keyOf).filter((key) => !add.includes(key));
  return `mkdir -p -m 700 /root/.ssh
# A link there is an officer's doing, and stays.
keys=$(readlink -f ${AUTHORIZED_KEYS}) || keys=${AUTHORIZED_KEYS}
if [ -e "$keys" ] && ! cat "$keys" >/dev/null 2>&1; then put_failed "${AUTHORIZED_KEYS}" "it cannot be read"; fi
why=$( { { cat "$keys" 2>/dev/null; echo; } |
  awk -v gone='${gone.join("|")}' -v add='${add.join("|")}' '
BEGIN { count = split(gone, keys, "|"); for (i = 1; i <= count; i++) bad[keys[i]] = 1; wanted = split(add, list, "|") }
/^[ \\t]*$/ { next }
{
  for (i = 1; i < NF; i++) {
    if (($i " " $(i + 1)) in bad) next
    seen[$i " " $(i + 1)] = 1
  }
  print
}
END { for (i = 1; i <= wanted; i++) if (!(list[i] in seen)) print list[i] }
' >"$keys.orgpods"; } 2>&1 ) || put_failed ${AUTHORIZED_KEYS} "$why"
for line in ${add.map((key) => `'${key}'`).join(" ")}; do
  grep -qF -- "$line" "$keys.orgpods" || put_failed ${AUTHORIZED_KEYS} "it was not written whole"
done
if [ "$(sha256sum <"$keys.orgpods")" = "$(sha256sum <"$keys" 2>/dev/null)" ]; then rm -f "$keys.orgpods"
else why=$( { chmod 600 "$keys.orgpods" && mv -fT "$keys.orgpods" "$keys"; } 2>&1 ) || put_failed ${AUTHORIZED_KEYS} "$why"
fi
`;
}
