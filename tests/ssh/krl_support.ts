/** What the tests of key revocation lists share: the CA of the vectors, certificates by serial, ssh-keygen's verdicts. */
import { issueCertificate } from "../../server/ssh/certificate.ts";
import { type KrlSpec, type SerialRange, writeKrl } from "../../server/ssh/krl.ts";
import { parsePrivateKey } from "../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { type Signer, signerOf } from "../../server/ssh/signer.ts";
import { keygen, rows } from "./keygen.ts";

const vector = (name: string) => Deno.readTextFileSync(new URL(`../vectors/certificates/${name}`, import.meta.url));
export const caSigner = signerOf(parsePrivateKey(vector("ca")));
export const ca = parsePublicKey(vector("ca.pub"));
export const keys = rows<{ text: string }>("keys/accepted.jsonl").map((row) => parsePublicKey(row.text));

/** A spec that says nothing but what is given. */
export const krlSpec = (spec: Partial<KrlSpec>): KrlSpec => ({
  ...{ version: 1n, generatedAt: 1_800_000_000, comment: "", revoked: [] },
  ...spec,
});

/** A list of serials of the vectors' CA. */
export const krlOf = (...serials: (bigint | SerialRange)[]): Uint8Array =>
  writeKrl(krlSpec({ revoked: [{ ca, serials }] }));

/** A certificate of the first vector key, as a line. */
export function certificateOf(serial: bigint, signer: Signer = caSigner, keyId = "discord:1:ann"): string {
  const times = { validAfter: 1_700_000_000, validBefore: 1_900_000_000 };
  const rest = { keyId, principals: ["gf-abc123"], extensions: [] };
  return issueCertificate(keys[0]!, { serial, ...times, ...rest }, signer).line;
}

/** The verdict of `ssh-keygen -Q` on each text, in their order; throws when it cannot read the list. */
export function revokedBySshKeygen(dir: string, krl: Uint8Array, texts: readonly string[]): boolean[] {
  Deno.writeFileSync(`${dir}/krl`, krl);
  const files = texts.map((text, index) => {
    Deno.writeTextFileSync(`${dir}/${index}.pub`, `${text}\n`);
    return `${dir}/${index}.pub`;
  });
  const { ok, stdout, stderr } = keygen("-Q", "-f", `${dir}/krl`, ...files);
  const verdicts = stdout.trim().split("\n").map((line) => /: (ok|REVOKED)$/.exec(line)?.[1]);
  if (verdicts.length !== texts.length || verdicts.includes(undefined)) throw new Error(`ssh-keygen -Q: ${stderr}`);
  const revoked = verdicts.map((verdict) => verdict === "REVOKED");
  if (ok === revoked.includes(true)) throw new Error("ssh-keygen -Q exits otherwise than it says");
  return revoked;
}

/** The lines of `ssh-keygen -Q -l` below its header. */
export function listed(dir: string, krl: Uint8Array): string[] {
  Deno.writeFileSync(`${dir}/krl`, krl);
  const { ok, stdout, stderr } = keygen("-Q", "-l", "-f", `${dir}/krl`);
  if (!ok) throw new Error(`ssh-keygen -Q -l: ${stderr}`);
  return stdout.split("\n").filter((line) => line !== "" && !line.startsWith("# "));
}
