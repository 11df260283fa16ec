/**
 * Writes keys.jsonl, certificates.jsonl, krl.jsonl and private_keys.jsonl anew, from the keys and the CA of the folders
 * beside this one; the same ones each time. Run: deno run -A tests/vectors/openssh/make.ts
 */
import { toBase64 } from "../../../server/ssh/wire.ts";
import { join, strings, u32, u64 } from "../../ssh/fuzz/bytes.ts";
import { certificateJudges, keyJudges } from "../../ssh/fuzz/judge_lines.ts";
import { krlJudges } from "../../ssh/fuzz/judge_krl.ts";
import { privateKeyJudges } from "../../ssh/fuzz/judge_private_keys.ts";
import { certificateLine, type Fields, signed, unsigned } from "../../ssh/fuzz/make_certificates.ts";
import { krlHead, krlSection } from "../../ssh/fuzz/make_krls.ts";
import { goodKeys } from "../../ssh/fuzz/make_keys.ts";
import { privateKeyBytes, privateKeyFile, type PrivateFields } from "../../ssh/fuzz/make_private_keys.ts";
import type { Judges } from "../../ssh/fuzz/verdict.ts";
import { ca, keys } from "../../ssh/krl_support.ts";

const here = import.meta.dirname!;
const [ed, rsa, p256, , p521, skEd] = goodKeys as [K, K, K, K, K, K];
type K = (typeof goodKeys)[number];
const line = (type: string, ...fields: (string | Uint8Array)[]) => `${type} ${toBase64(strings(type, ...fields))}`;
const lineOf = (key: K) => `${key.type} ${toBase64(key.blob)}`;
const bytes = (...values: number[]) => Uint8Array.from(values);
const fill = (length: number, value: number) => new Uint8Array(length).fill(value);
const [exponent, modulus] = rsa.fields as [Uint8Array, Uint8Array];
const rsaSha2 = { key: strings(exponent, modulus) };

const keyLines: [string, string][] = [
  ["a byte order mark in front", `\ufeff${lineOf(ed)}`],
  ["a byte order mark behind", `${lineOf(ed)}\ufeff`],
  ["a no-break space behind", `${lineOf(ed)}\xa0`],
  ["a line separator in front", `\u2028${lineOf(ed)}`],
  ["a vertical tab in front", `\v${lineOf(ed)}`],
  ["a vertical tab behind", `${lineOf(ed)}\v`],
  ["a lone carriage return in front", `\r${lineOf(ed)}`],
  ["a blank line with a carriage return in front", `\r\n${lineOf(ed)}\r\n`],
  ["a tab before the base64, no comment", lineOf(ed).replace(" ", "\t")],
  ["a type with a zero inside", `${ed.type} ${toBase64(strings(`${ed.type}\0`, ...ed.fields))}`],
  ["ssh-rsa outside, the name of a signature inside", `ssh-rsa ${toBase64(strings("rsa-sha2-256", ...rsa.fields))}`],
  ["the name of a signature as type", line("rsa-sha2-512", ...rsa.fields)],
  ["rsa with an exponent of nothing but zeros", line("ssh-rsa", bytes(0, 0), modulus)],
  ["rsa with a third field", line("ssh-rsa", ...rsa.fields, "")],
  ["rsa with the modulus twice", line("ssh-rsa", modulus, modulus)],
  ["rsa whose modulus is one zero", line("ssh-rsa", exponent, bytes(0))],
  ["nistp521 with a point too short by one", line("ecdsa-sha2-nistp521", "nistp521", p521.fields[1]!.subarray(1))],
  ["nistp521 without a point", line("ecdsa-sha2-nistp521", "nistp521")],
  ["nistp256 with the first byte of a compressed point", line("ecdsa-sha2-nistp256", "nistp256", join(bytes(3), p256.fields[1]!.subarray(1)))],
  ["nistp256 with a point of zeros", line("ecdsa-sha2-nistp256", "nistp256", fill(65, 0))],
  ["nistp256 with x and y beyond the field", line("ecdsa-sha2-nistp256", "nistp256", join(bytes(4), fill(64, 255)))],
  ["a security key with the zero that ends a text", line(skEd.type, skEd.fields[0]!, "ssh:\0")],
  ["a security key with a flag behind", line(skEd.type, ...skEd.fields, bytes(1))],
  ["DSA with small numbers", line("ssh-dss", bytes(3), bytes(3), bytes(3), bytes(3))],
  ["a length that is negative as a signed number", `${ed.type} ${toBase64(join(strings(ed.type), u32(2 ** 31), fill(40, 1)))}`],
];

