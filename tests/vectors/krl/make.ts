/**
 * Writes accepted.jsonl and refused.jsonl anew: the accepted ones by `ssh-keygen -k`, the refused ones built here byte by
 * byte, apart from our own writer. Run: deno run -A tests/vectors/krl/make.ts
 */
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { parsePublicKey } from "../../../server/ssh/public_key.ts";
import { toBase64, Writer } from "../../../server/ssh/wire.ts";

const here = import.meta.dirname!;
const dir = Deno.makeTempDirSync();
const keygen = (...args: string[]) =>
  execFileSync("ssh-keygen", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: { TZ: "UTC" } });

const lineOf = (path: string) => Deno.readTextFileSync(`${here}/../${path}`).trim();
const firstCa = lineOf("certificates/ca.pub");
const keys = lineOf("keys/accepted.jsonl").split("\n").map((row) => (JSON.parse(row) as { text: string }).text.trim());
const secondCa = keys.find((line) => line.startsWith("ssh-ed25519 "))!;
const rsa = keys.find((line) => line.startsWith("ssh-rsa "))!;
const ecdsa = keys.find((line) => line.startsWith("ecdsa-sha2-nistp256 "))!;

// What ssh-keygen makes.

interface Spec {
  readonly revoked?: readonly { readonly ca: string; readonly serials: readonly string[]; readonly keyIds?: string[] }[];
  readonly keys?: readonly string[];
  readonly fingerprints?: readonly string[];
  readonly sha1?: readonly string[];
}
const of = (...serials: string[]): Spec => ({ revoked: [{ ca: firstCa, serials }] });
const every = (step: number, from: number, to: number): string[] => {
  const serials: string[] = [];
  for (let serial = from; serial <= to; serial += step) serials.push(String(serial));
  return serials;
};
const specs: [name: string, spec: Spec][] = [
  ["an empty list", {}],
  ["one serial", of("5")],
  ["the least and the greatest serials", of("1", "9223372036854775807", "9223372036854775809", "18446744073709551615")],
  ["a range", of("1000-2000")],
  ["every serial there is", of("1-18446744073709551615")],
  ["a range up to the greatest serial", of("18446744073709551000-18446744073709551615")],
  ["every other serial, a bitmap", of(...every(2, 1, 399))],
  ["a bitmap whose highest bit is the first of its byte", of(...every(2, 1, 7), ...every(3, 7, 200), "201")],
  ["a bitmap up to the greatest serial", of(...Array.from({ length: 64 }, (_, n) => `${2n ** 64n - 1n - 2n * BigInt(n)}`))],
  ["a bitmap of as many bits as OpenSSH reads", of(...every(2, 1_000, 1_000 + 16_382), "17383")],
  ["serials far apart, near and in a row", of("7", "9000000000", ...every(3, 50_000, 50_900), "70000-90000", "123456789012")],
  ["key ids", { revoked: [{ ca: firstCa, serials: [], keyIds: ["discord:1:ann", "discord:2:bob"] }] }],
  ["key ids and a serial", { revoked: [{ ca: firstCa, serials: ["44"], keyIds: ["discord:1:ann"] }] }],
  ["two CAs", { revoked: [{ ca: firstCa, serials: ["5", "8-20"] }, { ca: secondCa, serials: ["5", "77"] }] }],
  ["keys", { keys: [rsa, ecdsa, secondCa] }],
  ["fingerprints", { fingerprints: [rsa, ecdsa].map((line) => parsePublicKey(line).fingerprint) }],
  ["SHA-1 fingerprints", { sha1: [rsa, ecdsa] }],
];

