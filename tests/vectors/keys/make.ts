/** Writes accepted.jsonl and refused.jsonl anew, with fresh keys of ssh-keygen. Run: deno run -A tests/vectors/keys/make.ts */
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { toBase64, Writer } from "../../../server/ssh/wire.ts";

const here = import.meta.dirname!;
const dir = Deno.makeTempDirSync();

function keygen(...args: string[]): string {
  return execFileSync("ssh-keygen", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** "accepts" with the fingerprint, or "refuses". */
function judge(text: string): { verdict: "accepts" | "refuses"; fingerprint: string } {
  Deno.writeTextFileSync(`${dir}/judged.pub`, text.endsWith("\n") ? text : `${text}\n`);
  const { success, stdout } = new Deno.Command("ssh-keygen", { args: ["-lf", `${dir}/judged.pub`] }).outputSync();
  const fingerprint = new TextDecoder().decode(stdout).split(" ")[1] ?? "";
  return { verdict: success ? "accepts" : "refuses", fingerprint };
}

function made(type: string, bits: string[] = [], comment = "somebody@laptop"): string {
  const file = `${dir}/${type}${bits.join("")}`;
  keygen("-q", "-t", type, ...bits, "-N", "", "-C", comment, "-f", file);
  return Deno.readTextFileSync(`${file}.pub`).trim();
}

const line = (type: string, blob: Uint8Array, comment = "") => `${type} ${toBase64(blob)} ${comment}`.trim();
/** A key line from its fields. */
const key = (type: string, ...fields: (string | Uint8Array)[]) => line(type, blobOf(type, ...fields));
const blobOf = (type: string, ...fields: (string | Uint8Array)[]) =>
  fields.reduce((writer: Writer, field) => writer.string(field), new Writer().string(type)).bytes();
const blobIn = (text: string) => new Uint8Array(Buffer.from(text.split(" ")[1]!, "base64"));
const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

const ED = "ssh-ed25519", RSA = "ssh-rsa", EC = "ecdsa-sha2-nist";
const SK_ED = "sk-ssh-ed25519@openssh.com", SK_EC = "sk-ecdsa-sha2-nistp256@openssh.com";
const ed = made("ed25519");
const rsa = made("rsa", ["-b", "2048"]);
const ecs = {
  p256: made("ecdsa", ["-b", "256"]),
  p384: made("ecdsa", ["-b", "384"]),
  p521: made("ecdsa", ["-b", "521"]),
};
const edPoint = blobIn(ed).slice(-32);
const ecPoint = (bits: "p256" | "p384" | "p521") => blobIn(ecs[bits]).slice({ p256: -65, p384: -97, p521: -133 }[bits]);
const skEd = key(SK_ED, edPoint, "ssh:");
const skEc = key(SK_EC, "nistp256", ecPoint("p256"), "ssh:");

/** A positive odd number of exactly so many bits, as an mpint. */
function modulus(bits: number): Uint8Array {
  const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(bits / 8)));
  const top = (bits - 1) % 8;
  bytes[0] = (bytes[0]! & ((1 << top) - 1)) | (1 << top);
  bytes[bytes.length - 1]! |= 1;
  return top === 7 ? Uint8Array.of(0, ...bytes) : bytes;
}
const n2048 = modulus(2048);
const e65537 = hex("010001");
const withLast = (bytes: Uint8Array, change: (last: number) => number) => {
  const copy = bytes.slice();
  copy[copy.length - 1] = change(copy.at(-1)!) & 255;
  return copy;
};
const longer = (text: string) => line(text.split(" ")[0]!, Uint8Array.of(...blobIn(text), 0));
const shorter = (text: string) => line(text.split(" ")[0]!, blobIn(text).slice(0, -1));

