import assert from "node:assert/strict";
import { AppError } from "../../server/errors.ts";
import { parseCertificate } from "../../server/ssh/certificate.ts";
import {
  type KrlSpec,
  parseKrl,
  revokesCertificate,
  revokesKey,
  type SerialRange,
  writeKrl,
} from "../../server/ssh/krl.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { signerOf } from "../../server/ssh/signer.ts";
import { fromBase64 } from "../../server/ssh/wire.ts";
import { join, strings } from "./fuzz/bytes.ts";
import { krlHead, krlSection } from "./fuzz/make_krls.ts";
import { mutated, rows, seeded } from "./keygen.ts";
import { ca, certificateOf, keys, krlOf, krlSpec } from "./krl_support.ts";

interface Accepted {
  name: string;
  spec: { revoked: { ca: string; serials: string[]; keyIds?: string[] }[]; keys: string[]; fingerprints: string[] };
  sha1: number;
  krl: string;
}
const accepted = rows<Accepted>("krl/accepted.jsonl");
const refused = rows<{ name: string; krl: string; reason: string }>("krl/refused.jsonl");

function rangeOf(text: string): SerialRange {
  const [from = "", to = from] = text.split("-");
  return { from: BigInt(from), to: BigInt(to) };
}

function specOf({ spec, krl }: Accepted): KrlSpec {
  const { version, generatedAt, comment } = parseKrl(fromBase64(krl));
  return {
    ...{ version, generatedAt: Number(generatedAt), comment },
    revoked: spec.revoked.map((of) => ({
      ca: parsePublicKey(of.ca),
      serials: of.serials.map(rangeOf),
      ...(of.keyIds === undefined ? {} : { keyIds: of.keyIds }),
    })),
    keys: spec.keys.map((line) => parsePublicKey(line)),
    fingerprints: spec.fingerprints,
  };
}

function thrown(act: () => unknown): AppError {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: "Nothing was thrown" });
}

/** What each says in the end, whatever form it has. */
const meaning = (krl: Uint8Array) => {
  const { certificates, keys, sha256 } = parseKrl(krl);
  return { certificates: certificates.toSorted((a, b) => a.ca < b.ca ? -1 : 1), keys, sha256 };
};

// Here ssh-keygen opens a second bitmap or list where one of ours takes fewer bytes.
const OTHER_FORM = new Set(["serials far apart, near and in a row", "the least and the greatest serials", "two CAs"]);

for (const row of accepted.filter((one) => one.sha1 === 0)) {
  const same = !OTHER_FORM.has(row.name);
  Deno.test(`writeKrl makes the ${same ? "bytes" : "list, not longer,"} of ssh-keygen -k for ${row.name}`, () => {
    const [ours, theirs] = [writeKrl(specOf(row)), fromBase64(row.krl)];
    if (same) assert.deepEqual(ours, theirs);
    assert.deepEqual(meaning(ours), meaning(theirs));
    assert.ok(ours.length <= theirs.length, `${ours.length} bytes, ${theirs.length} of ssh-keygen`);
  });
}

for (const row of refused) {
  Deno.test(`parseKrl refuses ${row.name}`, () => {
    const error = thrown(() => parseKrl(fromBase64OrNone(row.krl)));
    assert.equal(error.code, "invalid_request");
    assert.equal(error.message, `A valid key revocation list is required: ${row.reason}`);
  });
}

const fromBase64OrNone = (text: string) => text === "" ? new Uint8Array() : fromBase64(text);

Deno.test("parseKrl returns the header, and serials as few ranges whatever form they have", () => {
  const krl = parseKrl(writeKrl({
    ...{ version: 2n ** 64n - 1n, generatedAt: Number.MAX_SAFE_INTEGER, comment: "orgpods club" },
    revoked: [{ ca, serials: [9n, { from: 3n, to: 5n }, 6n, 5n, 11n, { from: 4n, to: 4n }], keyIds: ["b", "a", "b"] }],
  }));
  assert.equal(krl.version, 2n ** 64n - 1n);
  assert.equal(krl.generatedAt, BigInt(Number.MAX_SAFE_INTEGER));
  assert.equal(krl.comment, "orgpods club");
  const serials = [{ from: 3n, to: 6n }, { from: 9n, to: 9n }, { from: 11n, to: 11n }];
  assert.deepEqual(krl.certificates, [{ ca: ca.blob, serials, keyIds: ["a", "b"] }]);
});