const accepted = specs.map(([name, { revoked = [], keys = [], fingerprints = [], sha1 = [] }], index) => {
  const krl = `${dir}/krl${index}`;
  const common = ["-k", "-f", krl, "-z", String(index + 1), "-C", `list ${index}`];
  for (const [at, { ca, serials, keyIds = [] }] of revoked.entries()) {
    Deno.writeTextFileSync(`${dir}/ca.pub`, `${ca}\n`);
    const lines = [...serials.map((serial) => `serial: ${serial}`), ...keyIds.map((id) => `id: ${id}`)];
    Deno.writeTextFileSync(`${dir}/spec`, `${lines.join("\n")}\n`);
    keygen(...common, ...(at > 0 ? ["-u"] : []), "-s", `${dir}/ca.pub`, `${dir}/spec`);
  }
  if (revoked.length === 0) {
    const lines = [
      ...keys.map((key) => `key: ${key}`),
      ...fingerprints.map((print) => `hash: ${print}`),
      ...sha1.map((key) => `sha1: ${key}`),
    ];
    Deno.writeTextFileSync(`${dir}/spec`, `${lines.join("\n")}\n`);
    keygen(...common, `${dir}/spec`);
  }
  const bytes = Deno.readFileSync(krl);
  return { name, spec: { revoked, keys, fingerprints }, sha1: sha1.length, krl: toBase64(bytes) };
});

// What must be refused. `ssh_keygen` is the verdict of `ssh-keygen -Q`.

const bytes = (...values: number[]) => Uint8Array.from(values);
const join = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts));
const ca = parsePublicKey(firstCa).blob;
const section = (type: number, ...content: Uint8Array[]) =>
  new Writer().raw(bytes(type)).string(join(...content)).bytes();
const text = (value: string | Uint8Array) => new Writer().string(value).bytes();
const u64 = (value: bigint) => new Writer().u64(value).bytes();
interface Head {
  magic: string;
  format: number;
  flags: bigint;
  reserved: string;
  comment: string | Uint8Array;
}
function head(change: Partial<Head> = {}): Uint8Array {
  const { magic, format, flags, reserved, comment } = {
    ...{ magic: "SSHKRL\n\0", format: 1, flags: 0n, reserved: "", comment: "" },
    ...change,
  };
  return new Writer().raw(new TextEncoder().encode(magic)).u32(format).u64(1n).u64(1_800_000_000n).u64(flags)
    .string(reserved).string(comment).bytes();
}
const certificates = (...parts: Uint8Array[]) => join(head(), section(1, text(ca), text(""), ...parts));
const bitmap = (start: bigint, number: Uint8Array) => certificates(section(0x22, u64(start), text(number)));
const good = certificates(section(0x20, u64(5n)));
const utf8 = new TextEncoder().encode("ein Schlüssel");