const cert = (change: Partial<Fields>, type?: string) => certificateLine(signed(unsigned(change)), type ?? change.type);
const flag = (name: string, data: Uint8Array) => strings(name, data);
const certificateLines: [string, string][] = [
  ["a flag with a value", cert({ extensions: flag("permit-pty", strings("x")) })],
  ["a flag with a value of nothing", cert({ extensions: flag("permit-pty", strings("")) })],
  ["a critical flag with a value", cert({ critical: flag("verify-required", strings("x")) })],
  ["a critical flag", cert({ critical: flag("verify-required", bytes()) })],
  ["a forced command without data", cert({ critical: flag("force-command", bytes()) })],
  ["a source address without data", cert({ critical: flag("source-address", bytes()) })],
  ["a source address", cert({ critical: flag("source-address", strings("10.0.0.0/8,::1/128")) })],
  ["an unknown critical flag", cert({ critical: flag("x@example.org", bytes()) })],
  ["an unknown critical option", cert({ critical: flag("x@example.org", strings("y")) })],
  ["an unknown critical option of no string", cert({ critical: flag("x@example.org", bytes(1, 2, 3)) })],
  ["an unknown extension of no string", cert({ extensions: flag("x@example.org", strings("a", "b")) })],
  ["an unknown extension of an empty string", cert({ extensions: flag("x@example.org", strings("")) })],
  ["an unknown extension with a newline in its value", cert({ extensions: flag("x@example.org", strings("a\nb")) })],
  ["an extension without a name", cert({ extensions: flag("", bytes()) })],
  ["a critical option with an escape in its name", cert({ critical: flag("\x1b[2J", bytes()) })],
  ["an option of half a name", cert({ extensions: strings("permit-pty").subarray(0, 9) })],
  ["every extension there is", cert({ extensions: strings(...["no-touch-required", "permit-X11-forwarding", "permit-agent-forwarding", "permit-port-forwarding", "permit-pty", "permit-user-rc"].flatMap((name) => [name, ""])) })],
  ["serial 0", cert({ serial: 0n })],
  ["the greatest serial", cert({ serial: 2n ** 64n - 1n })],
  ["for ever", cert({ after: 0n, before: 2n ** 64n - 1n })],
  ["until the end of the calendar", cert({ after: 1n, before: 8_640_000_000_001n })],
  ["256 principals", cert({ principals: strings(...Array.from({ length: 256 }, (_, at) => `p${at}`)) })],
  ["the name of a signature as type", cert({ type: "rsa-sha2-256-cert-v01@openssh.com", ...rsaSha2 })],
  ["a type with a zero inside", certificateLine(signed(unsigned({ type: "ssh-ed25519-cert-v01@openssh.com\0" })))],
  ["an RSA modulus that is even", cert({ type: "ssh-rsa-cert-v01@openssh.com", key: strings(exponent, join(modulus.subarray(0, -1), bytes(2))) })],
  ["a key id of 25,000 characters", cert({ keyId: "k".repeat(25_000) })],
  ["base64 with a blank in it", cert({}).replace(/(.{80})/, "$1\v")],
  ["signed twice", certificateLine(signed(signed(unsigned({}))))],
  ["the certificate of a certificate", cert({ caKey: strings("ssh-ed25519-cert-v01@openssh.com", fill(32, 7)) })],
];

