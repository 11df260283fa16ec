/**
 * Writes ca, ca.pub, accepted.jsonl and refused.jsonl anew: the accepted ones by `ssh-keygen -s`, the refused ones built
 * here field by field and signed by the same CA. Run: deno run -A tests/vectors/certificates/make.ts
 */
import { Buffer } from "node:buffer";
import { execFileSync } from "node:child_process";
import { parsePrivateKey, signerOf } from "../../../server/ssh/private_key.ts";
import { toBase64, Writer } from "../../../server/ssh/wire.ts";

const here = import.meta.dirname!;
const dir = Deno.makeTempDirSync();
const keygen = (...args: string[]) =>
  execFileSync("ssh-keygen", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: { TZ: "UTC" } });

for (const name of ["ca", "ca.pub"]) {
  if (existing(`${here}/${name}`)) Deno.removeSync(`${here}/${name}`);
}
keygen("-q", "-t", "ed25519", "-N", "", "-C", "test vectors only", "-f", `${here}/ca`);
const ca = signerOf(parsePrivateKey(Deno.readTextFileSync(`${here}/ca`)));

function existing(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function verdict(line: string): "accepts" | "refuses" {
  Deno.writeTextFileSync(`${dir}/judged.pub`, `${line}\n`);
  return new Deno.Command("ssh-keygen", { args: ["-Lf", `${dir}/judged.pub`] }).outputSync().success
    ? "accepts"
    : "refuses";
}

// What ssh-keygen makes.

const validAfter = Date.UTC(2026, 0, 31, 23, 55) / 1000;
const spec = {
  keyId: "discord:123456789012345678:ann",
  principals: ["gf-abc123"],
  validAfter,
  validBefore: 1769947200,
};
const command = "/usr/local/bin/godfather-login ann";
const holders = {
  member: { ...spec, serial: "4611686018427387905", forceCommand: command, extensions: ["permit-pty"] },
  officer: {
    ...spec,
    serial: "9223372036854775807",
    extensions: ["permit-agent-forwarding", "permit-port-forwarding", "permit-pty"],
  },
};
const keys: { name: string; text: string }[] = Deno.readTextFileSync(`${here}/../keys/accepted.jsonl`).trim().split(
  "\n",
)
  .slice(0, 7).map((row) => JSON.parse(row));
const stamp = (seconds: number) => new Date(seconds * 1000).toISOString().replace(/[-:T]|\.\d+Z/g, "");
const accepted = keys.flatMap(({ text }) =>
  Object.entries(holders).map(([holder, asked]) => {
    Deno.writeTextFileSync(`${dir}/key.pub`, `${text}\n`);
    const options = asked.extensions.map((name) => `-O${name}`);
    if ("forceCommand" in asked) options.push(`-Oforce-command=${asked.forceCommand}`);
    keygen(
      ...["-q", "-s", `${here}/ca`, "-I", asked.keyId, "-n", asked.principals.join(","), "-z", asked.serial],
      ...["-V", `${stamp(asked.validAfter)}:${stamp(asked.validBefore)}`, "-Oclear", ...options, `${dir}/key.pub`],
    );
    const [type, base64] = Deno.readTextFileSync(`${dir}/key-cert.pub`).split(" ");
    return { name: `${text.split(" ")[0]} ${holder}`, key: text, spec: asked, line: `${type} ${base64}` };
  })
);

// What nobody should make. Each is a good certificate but for one thing; the CA's signature is good unless said.

type Part = string | Uint8Array;
const strings = (...parts: Part[]) => parts.reduce((w: Writer, part) => w.string(part), new Writer()).bytes();
const ED_CERT = "ssh-ed25519-cert-v01@openssh.com";
const good = {
  type: ED_CERT,
  nonce: new Uint8Array(32).fill(7) as Part,
  key: strings(Buffer.from(keys[0]!.text.split(" ")[1]!, "base64").subarray(-32)),
  serial: 5n,
  kind: 1,
  keyId: "discord:1:ann" as Part,
  principals: strings("gf-abc123"),
  after: 1_000n,
  before: 2_000n,
  critical: strings("force-command", strings("id")),
  extensions: strings("permit-pty", ""),
  reserved: "" as Part,
  caKey: strings("ssh-ed25519", ca.publicKey),
};

function tbs(change: Partial<typeof good>): Uint8Array {
  const c = { ...good, ...change };
  return new Writer().string(c.type).string(c.nonce).raw(c.key).u64(c.serial).u32(c.kind).string(c.keyId)
    .string(c.principals).u64(c.after).u64(c.before).string(c.critical).string(c.extensions).string(c.reserved)
    .string(c.caKey).bytes();
}
const line = (blob: Uint8Array, type = ED_CERT) => `${type} ${toBase64(blob)}`;
const withSignature = (signature: Uint8Array, signed = tbs({})) =>
  line(new Writer().raw(signed).string(signature).bytes());
const signature = (signed: Uint8Array) => strings("ssh-ed25519", ca.sign(signed));
const but = (change: Partial<typeof good>) => withSignature(signature(tbs(change)), tbs(change));
const blob = new Writer().raw(tbs({})).string(signature(tbs({}))).bytes();
const rsaKey = JSON.parse(Deno.readTextFileSync(`${here}/../keys/accepted.jsonl`).split("\n")[1]!).text as string;
const rsaFields = new Uint8Array(Buffer.from(rsaKey.split(" ")[1]!, "base64")).slice(11);
const neutral = Uint8Array.of(1, ...new Uint8Array(31));
const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, index) => index === at ? byte ^ 1 : byte);