const broken: [name: string, krl: Uint8Array, reason: string][] = [
  ["nothing", bytes(), "it is cut off"],
  ["something else", new TextEncoder().encode("serial: 5\n"), "it is not a key revocation list"],
  ["another magic", head({ magic: "SSHKRL\n\x01" }), "it is not a key revocation list"],
  ["a later format", head({ format: 2 }), "its format is not 1"],
  ["flags", head({ flags: 1n }), "it has flags, which none are defined of"],
  ["something in the reserved field", head({ reserved: "x" }), "its reserved field is not empty"],
  ["a comment of two lines", head({ comment: "a\nb" }), "its comment has characters other than printable ASCII"],
  ["a comment with a zero", head({ comment: "a\0b" }), "its comment has characters other than printable ASCII"],
  ["a comment beyond ASCII", head({ comment: utf8 }), "its comment has characters other than printable ASCII"],
  ["a header cut off", head().subarray(0, 30), "it is cut off"],
  ["a section cut off", good.subarray(0, good.length - 1), "it is cut off"],
  ["a byte after the last section", join(good, bytes(1)), "it is cut off"],
  ["a length beyond the end", join(head(), bytes(1, 0xff, 0xff, 0xff, 0xff)), "it is cut off"],
  ["an unknown section", join(head(), section(9)), "it has a section of type 9, which is not read"],
  ["a signature", join(good, section(4, ca), text("x")), "it has a section of type 4, which is not read"],
  ["an extension", join(head(), section(255, text("x"), bytes(0), text(""))), "it has a section of type 255, which is not read"],
  ["certificates of all CAs", join(head(), section(1, text(""), text(""), section(0x20, u64(5n)))), "it has certificates of all CAs at once, which is not read"],
  ["a CA cut off", join(head(), section(1, text(ca.subarray(0, 40)), text(""))), "it is cut off"],
  ["a CA with a byte after it", join(head(), section(1, text(join(ca, bytes(0))), text(""))), "there are bytes after the last field of a CA"],
  ["a CA that is an ecdsa key", join(head(), section(1, text(parsePublicKey(ecdsa).blob), text(""))), "a CA is not an ssh-ed25519 key"],
  ["a CA with something in its reserved field", join(head(), section(1, text(ca), text("x"))), "the reserved field of a CA is not empty"],
  ["an unknown kind of certificates", certificates(section(0x24)), "it has certificates of type 36, which is not read"],
  ["serial 0", certificates(section(0x20, u64(0n))), "a serial is 0 or above 2^64-1, or a range ends before it begins"],
  ["a serial of seven bytes", certificates(section(0x20, bytes(1, 2, 3, 4, 5, 6, 7))), "it is cut off"],
  ["a range from serial 0", certificates(section(0x21, u64(0n), u64(9n))), "a serial is 0 or above 2^64-1, or a range ends before it begins"],
  ["a range backwards", certificates(section(0x21, u64(9n), u64(8n))), "a serial is 0 or above 2^64-1, or a range ends before it begins"],
  ["two ranges in one", certificates(section(0x21, u64(1n), u64(2n), u64(4n), u64(5n))), "there are bytes after the last field of a range of serials"],
  ["a range without an end", certificates(section(0x21, u64(1n))), "it is cut off"],
  ["a bitmap that is negative", bitmap(5n, bytes(0x80)), "a bitmap is a negative number"],
  ["a bitmap with needless zeros", bitmap(5n, bytes(0, 1)), "a bitmap has needless zeros in front"],
  ["a bitmap that is a zero of one byte", bitmap(5n, bytes(0)), "a bitmap has needless zeros in front"],
  ["a bitmap of 16385 bits", bitmap(5n, bytes(1, ...new Array(2048).fill(0))), "a bitmap has over 16384 bits"],
  ["a bitmap beyond the greatest serial", bitmap(2n ** 64n - 2n, bytes(5)), "a serial is 0 or above 2^64-1, or a range ends before it begins"],
  ["a bitmap from serial 0", bitmap(0n, bytes(3)), "a serial is 0 or above 2^64-1, or a range ends before it begins"],
  ["a bitmap with bytes after it", certificates(section(0x22, u64(5n), text(bytes(1)), bytes(0))), "there are bytes after the last field of a bitmap of serials"],
  ["a key id of two lines", certificates(section(0x23, text("a\nb"))), "a key id has characters other than printable ASCII"],
  ["a key id with a zero", certificates(section(0x23, text("a\0"))), "a key id has characters other than printable ASCII"],
  ["a key id cut off", certificates(section(0x23, bytes(0, 0, 0, 5, 97))), "it is cut off"],
  ["a fingerprint of 31 bytes", join(head(), section(5, text(new Uint8Array(31)))), "a fingerprint is not 32 bytes"],
  ["a SHA-1 fingerprint of 21 bytes", join(head(), section(3, text(new Uint8Array(21)))), "a fingerprint is not 20 bytes"],
];

Deno.writeTextFileSync(`${dir}/key.pub`, `${rsa}\n`);
function verdict(krl: Uint8Array): "accepts" | "refuses" {
  Deno.writeFileSync(`${dir}/judged`, krl);
  return new Deno.Command("ssh-keygen", { args: ["-Q", "-f", `${dir}/judged`, `${dir}/key.pub`] }).outputSync().success
    ? "accepts"
    : "refuses";
}
const refused = broken.map(([name, krl, reason]) => ({ name, krl: toBase64(krl), reason, ssh_keygen: verdict(krl) }));

const write = (file: string, rows: readonly unknown[]) =>
  Deno.writeTextFileSync(`${here}/${file}`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
write("accepted.jsonl", accepted);
write("refused.jsonl", refused);
Deno.removeSync(dir, { recursive: true });