const accepted: [string, string][] = [
  ["ed25519 of ssh-keygen", ed],
  ["rsa 2048 of ssh-keygen", rsa],
  ["ecdsa nistp256 of ssh-keygen", ecs.p256],
  ["ecdsa nistp384 of ssh-keygen", ecs.p384],
  ["ecdsa nistp521 of ssh-keygen", ecs.p521],
  ["security key ed25519, built from an ed25519 key", `${skEd} token`],
  ["security key nistp256, built from an ecdsa key", `${skEc} token`],
  ["security key with its own application", key(SK_ED, edPoint, "ssh:laptop")],
  ["no comment", ed.split(" ").slice(0, 2).join(" ")],
  ["comment with spaces", line(ED, blobIn(ed), "work laptop  of  Ann")],
  ["comment of 200 characters", line(ED, blobIn(ed), "c".repeat(200))],
  ["blank space and line ends around it", `  \t${ed} \r\n\n`],
  ["rsa of 16384 bits, the largest", key(RSA, e65537, modulus(16384))],
  ["rsa with exponent 3", key(RSA, hex("03"), n2048)],
  ["rsa with an exponent of 64 bits", key(RSA, hex("008000000000000001"), n2048)],
];

const dss = key("ssh-dss", modulus(1024), modulus(160), modulus(1024), modulus(1024));
keygen("-q", "-t", "ed25519", "-N", "", "-C", "ca", "-f", `${dir}/ca`);
keygen("-q", "-s", `${dir}/ca`, "-I", "id", "-n", "gf-x", `${dir}/ed25519.pub`);
const certificate = Deno.readTextFileSync(`${dir}/ed25519-cert.pub`).trim();
keygen("-q", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "", "-C", "pem", "-f", `${dir}/pem`);
const edBase64 = ed.split(" ")[1]!;

