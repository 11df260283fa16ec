/** Certificates: good ones by our own writer, and ones put together here with faults, most of them signed all the same. */
import { issueCertificate, parseCertificate } from "../../../server/ssh/certificate.ts";
import { toBase64, Writer } from "../../../server/ssh/wire.ts";
import { caSigner, keys } from "../krl_support.ts";
import { rows } from "../keygen.ts";
import { bytesOf, join, type Part, pick, type Random, randomBytes, randomText, randomU64, strings } from "./bytes.ts";
import { goodKeys, oddKeyBlob, stringsIn, typeIn } from "./make_keys.ts";
import { broken } from "./mutate.ts";

/** The fields of a certificate, each as it is written (PROTOCOL.certkeys). */
export interface Fields {
  readonly type: Part;
  readonly nonce: Part;
  /** The key's own fields, as they stand in its blob after the type. */
  readonly key: Uint8Array;
  readonly serial: bigint;
  readonly kind: number;
  readonly keyId: Part;
  readonly principals: Uint8Array;
  readonly after: bigint;
  readonly before: bigint;
  readonly critical: Uint8Array;
  readonly extensions: Uint8Array;
  readonly reserved: Part;
  readonly caKey: Uint8Array;
}
export const GOOD: Fields = {
  type: "ssh-ed25519-cert-v01@openssh.com",
  nonce: new Uint8Array(32).fill(7),
  key: strings(goodKeys[0]!.fields[0]!),
  serial: 5n,
  kind: 1,
  keyId: "discord:1:ann",
  principals: strings("gf-abc123"),
  after: 1_000n,
  before: 2_000n,
  critical: strings("force-command", strings("id")),
  extensions: strings("permit-pty", ""),
  reserved: "",
  caKey: strings("ssh-ed25519", caSigner.publicKey),
};

/** What is signed of a certificate with other fields than `GOOD`. */
export function unsigned(change: Partial<Fields>): Uint8Array {
  const c = { ...GOOD, ...change };
  return new Writer().string(bytesOf(c.type)).string(bytesOf(c.nonce)).raw(c.key).u64(c.serial).u32(c.kind)
    .string(bytesOf(c.keyId)).string(c.principals).u64(c.after).u64(c.before).string(c.critical).string(c.extensions)
    .string(bytesOf(c.reserved)).string(c.caKey).bytes();
}

/** With the signature of the vectors' CA. */
export function signed(bytes: Uint8Array): Uint8Array {
  return join(bytes, strings(strings("ssh-ed25519", caSigner.sign(bytes))));
}

export const certificateLine = (blob: Uint8Array, type: Part = GOOD.type): string =>
  `${new TextDecoder("latin1").decode(bytesOf(type))} ${toBase64(blob)}`;

const EXTENSIONS = ["permit-X11-forwarding", "permit-agent-forwarding", "permit-port-forwarding", "permit-pty"];
const NAMES = [
  ...EXTENSIONS,
  "permit-user-rc",
  "no-touch-required",
  "force-command",
  "source-address",
  "verify-required",
];

/** Names and data of options: known and unknown names, data of every shape, in any order. */
function options(random: Random): Uint8Array {
  const names = Array.from({ length: random(4) }, () => random(6) === 0 ? randomText(random) : pick(random, NAMES));
  if (random(3) > 0) names.sort();
  const data = () =>
    pick(random, [
      () => "",
      () => strings(pick(random, ["id", "::1/128", "/bin/sh -c true"])),
      () => strings(randomText(random)),
      () => strings("a", "b"),
      () => strings("id").subarray(0, random(6)),
    ])();
  return strings(...names.flatMap((name) => [name, data()]));
}

const principals = (random: Random) => {
  const count = random(60) === 0 ? pick(random, [255, 256, 257, 300]) : random(4);
  return strings(...Array.from({ length: count }, () => randomText(random)));
};

function someFields(random: Random): Partial<Fields> {
  const key = pick(random, goodKeys);
  const change: Partial<Record<keyof Fields, unknown>> = {};
  const others: { readonly [K in keyof Fields]?: () => Fields[K] } = {
    nonce: () => randomBytes(random, pick(random, [0, 31, 32, 33, 64])),
    serial: () => randomU64(random),
    kind: () => pick(random, [0, 1, 2, 3, 2 ** 31]),
    keyId: () => randomText(random),
    principals: () => principals(random),
    after: () => randomU64(random),
    before: () => randomU64(random),
    critical: () => options(random),
    extensions: () => options(random),
    reserved: () => randomText(random),
    caKey: () => random(3) > 0 ? GOOD.caKey : pick(random, [goodKeys[random(7)]!.blob, oddKeyBlob(random)]),
  };
  for (const [name, make] of Object.entries(others)) {
    if (random(5) === 0) change[name as keyof Fields] = make();
  }
  if (random(3) > 0) return change as Partial<Fields>;
  const [type, ...fields] = random(4) === 0 ? stringsIn(oddKeyBlob(random)) : stringsIn(key.blob);
  const [base, vendor] = new TextDecoder("latin1").decode(type).split("@");
  return { ...change as Partial<Fields>, type: `${base}-cert-v01@${vendor ?? "openssh.com"}`, key: strings(...fields) };
}

const written = rows<{ line: string }>("certificates/accepted.jsonl").map(({ line }) => parseCertificate(line));

/** A certificate of our own writer, of which the reader must say what it was made of. */
function issued(random: Random): string {
  const [from, to] = [random(2 ** 31), random(2 ** 31)].sort((a, b) => a - b) as [number, number];
  const plain = (length: number) =>
    Array.from({ length: 1 + random(length) }, () => String.fromCharCode(33 + random(94))).join("");
  return issueCertificate(pick(random, keys), {
    serial: randomU64(random) % (2n ** 63n - 1n) + 1n,
    nonce: randomBytes(random, 32),
    keyId: plain(256),
    principals: [...new Set(Array.from({ length: 1 + random(20) }, () => plain(20).replaceAll(",", "-")))],
    validAfter: from,
    validBefore: to + 1,
    ...(random(2) === 0 ? {} : { forceCommand: plain(1_000) }),
    extensions: ["permit-agent-forwarding", "permit-port-forwarding", "permit-pty"].filter(() => random(2) === 0),
  }, caSigner).line;
}

const whole = written.map((certificate) => signed(certificate.signed));
const parts = written.map((certificate) => certificate.signed);

/** A line with a certificate. */
export function certificateText(random: Random): { readonly input: string; readonly isGood: boolean } {
  const choice = random(10);
  if (choice === 0) return { input: issued(random), isGood: true };
  const change = someFields(random);
  const blob = choice < 6
    ? signed(unsigned(change))
    : choice < 8
    ? signed(broken(pick(random, parts), parts, random))
    : broken(random(2) === 0 ? pick(random, whole) : signed(unsigned(change)), whole, random);
  const type = typeIn(blob) ?? GOOD.type;
  return { input: certificateLine(blob, random(40) === 0 ? pick(random, written).type : type), isGood: false };
}
