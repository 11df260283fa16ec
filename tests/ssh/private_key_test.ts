import assert from "node:assert/strict";
// @ts-types="npm:@types/ssh2@1.15.6"
import ssh2 from "ssh2";
import { AppError } from "../../server/errors.ts";
import {
  formatPrivateKey,
  generateKeyPair,
  type KeyPair,
  parsePrivateKey,
  publicLine,
  signerOf,
} from "../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { Verifier } from "../../server/ssh/signer.ts";
import { fromBase64, toBase64, Writer } from "../../server/ssh/wire.ts";
import { lacks } from "../support/needs.ts";
import { keygen, mutated, seeded, withDir } from "./keygen.ts";

const hex = (text: string) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** RFC 8032 section 7.1, test 2. */
const RFC = {
  seed: hex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"),
  publicKey: hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"),
};

const FIRST_LINE = "-----BEGIN OPENSSH PRIVATE KEY-----";
const LAST_LINE = "-----END OPENSSH PRIVATE KEY-----";
const pem = (bytes: Uint8Array) => `${FIRST_LINE}\n${toBase64(bytes)}\n${LAST_LINE}\n`;

interface Fields {
  magic: string;
  cipher: string;
  kdf: string;
  count: number;
  outer: Uint8Array;
  check: number[];
  type: string;
  inner: Uint8Array;
  secret: Uint8Array;
  comment: string;
  padding: Uint8Array;
  after: Uint8Array;
}

/** A private key file from its fields, each of which a test may replace. */
function file(change: Partial<Fields> = {}): string {
  const f = { ...fields(), ...change };
  const secret = new Writer().u32(f.check[0] ?? 0).u32(f.check[1] ?? 0).string(f.type).string(f.inner).string(f.secret)
    .string(f.comment).raw(f.padding).bytes();
  const outer = new Writer().string("ssh-ed25519").string(f.outer).bytes();
  return pem(
    new Writer().raw(new TextEncoder().encode(f.magic)).string(f.cipher).string(f.kdf).string("").u32(f.count)
      .string(outer).string(secret).raw(f.after).bytes(),
  );
}

function fields(): Fields {
  return {
    magic: "openssh-key-v1\0",
    cipher: "none",
    kdf: "none",
    count: 1,
    outer: RFC.publicKey,
    check: [5, 5],
    type: "ssh-ed25519",
    inner: RFC.publicKey,
    secret: Uint8Array.of(...RFC.seed, ...RFC.publicKey),
    comment: "ab",
    padding: Uint8Array.of(1, 2, 3),
    after: new Uint8Array(),
  };
}

function refusalOf(text: string): string {
  try {
    parsePrivateKey(text);
  } catch (error) {
    if (error instanceof AppError && error.code === "invalid_request") return error.message;
    throw error;
  }
  throw new assert.AssertionError({ message: "The private key was accepted" });
}

Deno.test("generateKeyPair makes a new pair each time, which signs and verifies", () => {
  const [one, two] = [generateKeyPair(), generateKeyPair()];
  assert.notDeepEqual(one.seed, two.seed);
  const data = new TextEncoder().encode("data");
  const signature = signerOf(one).sign(data);
  assert.equal(new Verifier(one.publicKey).verify(data, signature), true);
  assert.equal(new Verifier(two.publicKey).verify(data, signature), false);
});