Deno.test("writeKrl makes the same bytes for the same list in another order", () => {
  const second = parsePublicKey(publicLine(generateKeyPair().publicKey, ""));
  const one = krlSpec({
    revoked: [{ ca, serials: [5n, 900n, { from: 7n, to: 70n }], keyIds: ["x", "y"] }, { ca: second, serials: [1n] }],
    keys: keys.slice(0, 3),
    fingerprints: keys.map((key) => key.fingerprint),
  });
  const other = krlSpec({
    revoked: [
      { ca: second, serials: [1n, 1n] },
      { ca, serials: [{ from: 60n, to: 70n }, { from: 7n, to: 61n }, 900n, 5n, 8n], keyIds: ["y", "x", "y"] },
    ],
    keys: [...keys.slice(0, 3).toReversed(), keys[1]!],
    fingerprints: keys.map((key) => key.fingerprint).toReversed(),
  });
  assert.deepEqual(writeKrl(one), writeKrl(other));
});

Deno.test("writeKrl takes the shortest of list, range and bitmap", () => {
  const base = krlOf(5n).length - 8;
  assert.equal(krlOf(5n, 1_000n).length, base + 16, "two far apart: eight bytes each");
  assert.equal(krlOf({ from: 5n, to: 6n }).length, base + 16, "two in a row are listed");
  assert.equal(krlOf({ from: 5n, to: 7n }).length, base + 8 + 4 + 1, "three in a row: a bitmap of one byte");
  assert.equal(krlOf({ from: 5n, to: 2n ** 63n }).length, base + 16, "a range, however long");
  const every = (step: bigint, count: number) => Array.from({ length: count }, (_, n) => 5n + BigInt(n) * step);
  assert.equal(krlOf(...every(10n, 100)).length, base + 8 + 4 + 124, "one bitmap of 991 bits");
  assert.equal(krlOf(...every(100n, 100)).length, base + 800, "gaps over 64: a list");
  // Two dense groups: it pays to bridge a gap of 100 bits, but not one of 400.
  const group = (from: bigint) => every(2n, 40).map((serial) => serial + from);
  const apart = krlOf(...group(0n), ...group(480n)).length - base;
  assert.equal(krlOf(...group(0n), ...group(180n)).length - base, 8 + 4 + 33, "one bitmap");
  assert.equal(apart, 2 * (8 + 4 + 10) + 5, "two bitmaps");
});

Deno.test("writeKrl keeps each bitmap within what OpenSSH reads", () => {
  const serials = Array.from({ length: 20_001 }, (_, n) => 1n + 2n * BigInt(n));
  const krl = krlOf(...serials);
  assert.equal(parseKrl(krl).certificates[0]?.serials.length, serials.length);
  assert.ok(krl.length < 5_200, "three bitmaps");
});

Deno.test("revokesCertificate and revokesKey refuse by serial, key id, key, fingerprint and CA, and nothing else", () => {
  const otherCa = signerOf(generateKeyPair());
  const certificate = parseCertificate(certificateOf(77n));
  const elsewhere = parseCertificate(certificateOf(77n, otherCa));
  const verdicts = (spec: Partial<KrlSpec>) => {
    const krl = parseKrl(writeKrl(krlSpec(spec)));
    return [revokesCertificate(krl, certificate), revokesCertificate(krl, elsewhere), revokesKey(krl, keys[0]!.blob)];
  };
  const none = [false, false, false];
  const others = keys.filter((key) => key.fingerprint !== keys[0]!.fingerprint);
  assert.deepEqual(verdicts({}), none);
  assert.deepEqual(verdicts({ revoked: [{ ca, serials: [77n] }] }), [true, false, false]);
  assert.deepEqual(verdicts({ revoked: [{ ca, serials: [76n, 78n, { from: 79n, to: 2n ** 64n - 1n }] }] }), none);
  assert.deepEqual(verdicts({ revoked: [{ ca, serials: [{ from: 1n, to: 77n }] }] }), [true, false, false]);
  assert.deepEqual(verdicts({ revoked: [{ ca, serials: [], keyIds: ["discord:1:ann"] }] }), [true, false, false]);
  assert.deepEqual(verdicts({ revoked: [{ ca, serials: [], keyIds: ["discord:1:an"] }] }), none);
  assert.deepEqual(verdicts({ keys: [keys[0]!] }), [true, true, true]);
  assert.deepEqual(verdicts({ fingerprints: [keys[0]!.fingerprint] }), [true, true, true]);
  assert.deepEqual(verdicts({ keys: [ca] }), [true, false, false]);
  assert.deepEqual(verdicts({ keys: others, fingerprints: others.map((key) => key.fingerprint) }), none);
  for (const { krl } of accepted.filter((row) => row.sha1 > 0)) {
    const rsa = keys.find((key) => key.type === "ssh-rsa")!;
    assert.ok(revokesKey(parseKrl(fromBase64(krl)), rsa.blob), "by SHA-1");
  }
});