const certificates = (...parts: Uint8Array[]) => krlSection(1, strings(ca.blob, ""), ...parts);
const listOf = (...serials: bigint[]) => krlSection(0x20, ...serials.map(u64));
const bitmap = (start: bigint, ...number: number[]) => krlSection(0x22, u64(start), strings(bytes(...number)));
const krl = (...sections: Uint8Array[]) => join(krlHead(), ...sections);
const repeated = (count: number, piece: Uint8Array) => join(...Array.from({ length: count }, () => piece));
const krls: [string, Uint8Array][] = [
  ["one CA in two sections", krl(certificates(listOf(5n)), certificates(listOf(77n)))],
  ["one section twice", krl(certificates(listOf(5n)), certificates(listOf(5n)))],
  ["every kind of section, twice", krl(...[0, 1].flatMap(() => [krlSection(2, strings(keys[1]!.blob)), krlSection(3, strings(fill(20, 1))), krlSection(5, strings(fill(32, 2))), certificates(listOf(1n))]))],
  ["a CA without certificates", krl(certificates())],
  ["ranges that overlap and touch", krl(certificates(krlSection(0x21, u64(1n), u64(9n)), krlSection(0x21, u64(5n), u64(20n)), listOf(21n, 21n, 22n)))],
  ["a bitmap of no bits", krl(certificates(bitmap(5n)))],
  ["a bitmap over a list and a range", krl(certificates(listOf(6n), bitmap(5n, 0x03), krlSection(0x21, u64(6n), u64(8n))))],
  ["a bitmap up to the greatest serial", krl(certificates(bitmap(2n ** 64n - 7n, 0x55)))],
  ["a bitmap that begins at 0 with its bit unset", krl(certificates(bitmap(0n, 0x02)))],
  ["an empty list of serials", krl(certificates(listOf()))],
  ["an empty list of key ids, and an empty key id", krl(certificates(krlSection(0x23), krlSection(0x23, strings(""))))],
  ["a key id twice", krl(certificates(krlSection(0x23, strings("b", "a", "b"))))],
  ["a key that is none", krl(krlSection(2, strings("no key"), strings("")))],
  ["keys, a security key among them", krl(krlSection(2, strings(...keys.slice(0, 7).map((key) => key.blob))))],
  ["a DSA key", krl(krlSection(2, strings(strings("ssh-dss", bytes(3), bytes(3), bytes(3), bytes(3)))))],
  ["a key cut off", krl(krlSection(2, strings(keys[0]!.blob).subarray(0, -1)))],
  ["no fingerprints", krl(krlSection(5), krlSection(3))],
  ["half a fingerprint behind a whole one", krl(krlSection(5, strings(fill(32, 1)), u32(32), fill(16, 1)))],
  ["an unknown section between good ones", krl(certificates(listOf(5n)), krlSection(6, strings("x")), certificates(listOf(6n)))],
  ["the section of an extension inside certificates", krl(certificates(krlSection(0x39, strings("x"), bytes(0), strings(""))))],
  ["a section longer than the file", join(krl(), bytes(1), u32(2 ** 31))],
  ["a section shorter than its parts", join(krl(), bytes(1), u32(10), strings(ca.blob, ""), listOf(5n))],
  ["a CA that is no point", krl(krlSection(1, strings(strings("ssh-ed25519", fill(32, 2)), ""), listOf(5n)))],
  ["a CA of small order", krl(krlSection(1, strings(strings("ssh-ed25519", fill(32, 0)), ""), listOf(5n)))],
  ["the greatest version", join(krlHead({ version: 2n ** 64n - 1n }))],
  ["300 bitmaps of one bit", krl(certificates(repeated(300, bitmap(9n, 1))))],
  ["a million and one keys of no bytes", krl(krlSection(2, new Uint8Array(4 * 1_000_001)))],
  ["2,000 empty sections", krl(repeated(2_000, krlSection(5)))],
];

const seed = fill(32, 9);
const file = (change: Partial<PrivateFields> = {}) => privateKeyFile(privateKeyBytes(seed, change));
const privateKeys: [string, string][] = [
  ["as ssh-keygen writes it", file()],
  ["a derivation's options without a derivation", file({ derivationOptions: "x" })],
  ["a cipher with a zero behind", file({ cipher: "none\0" })],
  ["a derivation with a zero behind", file({ derivation: "none\0" })],
  ["a comment with a newline", file({ comment: "a\nb" })],
  ["padding of more than one block", file({ padding: Uint8Array.from({ length: 10 + 1 }, (_, at) => at + 1), comment: "ann@laptop" })],
  ["padding that is wrong", file({ padding: bytes(1, 2, 4) })],
  ["another key outside", file({ outer: ed.blob })],
  ["the key of another seed behind the seed", file({ secret: join(fill(32, 8), ed.fields[0]!) })],
  ["two keys", file({ count: 2 })],
  ["an RSA type inside", file({ type: "ssh-rsa" })],
  ["bytes behind", file({ after: bytes(0) })],
  ["different check numbers", file({ checks: [1, 2] })],
  ["cut off", privateKeyFile(privateKeyBytes(seed).subarray(0, -9))],
  ["without a last line", file().replace(/-----END.*\n/, "")],
];

/** Zeros at the end of a list, which the row counts instead of spelling them out. */
function zerosOf(input: string | Uint8Array): number {
  if (typeof input === "string") return 0;
  const zeros = input.length - 1 - input.findLastIndex((byte) => byte !== 0);
  return zeros > 1_000 ? zeros : 0;
}

async function write<Input extends string | Uint8Array>(
  { kind, ours, theirs }: Judges<Input>,
  vectors: readonly [name: string, input: Input][],
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const verdicts = theirs(dir, vectors.map(([, input]) => input));
  await Deno.remove(dir, { recursive: true });
  const lines = vectors.map(([name, input], at) => {
    const verdict = ours(input);
    const zeros = zerosOf(input);
    const text = typeof input === "string" ? input : toBase64(input.subarray(0, input.length - zeros));
    const more = zeros === 0 ? {} : { zeros };
    const reason = verdict.accepts ? null : verdict.reason;
    return JSON.stringify({ name, input: text, ...more, reason, ssh_keygen: verdicts[at]!.accepts ? "accepts" : "refuses" });
  });
  await Deno.writeTextFile(`${here}/${kind}.jsonl`, lines.map((row) => `${row}\n`).join(""));
}

await write(keyJudges, keyLines);
await write(certificateJudges, certificateLines);
await write(krlJudges, krls);
await write(privateKeyJudges, privateKeys);