Deno.test("signerOf makes the signature of RFC 8032", () => {
  const signature = signerOf(RFC).sign(Uint8Array.of(0x72));
  assert.deepEqual(
    signature,
    hex(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da" +
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
  );
  assert.equal(signerOf(RFC).verifier.verify(Uint8Array.of(0x73), signature), false);
});

Deno.test("signerOf refuses a public key that is not the seed's", () => {
  assert.throws(() => signerOf({ seed: RFC.seed, publicKey: generateKeyPair().publicKey }), { code: "internal_error" });
});

Deno.test("publicLine writes a line that parsePublicKey reads", () => {
  const key = parsePublicKey(publicLine(RFC.publicKey, "backend of tjas"));
  assert.equal(key.comment, "backend of tjas");
  assert.deepEqual(key.body.slice(4), RFC.publicKey);
  assert.equal(publicLine(RFC.publicKey, "").split(" ").length, 2);
});

Deno.test("publicLine and formatPrivateKey refuse a comment with a newline", () => {
  assert.throws(() => publicLine(RFC.publicKey, "a\nb"), { code: "internal_error" });
  assert.throws(() => formatPrivateKey(RFC, "a\nb"), { code: "internal_error" });
});

Deno.test("parsePrivateKey reads what formatPrivateKey writes, for every length of padding", () => {
  for (let length = 0; length < 17; length++) {
    const comment = "c".repeat(length);
    const text = formatPrivateKey(RFC, comment);
    assert.ok(text.split("\n").every((line) => line.length <= 70), text);
    assert.deepEqual(parsePrivateKey(text), { ...RFC, comment });
    assert.deepEqual(parsePrivateKey(text.replaceAll("\n", "\r\n")), { ...RFC, comment });
  }
});

Deno.test("parsePrivateKey accepts the file that the refusals below start from", () => {
  assert.deepEqual(parsePrivateKey(file()), { ...RFC, comment: "ab" });
});

const other = generateKeyPair();
const faults: [string, string, string][] = [
  ["an empty text", "", "its first line is not -----BEGIN OPENSSH PRIVATE KEY-----"],
  ["a PKCS#8 file", file().replaceAll("OPENSSH ", ""), "its first line is not -----BEGIN OPENSSH PRIVATE KEY-----"],
  [
    "a file without its last line",
    file().replace(LAST_LINE, ""),
    "its last line is not -----END OPENSSH PRIVATE KEY-----",
  ],
  ["a file with nothing inside", `${FIRST_LINE}\n${LAST_LINE}`, "its base64 is malformed"],
  ["a very long text", file() + "\n".repeat(9_000), "it is longer than 8192 characters"],
  ["another magic", file({ magic: "openssh-key-v2\0" }), "it is not in the format openssh-key-v1"],
  [
    "an encrypted file",
    file({ cipher: "aes256-ctr", kdf: "bcrypt" }),
    "it is protected by a passphrase, remove it with ssh-keygen -p",
  ],
  ["a key derivation without a cipher", file({ kdf: "bcrypt" }), "its key derivation is not none"],
  ["two keys", file({ count: 2 }), "it does not hold exactly one key"],
  ["no keys", file({ count: 0 }), "it does not hold exactly one key"],
  ["bytes at the end", file({ after: Uint8Array.of(0) }), "there are bytes after the last field of the private key"],
  ["different check numbers", file({ check: [5, 6] }), "its two check numbers differ"],
  ["another key type", file({ type: "ssh-ed25518" }), "its key type is not ssh-ed25519"],
  [
    "a private key of 63 bytes",
    file({ secret: new Uint8Array(63), padding: Uint8Array.of(1, 2, 3, 4) }),
    "its private key is not 64 bytes",
  ],
  ["another public key outside", file({ outer: other.publicKey }), "its public key does not belong to its private key"],
  ["another public key inside", file({ inner: other.publicKey }), "its public key does not belong to its private key"],
  [
    "another public key after the seed",
    file({ secret: Uint8Array.of(...RFC.seed, ...other.publicKey) }),
    "its public key does not belong to its private key",
  ],
  [
    "another seed",
    file({ secret: Uint8Array.of(...other.seed, ...RFC.publicKey) }),
    "its public key does not belong to its private key",
  ],
  ["a comment with a newline", file({ comment: "\na" }), "its comment has characters other than printable ASCII"],
  ["wrong padding", file({ padding: Uint8Array.of(1, 2, 2) }), "its padding is wrong"],
  [
    "a whole block of padding too many",
    file({ padding: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11) }),
    "its padding is wrong",
  ],
  ["missing padding", file({ padding: new Uint8Array() }), "its private part is not padded to 8 bytes"],
];
for (const [name, text, reason] of faults) {
  Deno.test(`parsePrivateKey refuses ${name}`, () => {
    assert.equal(refusalOf(text), `A valid OpenSSH private key is required: ${reason}`);
  });
}

Deno.test("parsePrivateKey throws only invalid_request when a file is mutated", () => {
  const random = seeded(8_032);
  const [, ...lines] = formatPrivateKey(RFC, "somebody").trim().split("\n");
  const bytes = fromBase64(lines.slice(0, -1).join(""));
  let refusals = 0;
  for (let round = 0; round < 2_000; round++) {
    try {
      const read: KeyPair = parsePrivateKey(pem(mutated(bytes, random)));
      assert.deepEqual([read.seed, read.publicKey], [RFC.seed, RFC.publicKey]);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      assert.equal(error.code, "invalid_request");
      refusals++;
    }
  }
  assert.ok(refusals > 1_700, `${refusals} of 2000 were refused`);
});

Deno.test("formatPrivateKey writes what ssh2 reads", () => {
  const pair = generateKeyPair();
  const key = ssh2.utils.parseKey(formatPrivateKey(pair, "backend"));
  assert.ok(!(key instanceof Error), String(key));
  assert.equal(key.type, "ssh-ed25519");
  assert.equal(key.comment, "backend");
  assert.equal(toBase64(key.getPublicSSH()), publicLine(pair.publicKey, "").split(" ")[1]);
});

Deno.test({
  name: "formatPrivateKey writes what ssh-keygen -y reads",
  ignore: lacks("ssh-keygen"),
  fn: () =>
    withDir((dir) => {
      for (const comment of ["", "a", "backend of the org", "c".repeat(200)]) {
        const pair = generateKeyPair();
        Deno.writeTextFileSync(`${dir}/key`, formatPrivateKey(pair, comment), { mode: 0o600 });
        const { stdout, stderr } = keygen("-y", "-f", `${dir}/key`);
        assert.equal(stdout.trim(), publicLine(pair.publicKey, comment), stderr);
      }
    }),
});

Deno.test({
  name: "parsePrivateKey reads what ssh-keygen makes and refuses its encrypted and its RSA keys",
  ignore: lacks("ssh-keygen"),
  fn: () =>
    withDir((dir) => {
      keygen("-q", "-t", "ed25519", "-N", "", "-C", "ann@laptop", "-f", `${dir}/plain`);
      const pair = parsePrivateKey(Deno.readTextFileSync(`${dir}/plain`));
      assert.equal(publicLine(pair.publicKey, pair.comment), Deno.readTextFileSync(`${dir}/plain.pub`).trim());
      keygen("-q", "-t", "ed25519", "-N", "secret", "-f", `${dir}/locked`);
      assert.match(refusalOf(Deno.readTextFileSync(`${dir}/locked`)), /it is protected by a passphrase/);
      keygen("-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", `${dir}/rsa`);
      assert.match(refusalOf(Deno.readTextFileSync(`${dir}/rsa`)), /its key type is not ssh-ed25519/);
    }),
});