const SERIALS = "serials have one that is not between 1 and 2^64-1, or a range that ends before it begins";
const [first] = keys as [(typeof keys)[number]];
const FINGERPRINT_SIZE = "fingerprint of the key revocation list is malformed: it is not SHA256: and 43 characters";
const bad: [name: string, spec: Partial<KrlSpec>, fault: string][] = [
  ["serial 0", { revoked: [{ ca, serials: [0n] }] }, SERIALS],
  ["a negative serial", { revoked: [{ ca, serials: [-1n] }] }, SERIALS],
  ["serial 2^64", { revoked: [{ ca, serials: [2n ** 64n] }] }, SERIALS],
  ["a range beyond 2^64-1", { revoked: [{ ca, serials: [{ from: 5n, to: 2n ** 64n }] }] }, SERIALS],
  ["a range from 0", { revoked: [{ ca, serials: [{ from: 0n, to: 5n }] }] }, SERIALS],
  ["a range backwards", { revoked: [{ ca, serials: [{ from: 6n, to: 5n }] }] }, SERIALS],
  ["a serial that is no bigint", { revoked: [{ ca, serials: [5 as unknown as bigint] }] }, SERIALS],
  ["one CA twice", { revoked: [{ ca, serials: [1n] }, { ca, serials: [2n] }] }, "certificates name one CA twice"],
  [
    "an RSA key as CA",
    { revoked: [{ ca: keys.find((key) => key.type === "ssh-rsa")!, serials: [1n] }] },
    "CA is not an",
  ],
  ["a CA with another blob", { revoked: [{ ca: { ...ca, blob: first.blob }, serials: [1n] }] }, "CA is not the key"],
  ["a key with another blob", { keys: [{ ...first, blob: ca.blob }] }, "keys have one that is not the key"],
  ["an empty key id", { revoked: [{ ca, serials: [], keyIds: [""] }] }, "key ids have one"],
  ["a key id of two lines", { revoked: [{ ca, serials: [], keyIds: ["a\nb"] }] }, "key ids have one"],
  ["a key id of 257 characters", { revoked: [{ ca, serials: [], keyIds: ["a".repeat(257)] }] }, "key ids have one"],
  ["a negative version", { version: -1n }, "version is not a 64-bit number"],
  ["version 2^64", { version: 2n ** 64n }, "version is not a 64-bit number"],
  ["a time of half a second", { generatedAt: 0.5 }, "time is not a whole number of seconds"],
  ["a time before 1970", { generatedAt: -1 }, "time is not a whole number of seconds"],
  ["a comment with a zero", { comment: "a\0" }, "comment has characters other than printable ASCII"],
  ["a long comment", { comment: "a".repeat(257) }, "comment is longer than 256 characters"],
  ["a short fingerprint", { fingerprints: [first.fingerprint.slice(0, -1)] }, FINGERPRINT_SIZE],
  ["a fingerprint with stray bits", { fingerprints: [`SHA256:${"A".repeat(42)}B`] }, "its base64 is not canonical"],
  ["an MD5 fingerprint", { fingerprints: ["MD5:00:11"] }, FINGERPRINT_SIZE],
];
for (const [name, spec, fault] of bad) {
  Deno.test(`writeKrl refuses ${name}`, () => {
    const error = thrown(() => writeKrl(krlSpec(spec)));
    assert.equal(error.code, "internal_error");
    assert.ok(error.message.includes(fault), error.message);
  });
}

Deno.test("parseKrl names a reason or agrees with itself for lists with random faults", () => {
  const random = seeded(20_260_131);
  const bytes = accepted.filter((row) => row.krl.length < 1_000).map((row) => fromBase64(row.krl));
  let read = 0;
  for (let round = 0; round < 6_000; round++) {
    const krl = mutated(bytes[random(bytes.length)]!, random);
    try {
      const { certificates } = parseKrl(krl);
      read++;
      const inOrder = certificates.every(({ serials }) =>
        serials.every(({ from, to }, at) => from >= 1n && to >= from && (at === 0 || from > serials[at - 1]!.to + 1n))
      );
      assert.ok(inOrder);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      assert.match(error.message, /^A valid key revocation list is required: [a-zA-Z0-9 ,^:.-]+$/);
    }
  }
  assert.ok(read > 300, `${read} were still lists`);
});

Deno.test("parseKrl refuses a list of more things than any org revokes, before it fills the memory", () => {
  // A bitmap of every other bit holds 8192 ranges in 2 KB.
  const serials = Array.from({ length: 8_192 }, (_, n) => 1n + 2n * BigInt(n));
  const one = krlOf(...serials);
  const head = krlOf().length;
  const copies = new Uint8Array(head + 130 * (one.length - head));
  copies.set(one.subarray(0, head));
  for (let copy = 0; copy < 130; copy++) copies.set(one.subarray(head), head + copy * (one.length - head));
  assert.match(thrown(() => parseKrl(copies)).message, /it names over 1000000 things$/);
  const nothings = new Uint8Array(4 * 1_000_001);
  const keyIds = krlSection(1, strings(ca.blob, ""), krlSection(0x23, nothings));
  for (const section of [krlSection(2, nothings), keyIds]) {
    const list = join(krlHead(), section);
    assert.match(thrown(() => parseKrl(list)).message, /it names over 1000000 things$/);
  }
});
