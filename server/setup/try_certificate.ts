import { AppError } from "../errors.ts";
import { issueCertificate, randomSerial } from "../ssh/certificate.ts";
import type { PodTarget, SshPool } from "../ssh/pool.ts";
import { parsePublicKey } from "../ssh/public_key.ts";
import type { Signer } from "../ssh/signer.ts";
import type { Failure } from "./deliver.ts";
import { WORK } from "./look.ts";
import { PREAMBLE } from "./remote_shell.ts";

const TRY_MS = 12_000;
const VALID_S = 300;

/**
 * Logs in on the pod from the pod itself, with its own `ssh` and a key made there, by a certificate as members have it.
 * It is good for five minutes by the pod's clock and runs nothing but `true`, so whoever reads the key gains nothing. Null
 * when it was let in. `podClock`: ms.
 */
export async function tryCertificate(
  ssh: SshPool,
  target: PodTarget,
  how: { readonly principal: string; readonly ca: Signer; readonly podClock: number },
): Promise<Failure> {
  const made = await exec(
    ssh,
    target,
    `mkdir -p -m 700 ${WORK}
rm -f ${WORK}/key ${WORK}/key.pub ${WORK}/key-cert.pub
ssh-keygen -q -t ed25519 -N '' -C '' -f ${WORK}/key </dev/null >/dev/null 2>&1 || exit 9
cat ${WORK}/key.pub
`,
  );
  let key;
  try {
    key = parsePublicKey(made.trim());
  } catch (error) {
    if (error instanceof AppError) return "no key could be made on it to try a certificate with";
    throw error;
  }
  const now = Math.floor(how.podClock / 1000);
  const certificate = issueCertificate(key, {
    serial: randomSerial(),
    keyId: "orgpods:trial",
    principals: [how.principal],
    validAfter: Math.max(0, now - VALID_S),
    validBefore: now + VALID_S,
    forceCommand: "/bin/true",
    extensions: [],
  }, how.ca);
  const tried = await exec(
    ssh,
    target,
    `set -- $SSH_CONNECTION
cat >${WORK}/key-cert.pub <<'END-OF-FILE'
${certificate.line}
END-OF-FILE
timeout 8 ssh -F none -n -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \\
  -o GlobalKnownHostsFile=/dev/null -o LogLevel=ERROR -i ${WORK}/key -p "$4" "root@$3" true >/dev/null 2>&1
echo "status $?"
rm -f ${WORK}/key ${WORK}/key.pub ${WORK}/key-cert.pub
`,
  );
  return tried.includes("status 0\n") ? null : "a certificate of the organization is not let in with them";
}

async function exec(ssh: SshPool, target: PodTarget, script: string): Promise<string> {
  const result = await ssh.exec(target, "exec /bin/sh -s", {
    stdin: PREAMBLE + script,
    deadlineMs: TRY_MS,
    maxOutputBytes: 16 * 1024,
  });
  return new TextDecoder().decode(result.stdout);
}
