/** Public keys: good ones of every type, and texts and blobs with faults. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { fromBase64, toBase64 } from "../../../server/ssh/wire.ts";
import { rows } from "../keygen.ts";
import { bytesOf, join, type Part, pick, type Random, randomBytes, randomText, strings } from "./bytes.ts";
import { broken } from "./mutate.ts";

/** What stands in the blob of each vector: the type, then its fields. */
export const goodKeys: readonly { type: string; blob: Uint8Array; fields: Uint8Array[] }[] = rows<{ text: string }>(
  "keys/accepted.jsonl",
).map(({ text }) => {
  const blob = fromBase64(text.trim().split(" ")[1]!);
  const [type = new Uint8Array(), ...fields] = stringsIn(blob);
  return { type: new TextDecoder().decode(type), blob, fields };
});
const blobs = goodKeys.map(({ blob }) => blob);

export function stringsIn(bytes: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + view.getUint32(at);
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

/** Fields that stand in no good key, or at another place. */
function oddField(random: Random): Part {
  return pick(random, [
    () => "",
    () => Uint8Array.of(0),
    () => Uint8Array.of(0x80),
    () => randomBytes(random, pick(random, [1, 20, 31, 32, 33, 64, 65, 97, 133, 257])),
    () => join(Uint8Array.of(4), randomBytes(random, pick(random, [64, 96, 132]))),
    () => join(Uint8Array.of(pick(random, [2, 3, 5, 6, 7])), randomBytes(random, 32)),
    () => new Uint8Array(32).fill(pick(random, [0, 255])),
    () => join(Uint8Array.of(0x80), new Uint8Array(254), Uint8Array.of(random(256))),
    () => join(Uint8Array.of(0x00, 0xff), randomBytes(random, 255)),
    () => pick(random, ["nistp256", "nistp384", "nistp521", "nistp256\0", "ssh:", "ssh:a", "ssh", "ssh-ed25519"]),
    () => randomText(random),
    () => pick(random, pick(random, goodKeys).fields),
  ])();
}

const TYPES = [
  "ssh-dss",
  "ssh-ed448",
  "ssh-rsa-cert-v01@openssh.com",
  "ssh-ed25519-cert-v01@openssh.com",
  "rsa-sha2-256",
];

/** The blob of a key with another field, one more, one less, or another type. */
export function oddKeyBlob(random: Random): Uint8Array {
  const { type, fields } = pick(random, goodKeys);
  const parts: Part[] = [...fields];
  const at = random(parts.length);
  const choice = random(6);
  if (choice < 3) parts[at] = oddField(random);
  if (choice === 3) parts.splice(at, 1);
  if (choice === 4) parts.splice(random(parts.length + 1), 0, oddField(random));
  return strings(choice === 5 ? pick(random, [...TYPES, ...goodKeys.map((key) => key.type)]) : type, ...parts);
}

/** The type at the beginning of a blob, when a line can show it. */
export function typeIn(blob: Uint8Array): string | undefined {
  const text = new TextDecoder("latin1").decode(blob.subarray(4, 4 + (blob[3] ?? 0)));
  return /^[\x21-\x7e]+$/.test(text) ? text : undefined;
}

/** A line of a key file. */
export function keyText(random: Random): string {
  const choice = random(10);
  const blob = choice === 0
    ? strings("ssh-ed25519", ed25519.getPublicKey(randomBytes(random, 32)))
    : choice < 5
    ? oddKeyBlob(random)
    : broken(pick(random, blobs), blobs, random);
  const type = random(20) === 0
    ? pick(random, [...TYPES, "ssh-rsa", "sk-ssh-ed25519@openssh.com"])
    : typeIn(blob) ?? "ssh-ed25519";
  const comment = random(3) === 0 ? ` ${randomText(random)}` : "";
  const text = `${type} ${toBase64(blob)}${comment}`;
  return random(4) === 0 ? oddText(random) : text;
}

/** A good key whose text is written otherwise. */
function oddText(random: Random): string {
  const { type, blob } = pick(random, goodKeys);
  const base64 = toBase64(blob);
  const blank = () => pick(random, [" ", "  ", "\t", "\r", "\n", "\v", "\f", "\xa0", "\ufeff", "\u2028", ""]);
  return pick(random, [
    () => `${blank()}${type} ${base64}${blank()}`,
    () => `${type}${blank()}${base64}${blank()}${randomText(random)}`,
    () => `${type} ${base64.slice(0, random(base64.length))}`,
    () => `${type} ${base64}${pick(random, ["=", "==", "A", "*", "-_", "\\"])}`,
    () => `${type} ${base64.slice(0, -1)}${pick(random, ["B", "/", "=", "C"])}`,
    () => `${pick(random, ["no-pty", 'command="a b"', "host", "@revoked", "1024", "#", '"'])} ${type} ${base64}`,
    () => new TextDecoder("latin1").decode(broken(bytesOf(`${type} ${base64} ann`), [bytesOf(base64)], random)),
    () => `${type} ${base64} ${"c".repeat(random(5_000))}`,
  ])();
}
