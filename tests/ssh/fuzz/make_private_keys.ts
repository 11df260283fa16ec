/** Private key files: good ones by our own writer, ones put together here field by field, and ones with faults. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { formatPrivateKey } from "../../../server/ssh/private_key.ts";
import { fromBase64, toBase64 } from "../../../server/ssh/wire.ts";
import { bytesOf, join, type Part, pick, type Random, randomBytes, randomText, strings, u32 } from "./bytes.ts";
import { goodKeys, oddKeyBlob } from "./make_keys.ts";
import { broken } from "./mutate.ts";

const FIRST = "-----BEGIN OPENSSH PRIVATE KEY-----";
const LAST = "-----END OPENSSH PRIVATE KEY-----";

/** The file of these bytes, written as ssh-keygen writes it. */
export const privateKeyFile = (bytes: Uint8Array): string =>
  [FIRST, ...(toBase64(bytes).match(/.{1,70}/g) ?? []), LAST, ""].join("\n");

export interface PrivateFields {
  readonly magic: Part;
  readonly cipher: Part;
  readonly derivation: Part;
  readonly derivationOptions: Part;
  readonly count: number;
  readonly outer: Uint8Array;
  readonly checks: readonly [number, number];
  readonly type: Part;
  readonly inner: Part;
  readonly secret: Part;
  readonly comment: Part;
  readonly padding?: Uint8Array;
  readonly after: Uint8Array;
}

/** The bytes of a file for the key of a seed of 32 bytes, with some fields changed. Padding is right unless given. */
export function privateKeyBytes(seed: Uint8Array, change: Partial<PrivateFields> = {}): Uint8Array {
  const key = ed25519.getPublicKey(seed);
  const f: PrivateFields = {
    ...{ magic: "openssh-key-v1\0", cipher: "none", derivation: "none", derivationOptions: "", count: 1 },
    ...{ outer: strings("ssh-ed25519", key), checks: [5, 5], type: "ssh-ed25519", inner: key, secret: join(seed, key) },
    ...{ comment: "ann@laptop", after: new Uint8Array() },
    ...change,
  };
  const secret = join(u32(f.checks[0]), u32(f.checks[1]), strings(f.type, f.inner, f.secret, f.comment));
  const padding = f.padding ?? Uint8Array.from({ length: (8 - secret.length % 8) % 8 }, (_, at) => at + 1);
  return join(
    bytesOf(f.magic),
    strings(f.cipher, f.derivation, f.derivationOptions),
    u32(f.count),
    strings(f.outer, join(secret, padding)),
    f.after,
  );
}

function someFields(random: Random): Partial<PrivateFields> {
  const change: Partial<Record<keyof PrivateFields, unknown>> = {};
  const others: { readonly [K in keyof PrivateFields]?: () => PrivateFields[K] } = {
    magic: () => pick(random, ["openssh-key-v1", "openssh-key-v2\0", ""]),
    cipher: () => pick(random, ["aes256-ctr", "", "none\0", "aes256-gcm@openssh.com"]),
    derivation: () => pick(random, ["bcrypt", "", "none"]),
    derivationOptions: () => randomText(random),
    count: () => pick(random, [0, 2, 2 ** 32 - 1]),
    outer: () => pick(random, [oddKeyBlob(random), pick(random, goodKeys).blob]),
    checks: () => [random(3), random(3)],
    type: () => pick(random, ["ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com", ""]),
    inner: () => pick(random, pick(random, goodKeys).fields),
    secret: () => randomBytes(random, pick(random, [0, 32, 63, 64, 65])),
    comment: () => randomText(random),
    padding: () => Uint8Array.from({ length: random(20) }, (_, at) => at + (random(30) === 0 ? 2 : 1)),
    after: () => randomBytes(random, random(3)),
  };
  for (const [name, make] of Object.entries(others)) {
    if (random(8) === 0) change[name as keyof PrivateFields] = make();
  }
  return change as Partial<PrivateFields>;
}

export function privateKeyText(random: Random): { readonly input: string; readonly isGood: boolean } {
  const seed = randomBytes(random, 32);
  const choice = random(10);
  const good = () => formatPrivateKey({ seed, publicKey: ed25519.getPublicKey(seed) }, "c".repeat(random(20)));
  if (choice === 0) return { input: good(), isGood: true };
  if (choice < 5) return { input: privateKeyFile(privateKeyBytes(seed, someFields(random))), isGood: false };
  const bytes = privateKeyBytes(seed);
  if (choice < 8) {
    const others = [pick(random, goodKeys).blob, bytes];
    return { input: privateKeyFile(broken(bytes, others, random)), isGood: false };
  }
  const text = bytesOf(good());
  return { input: new TextDecoder("latin1").decode(broken(text, [text, fromBase64("AAAA")], random)), isGood: false };
}
