/** Key revocation lists, judged by `ssh-keygen -Q -l`: what is listed, and which of some keys and certificates it revokes. */
import { Buffer } from "node:buffer";
import { parseCertificate } from "../../../server/ssh/certificate.ts";
import { type Krl, parseKrl, revokesCertificate, revokesKey } from "../../../server/ssh/krl.ts";
import { fingerprint, parsePublicKey } from "../../../server/ssh/public_key.ts";
import { toBase64 } from "../../../server/ssh/wire.ts";
import { keygen } from "../keygen.ts";
import { certificateOf, keys } from "../krl_support.ts";
import { accepted, type Judges, refused, type Verdict, verdictOf } from "./verdict.ts";

/** Serials of the certificates that each list is asked about. */
export const ASKED_SERIALS = [1n, 5n, 6n, 77n, 2n ** 32n, 2n ** 63n - 1n];

const asked = [
  ...ASKED_SERIALS.map((serial) => certificateOf(serial)),
  ...keys.slice(0, 7).map((key) => `${key.type} ${toBase64(key.blob)}`),
];

export const krlJudges: Judges<Uint8Array> = {
  kind: "krl",
  ours: (bytes) => verdictOf("A valid key revocation list is required", () => meaning(parseKrl(bytes))),
  theirs: (dir, lists) => {
    const files = asked.map((text, at) => {
      Deno.writeTextFileSync(`${dir}/asked${at}.pub`, `${text}\n`);
      return `${dir}/asked${at}.pub`;
    });
    return lists.map((bytes) => judged(dir, bytes, files));
  },
};

function judged(dir: string, bytes: Uint8Array, files: readonly string[]): Verdict {
  Deno.writeFileSync(`${dir}/krl`, bytes);
  const { stdout, stderr } = keygen("-Q", "-l", "-f", `${dir}/krl`, ...files);
  const lines = stdout.split("\n");
  const verdicts = lines.flatMap((line) => /^.*\/asked\d+\.pub \(.*\): (ok|REVOKED)$/.exec(line)?.[1] ?? []);
  if (verdicts.length !== files.length) return refused(stderr.trim());
  const comment = lines.find((line) => line.startsWith("# Comment: "))?.slice("# Comment: ".length) ?? "";
  const said = [`version ${/^# KRL version (\d+)$/m.exec(stdout)?.[1]}`, `comment ${comment}`];
  let ca = "";
  for (const line of lines) {
    ca = /^# CA key \S+ (\S+)$/.exec(line)?.[1] ?? ca;
    const digest = /^(?:# )?hash:? (SHA1|SHA256):([0-9a-f]{40,64})$/.exec(line);
    if (digest !== null) said.push(`${digest[1]} ${digest[2]}`);
    if (/^(?:serial|id): /.test(line)) said.push(`${ca} ${line}`);
  }
  return accepted(inOrder(said, verdicts));
}

function meaning(krl: Krl): string {
  const said = [`version ${krl.version}`, `comment ${krl.comment}`];
  for (const digest of krl.sha1) said.push(`SHA1 ${Buffer.from(digest).toString("hex")}`);
  for (const digest of krl.sha256) said.push(`SHA256 ${Buffer.from(digest).toString("hex")}`);
  for (const { ca, serials, keyIds } of krl.certificates) {
    const print = fingerprint(ca);
    for (const { from, to } of serials) said.push(`${print} serial: ${from === to ? from : `${from}-${to}`}`);
    for (const id of keyIds) said.push(`${print} id: ${id}`);
  }
  const verdicts = asked.map((text) =>
    text.includes("-cert-v01@")
      ? revokesCertificate(krl, parseCertificate(text))
      : revokesKey(krl, parsePublicKey(text).blob)
  );
  return inOrder(said, verdicts.map((revoked) => revoked ? "REVOKED" : "ok"));
}

/** OpenSSH keeps each thing once and in an order of its own. */
const inOrder = (said: readonly string[], verdicts: readonly string[]): string =>
  [...[...new Set(said)].sort(), verdicts.join(" ")].join("\n");