const refused: [string, string, string][] = [
  ["nothing", "", "it is empty"],
  ["only blank space", " \t\r\n ", "it is empty"],
  ["4097 characters", `${ed} ${"c".repeat(4096 - ed.length)}`, "it is longer than 4096 characters"],
  ["two keys on two lines", `${ed}\n${rsa}\n`, "it has more than one line"],
  ["a lone carriage return in the comment", `${ed}\rroot`, "it has more than one line"],
  ["base64 over two lines", `${ED} ${edBase64.slice(0, 40)}\n${edBase64.slice(40)}`, "it has more than one line"],
  ["an OpenSSH private key", Deno.readTextFileSync(`${dir}/ed25519`), "it is a private key"],
  ["a PEM private key", Deno.readTextFileSync(`${dir}/pem`), "it is a private key"],
  ["a PuTTY private key", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n", "it is a private key"],
  ["an RFC 4716 public key", keygen("-e", "-f", `${dir}/ed25519.pub`), "it is not in OpenSSH's format of one line"],
  ["two spaces before the base64", ed.replace(" ", "  "), "its parts are not separated by single spaces"],
  ["two spaces before the comment", `${ED} ${edBase64}  me`, "its parts are not separated by single spaces"],
  ["a tab before the base64", ed.replace(" ", "\t"), "its parts are not separated by single spaces"],
  ["a tab before the comment", `${ED} ${edBase64}\tme`, "its parts are not separated by single spaces"],
  ["a type alone", ED, "there is no base64 after its type"],
  ["base64 alone", edBase64, "there is no base64 after its type"],
  ["a forced command in front", `command="id" ${ed}`, "options in front of the key are not accepted"],
  ["a flag in front", `no-pty ${ed}`, "options in front of the key are not accepted"],
  [
    "an option with spaces in front",
    `command="echo a b",no-pty ${rsa}`,
    "options in front of the key are not accepted",
  ],
  ["a certificate authority line", `cert-authority ${ed}`, "options in front of the key are not accepted"],
  ["a certificate", certificate, "it is a certificate, send the public key it was made for"],
  ["a DSA key", dss, "DSA keys (ssh-dss) are not accepted"],
  ["an unknown type", key("ssh-ed448", edPoint), "its type is none of"],
  ["a type in capitals", ed.replace(ED, "SSH-ED25519"), "its type is none of"],
  ["a type with a NUL", ed.replace(ED, `${ED}\0`), "its type is none of"],
  ["an SSH 1 key", "2048 65537 2519 me", "its type is none of"],
  ["a name of Object.prototype", ed.replace(ED, "__proto__"), "its type is none of"],
  ["comment of 201 characters", line(ED, blobIn(ed), "c".repeat(201)), "its comment is longer than 200 characters"],
  ...["\0", "\x1b[2J", "\x7f", "\x0b", "\t", "é", "\u202e", "\u2028", "\u{1f511}"].map((
    odd,
  ): [string, string, string] => [
    `comment with U+${odd.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`,
    `${ED} ${edBase64} a${odd}b`,
    "its comment has characters other than printable ASCII",
  ]),
  ["a character outside base64", `${ED} ${edBase64.slice(0, -1)}*`, "its base64 is malformed"],
  ["URL-safe base64", `${ED} ${edBase64.slice(0, -2)}-_`, "its base64 is malformed"],
  ["padding in the middle", `${ED} ${edBase64.slice(0, 8)}=${edBase64.slice(8)}`, "its base64 is malformed"],
  ["three padding characters", `${ED} ${edBase64}===`, "its base64 is malformed"],
  ["needless padding", `${ED} ${edBase64}=`, "its base64 is not canonical"],
  ["missing padding", withoutPadding(), "its base64 is not canonical"],
  ["stray bits in the last character", strayBits(), "its base64 is not canonical"],
  ["one character too few", `${ED} ${edBase64.slice(0, -1)}`, "its base64 is not canonical"],
  ["an empty blob", `${ED} AAAA`, "it is cut off"],
  ["a length of 4 GB", line(ED, Uint8Array.of(255, 255, 255, 255, 0)), "it is cut off"],
  [
    "a field's length of 4 GB",
    line(ED, Uint8Array.of(...new Writer().string(ED).bytes(), 255, 255, 255, 255)),
    "it is cut off",
  ],
  ["a type and no fields", line(ED, new Writer().string(ED).bytes()), "it is cut off"],
  ["the last two bytes missing", line(ED, blobIn(ed).slice(0, 49)), "it is cut off"],
  ...[ed, rsa, ecs.p256, ecs.p384, ecs.p521, skEd, skEc].flatMap((text): [string, string, string][] => [
    [`${text.split(" ")[0]} without its last byte`, shorter(text), "it is cut off"],
    [`${text.split(" ")[0]} with a byte more`, longer(text), "there are bytes after the last field of the key"],
  ]),
  ["the text says RSA, the blob Ed25519", ed.replace(ED, RSA), "its type is not the type inside the key"],
  [
    "the text says Ed25519, the blob a security key",
    skEd.replace(SK_ED, ED),
    "its type is not the type inside the key",
  ],
  [
    "the text says nistp256, the blob nistp384",
    ecs.p384.replace(`${EC}p384`, `${EC}p256`),
    "its type is not the type inside the key",
  ],
  [
    "a certificate's blob under a key's type",
    certificate.replace("-cert-v01@openssh.com", ""),
    "its type is not the type inside the key",
  ],
  ["rsa of 1024 bits", key(RSA, e65537, modulus(1024)), "its RSA modulus has 1024 bits, fewer than 2048"],
  [
    "rsa of 2047 bits, as many bytes as 2048",
    key(RSA, e65537, modulus(2047)),
    "its RSA modulus has 2047 bits, fewer than 2048",
  ],
  ["rsa of 16385 bits", key(RSA, e65537, modulus(16385)), "its RSA modulus has 16385 bits, more than 16384"],
  ["rsa with an even modulus", key(RSA, e65537, withLast(n2048, (last) => last - 1)), "its RSA modulus is even"],
  ["rsa with a negative modulus", key(RSA, e65537, n2048.slice(1)), "its RSA modulus is negative"],
  [
    "rsa with zeros before its modulus",
    key(RSA, e65537, Uint8Array.of(0, ...n2048)),
    "its RSA modulus has needless zeros in front",
  ],
  ["rsa with an empty modulus", key(RSA, e65537, ""), "its RSA modulus has 0 bits, fewer than 2048"],
  ["rsa with exponent 0", key(RSA, "", n2048), "its RSA exponent is less than 3"],
  ["rsa with exponent 0 as a byte", key(RSA, hex("00"), n2048), "its RSA exponent has needless zeros in front"],
  ["rsa with exponent 1", key(RSA, hex("01"), n2048), "its RSA exponent is less than 3"],
  ["rsa with exponent 2", key(RSA, hex("02"), n2048), "its RSA exponent is even"],
  ["rsa with exponent 65536", key(RSA, hex("010000"), n2048), "its RSA exponent is even"],
  ["rsa with a negative exponent", key(RSA, hex("81"), n2048), "its RSA exponent is negative"],
  [
    "rsa with zeros before its exponent",
    key(RSA, hex("00010001"), n2048),
    "its RSA exponent has needless zeros in front",
  ],
  [
    "rsa with an exponent of 65 bits",
    key(RSA, hex("010000000000000001"), n2048),
    "its RSA exponent has more than 64 bits",
  ],
  ["rsa with modulus before exponent", key(RSA, n2048, e65537), "its RSA exponent has more than 64 bits"],
  [
    "nistp256 with the curve nistp384 inside",
    key(`${EC}p256`, "nistp384", ecPoint("p256")),
    "its curve is not nistp256",
  ],
  ["nistp256 with a longer curve name", key(`${EC}p256`, "nistp256\0", ecPoint("p256")), "its curve is not nistp256"],
  [
    "nistp256 with a point of nistp384",
    key(`${EC}p256`, "nistp256", ecPoint("p384")),
    "its point is not an uncompressed point of 65 bytes",
  ],
  [
    "nistp256 compressed",
    key(`${EC}p256`, "nistp256", p256.Point.fromBytes(ecPoint("p256")).toBytes(true)),
    "its point is not an uncompressed point of 65 bytes",
  ],
  [
    "nistp256 hybrid form",
    key(`${EC}p256`, "nistp256", Uint8Array.of(6, ...ecPoint("p256").slice(1))),
    "its point is not an uncompressed point of 65 bytes",
  ],
  [
    "nistp256 at infinity",
    key(`${EC}p256`, "nistp256", hex("00")),
    "its point is not an uncompressed point of 65 bytes",
  ],
  [
    "nistp256 at 0, 0",
    key(`${EC}p256`, "nistp256", Uint8Array.of(4, ...new Uint8Array(64))),
    "its point is not on the curve nistp256",
  ],
  [
    "nistp256 with x beyond the field",
    key(`${EC}p256`, "nistp256", beyondField()),
    "its point is not on the curve nistp256",
  ],
  [
    "nistp256 off its curve",
    key(`${EC}p256`, "nistp256", withLast(ecPoint("p256"), (last) => last ^ 1)),
    "its point is not on the curve nistp256",
  ],
  [
    "nistp384 off its curve",
    key(`${EC}p384`, "nistp384", withLast(ecPoint("p384"), (last) => last ^ 1)),
    "its point is not on the curve nistp384",
  ],
  [
    "nistp521 off its curve",
    key(`${EC}p521`, "nistp521", withLast(ecPoint("p521"), (last) => last ^ 1)),
    "its point is not on the curve nistp521",
  ],
  ["ed25519 of 31 bytes", key(ED, edPoint.slice(1)), "its Ed25519 key is not 32 bytes"],
  ["ed25519 of 33 bytes", key(ED, Uint8Array.of(...edPoint, 0)), "its Ed25519 key is not 32 bytes"],
  [
    "ed25519 that is no point (y = 2)",
    key(ED, hex("02".padEnd(64, "0"))),
    "its Ed25519 key is not a point of the curve",
  ],
  [
    "ed25519 with y beyond the field",
    key(ED, hex("ff".repeat(31) + "7f")),
    "its Ed25519 key is not a point of the curve",
  ],
  [
    "ed25519 with x = 0 and a sign",
    key(ED, hex("01".padEnd(62, "0") + "80")),
    "its Ed25519 key is not a point of the curve",
  ],
  ["ed25519, the neutral point", key(ED, hex("01".padEnd(64, "0"))), "its Ed25519 key is a point of small order"],
  [
    "ed25519, the point of order 2",
    key(ED, hex("ec" + "ff".repeat(30) + "7f")),
    "its Ed25519 key is a point of small order",
  ],
  ["ed25519, a point of order 4", key(ED, hex("00".repeat(32))), "its Ed25519 key is a point of small order"],
  ["ed25519, a point of order 8", key(ED, orderEight()), "its Ed25519 key is a point of small order"],
  ["security key without an application", key(SK_ED, edPoint), "it is cut off"],
  ["security key with an empty application", key(SK_ED, edPoint, ""), "its security key application is empty"],
  [
    "security key of a web site",
    key(SK_ED, edPoint, "https://login.example"),
    'its security key application does not start with "ssh:"',
  ],
  [
    "security key with the application ssh",
    key(SK_EC, "nistp256", ecPoint("p256"), "ssh"),
    'its security key application does not start with "ssh:"',
  ],
  [
    "security key with a newline in its application",
    key(SK_ED, edPoint, "ssh:\nroot"),
    "its security key application has characters other than printable ASCII",
  ],
  [
    "security key with an application of 256 bytes",
    key(SK_ED, edPoint, "ssh:".padEnd(256, "a")),
    "its security key application is longer than 255 bytes",
  ],
  [
    "security key ed25519 of small order",
    key(SK_ED, hex("00".repeat(32)), "ssh:"),
    "its Ed25519 key is a point of small order",
  ],
  [
    "security key nistp256 off its curve",
    key(SK_EC, "nistp256", withLast(ecPoint("p256"), (last) => last ^ 1), "ssh:"),
    "its point is not on the curve nistp256",
  ],
  ["security key nistp256 without its curve", key(SK_EC, ecPoint("p256"), "ssh:"), "its curve is not nistp256"],
];

/** A nistp256 key is 104 bytes, so its base64 ends in one "=". */
function withoutPadding(): string {
  return ecs.p256.split(" ").slice(0, 2).join(" ").replace(/=+$/, "");
}

/** The last character before the padding carries two bits that stand for nothing. */
function strayBits(): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const text = ecs.p256.split(" ").slice(0, 2).join(" ");
  return text.replace(/(.)=$/, (_, last) => `${alphabet[alphabet.indexOf(last) + 1]}=`);
}

function beyondField(): Uint8Array {
  return Uint8Array.of(4, ...new Uint8Array(32).fill(255), ...ecPoint("p256").slice(33));
}

function orderEight(): Uint8Array {
  for (;;) {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    bytes[31]! &= 0x7f;
    try {
      const torsion = ed25519.Point.fromBytes(bytes).multiplyUnsafe(ed25519.Point.Fn.ORDER - 1n)
        .add(ed25519.Point.fromBytes(bytes));
      if (!torsion.double().double().is0() && torsion.isSmallOrder()) return torsion.toBytes();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }
}

const write = (name: string, rows: object[]) =>
  Deno.writeTextFileSync(`${here}/${name}`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
write(
  "accepted.jsonl",
  accepted.map(([name, text]) => {
    const { verdict, fingerprint } = judge(text);
    if (verdict !== "accepts") throw new Error(`ssh-keygen refuses ${name}`);
    const [type, , ...comment] = text.trim().split(" ");
    return { name, text, type, comment: comment.join(" "), fingerprint };
  }),
);
write(
  "refused.jsonl",
  refused.map(([name, text, reason]) => ({ name, text, reason, ssh_keygen: judge(text).verdict })),
);
Deno.removeSync(dir, { recursive: true });