/** Adds the group's order to the second half of the signature, which a careless verifier takes for another signature. */
function plusOrder(bytes: Uint8Array): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const s = [...bytes.subarray(32)].reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n) + order;
  return Uint8Array.of(
    ...bytes.subarray(0, 32),
    ...Array.from({ length: 32 }, (_, i) => Number(s >> BigInt(8 * i) & 255n)),
  );
}

const refused: [string, string, string][] = [
  ["nothing", "", "it is empty"],
  ["a plain key", keys[0]!.text, "it is a plain public key"],
  [
    "an unknown type",
    line(blob, "ssh-ed448-cert-v01@openssh.com"),
    "its type is not that of a certificate for an accepted key type",
  ],
  [
    "a DSA certificate",
    line(blob, "ssh-dss-cert-v01@openssh.com"),
    "its type is not that of a certificate for an accepted key type",
  ],
  [
    "a certificate of the old version 00",
    line(blob, "ssh-rsa-cert-v00@openssh.com"),
    "its type is not that of a certificate for an accepted key type",
  ],
  [
    "another type in the text",
    line(blob, "ssh-rsa-cert-v01@openssh.com"),
    "its type is not the type inside the certificate",
  ],
  ["two lines", `${line(blob)}\n${line(blob)}`, "it has more than one line"],
  ["base64 with stray characters", `${line(blob)}*`, "its base64 is malformed"],
  ["an empty blob", `${ED_CERT} AAAA`, "it is cut off"],
  ["without its last byte", line(blob.slice(0, -1)), "it is cut off"],
  ["without its signature", line(tbs({})), "it is cut off"],
  ["with a byte more", line(Uint8Array.of(...blob, 0)), "there are bytes after the last field of the certificate"],
  ["a nonce of 31 bytes", but({ nonce: new Uint8Array(31) }), "its nonce is not 32 bytes"],
  ["no nonce", but({ nonce: "" }), "its nonce is not 32 bytes"],
  ["a key of 31 bytes", but({ key: strings(new Uint8Array(31).fill(9)) }), "its Ed25519 key is not 32 bytes"],
  ["a key of small order", but({ key: strings(neutral) }), "its Ed25519 key is a point of small order"],
  ["an RSA key under an Ed25519 type", but({ key: rsaFields }), "its Ed25519 key is not 32 bytes"],
  ["a host certificate", but({ kind: 2 }), "it is not a user certificate"],
  ["kind 0", but({ kind: 0 }), "it is not a user certificate"],
  ["kind 3", but({ kind: 3 }), "it is not a user certificate"],
  ["an empty key id", but({ keyId: "" }), "its key id is empty"],
  [
    "a key id that forges a log line",
    but({ keyId: "ann\nAccepted password for root" }),
    "its key id has characters other than printable ASCII",
  ],
  [
    "a key id in Latin-1",
    but({ keyId: Uint8Array.of(0x61, 0xe9) }),
    "its key id has characters other than printable ASCII",
  ],
  ["a key id in UTF-8", but({ keyId: Buffer.from("é") }), "its key id has characters other than printable ASCII"],
  ["a key id with a NUL", but({ keyId: "a\0b" }), "its key id has characters other than printable ASCII"],
  ["no principals", but({ principals: strings() }), "it has no principals, which sshd takes for anybody"],
  ["an empty principal", but({ principals: strings("gf-a", "") }), "one of its principals is empty"],
  [
    "a principal with a newline",
    but({ principals: strings("gf-a\nroot") }),
    "one of its principals has characters other than printable ASCII",
  ],
  ["a principal that is cut off", but({ principals: strings("gf-a").slice(0, -1) }), "it is cut off"],
  [
    "257 principals",
    but({ principals: strings(...Array.from({ length: 257 }, (_, i) => `gf-${i}`)) }),
    "it has more than 256 principals",
  ],
  ["an end that is its start", but({ before: 1_000n }), "its end is not after its start"],
  ["an end before its start", but({ before: 999n }), "its end is not after its start"],
  [
    "critical options out of order",
    but({ critical: strings("source-address", strings("::1/128"), "force-command", strings("id")) }),
    "its critical options are not in ASCII order",
  ],
  [
    "a critical option twice",
    but({ critical: strings("force-command", strings("id"), "force-command", strings("sh")) }),
    "one critical option is there twice",
  ],
  [
    "a critical option without a name",
    but({ critical: strings("", strings("id")) }),
    "the name of one critical option is empty",
  ],
  [
    "an empty forced command",
    but({ critical: strings("force-command", strings("")) }),
    "the value of one critical option is empty",
  ],
  [
    "a forced command without its inner length",
    but({ critical: strings("force-command", "id") }),
    "the value of one critical option is not one string",
  ],
  [
    "a forced command with two values",
    but({ critical: strings("force-command", strings("id", "sh")) }),
    "the value of one critical option is not one string",
  ],
  [
    "a forced command with a newline",
    but({ critical: strings("force-command", strings("id\nsh")) }),
    "the value of one critical option has characters other than printable ASCII",
  ],
  ["a critical option without data", but({ critical: strings("force-command") }), "it is cut off"],
  [
    "extensions out of order",
    but({ extensions: strings("permit-pty", "", "permit-agent-forwarding", "") }),
    "its extensions are not in ASCII order",
  ],
  [
    "an extension twice",
    but({ extensions: strings("permit-pty", "", "permit-pty", "") }),
    "one extension is there twice",
  ],
  [
    "an extension with an escape in its name",
    but({ extensions: strings("permit-\x1b[2J", "") }),
    "the name of one extension has characters other than printable ASCII",
  ],
  ["something in the reserved field", but({ reserved: "x" }), "its reserved field is not empty"],
  ["an RSA CA", but({ caKey: new Writer().string("ssh-rsa").raw(rsaFields).bytes() }), "its CA key is not ssh-ed25519"],
  ["a CA key of 31 bytes", but({ caKey: strings("ssh-ed25519", new Uint8Array(31)) }), "its CA key is not 32 bytes"],
  [
    "a CA key with a byte more",
    but({ caKey: Uint8Array.of(...good.caKey, 0) }),
    "there are bytes after the last field of its CA key",
  ],
  [
    "a CA of small order, for which anybody can sign",
    forgedBySmallOrder(),
    "its Ed25519 key is a point of small order",
  ],
  [
    "another CA's name",
    but({ caKey: strings("ssh-ed25519", Buffer.from(keys[0]!.text.split(" ")[1]!, "base64").subarray(-32)) }),
    "its signature is not that of the CA it names",
  ],
  [
    "a signature of another type",
    withSignature(strings("ssh-rsa", ca.sign(tbs({})))),
    "its signature is not ssh-ed25519",
  ],
  [
    "a signature of 63 bytes",
    withSignature(strings("ssh-ed25519", ca.sign(tbs({})).slice(1))),
    "its signature is not 64 bytes",
  ],
  [
    "a signature with a byte more",
    withSignature(Uint8Array.of(...signature(tbs({})), 0)),
    "there are bytes after the last field of its signature",
  ],
  [
    "a signature with a changed bit",
    withSignature(flipped(signature(tbs({})), 50)),
    "its signature is not that of the CA it names",
  ],
  [
    "a signature with the order added",
    withSignature(strings("ssh-ed25519", plusOrder(ca.sign(tbs({}))))),
    "its signature is not that of the CA it names",
  ],
  [
    "a signature of zeros",
    withSignature(strings("ssh-ed25519", new Uint8Array(64))),
    "its signature is not that of the CA it names",
  ],
  [
    "a serial changed after signing",
    withSignature(signature(tbs({})), tbs({ serial: 6n })),
    "its signature is not that of the CA it names",
  ],
  [
    "principals changed after signing",
    withSignature(signature(tbs({})), tbs({ principals: strings("gf-abc124") })),
    "its signature is not that of the CA it names",
  ],
];

/** With the neutral point as the CA's key, R = S·B holds for S = 0 and R the neutral point, whatever was "signed". */
function forgedBySmallOrder(): string {
  const signed = tbs({ caKey: strings("ssh-ed25519", neutral) });
  return withSignature(strings("ssh-ed25519", Uint8Array.of(...neutral, ...new Uint8Array(32))), signed);
}

const write = (name: string, rows: object[]) =>
  Deno.writeTextFileSync(`${here}/${name}`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
write("accepted.jsonl", accepted);
write("refused.jsonl", refused.map(([name, line, reason]) => ({ name, line, reason, ssh_keygen: verdict(line) })));
Deno.removeSync(dir, { recursive: true });
