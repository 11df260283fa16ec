import assert from "node:assert/strict";
import { AppError } from "../../server/errors.ts";
import {
  type CertificateSpec,
  describeCertificate,
  issueCertificate,
  parseCertificate,
  randomSerial,
  validateCertificate,
} from "../../server/ssh/certificate.ts";
import { formatPrivateKey, generateKeyPair, parsePrivateKey, publicLine } from "../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { type Signer, signerOf } from "../../server/ssh/signer.ts";
import { toBase64, Writer } from "../../server/ssh/wire.ts";
import { lacks } from "../support/needs.ts";
import { judged, keygen, mutated, rows, seeded, withDir } from "./keygen.ts";

interface Accepted {
  name: string;
  key: string;
  spec: Omit<CertificateSpec, "serial"> & { serial: string };
  line: string;
}
interface Refused {
  name: string;
  line: string;
  reason: string;
  ssh_keygen: "accepts" | "refuses";
}
const accepted = rows<Accepted>("certificates/accepted.jsonl");
const refused = rows<Refused>("certificates/refused.jsonl");
const vectorCa = new URL("../vectors/certificates/ca", import.meta.url);
const ca = signerOf(parsePrivateKey(Deno.readTextFileSync(vectorCa)));
const { verifier } = ca;
const otherCa = signerOf(generateKeyPair());

const key = parsePublicKey(accepted[0]?.key);
const spec: CertificateSpec = {
  serial: 77n,
  keyId: "discord:123456789012345678:ann",
  principals: ["gf-abc123", "gf-def456"],
  validAfter: 1_769_903_700,
  validBefore: 1_769_947_200,
  forceCommand: "/usr/local/bin/godfather-login ann",
  extensions: ["permit-port-forwarding", "permit-pty"],
};

const SENTENCE = "A valid SSH certificate is required: ";

function specOf(row: Accepted): CertificateSpec {
  return { ...row.spec, serial: BigInt(row.spec.serial) };
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

for (const row of accepted) {
  Deno.test(`issueCertificate makes the bytes of ssh-keygen -s for ${row.name}`, () => {
    const { nonce } = parseCertificate(row.line);
    assert.equal(issueCertificate(parsePublicKey(row.key), { ...specOf(row), nonce }, ca).line, row.line);
  });
}

Deno.test({
  name: "issueCertificate makes the bytes of ssh-keygen -s with a CA and keys made now",
  ignore: lacks("ssh-keygen"),
  fn: () =>
    withDir((dir) => {
      const pair = generateKeyPair();
      Deno.writeTextFileSync(`${dir}/ca`, formatPrivateKey(pair, "user_ca"), { mode: 0o600 });
      Deno.writeTextFileSync(`${dir}/key.pub`, `${publicLine(generateKeyPair().publicKey, "ann@laptop")}\n`);
      const made = keygen(
        ...["-q", "-s", `${dir}/ca`, "-I", spec.keyId, "-n", spec.principals.join(","), "-z", `${spec.serial}`],
        ...["-V", "20260131235500:20260201120000", "-O", "clear", "-O", `force-command=${spec.forceCommand}`],
        ...["-O", "permit-pty", "-O", "permit-port-forwarding", `${dir}/key.pub`],
      );
      assert.ok(made.ok, made.stderr);
      const line = Deno.readTextFileSync(`${dir}/key-cert.pub`);
      const { nonce } = parseCertificate(line);
      const subject = parsePublicKey(Deno.readTextFileSync(`${dir}/key.pub`));
      const ours = issueCertificate(subject, { ...spec, nonce }, signerOf(pair));
      assert.equal(`${ours.line} ann@laptop\n`, line);
    }),
});

Deno.test({
  name: "describeCertificate gives the lines of ssh-keygen -L for every kind of certificate we issue",
  ignore: lacks("ssh-keygen"),
  fn: () =>
    withDir((dir) => {
      for (const row of accepted) {
        const { line } = issueCertificate(parsePublicKey(row.key), specOf(row), ca);
        const listing = judged(dir, "-Lf", line);
        assert.ok(listing.ok, listing.stderr);
        const ours = describeCertificate(parseCertificate(line)).replace(/(\d\d:\d\d:\d\d)Z/g, "$1");
        assert.equal(ours, listing.stdout.slice(listing.stdout.indexOf("\n") + 1));
      }
    }),
});

Deno.test("describeCertificate names open ends and times beyond the calendar", () => {
  const parsed = parseCertificate(issueCertificate(key, spec, ca).blob);
  const valid = (validAfter: bigint, validBefore: bigint) =>
    /Valid: (.*)/.exec(describeCertificate({ ...parsed, validAfter, validBefore }))?.[1];
  assert.equal(valid(0n, 2n ** 64n - 1n), "forever");
  assert.equal(valid(1n, 2n ** 64n - 1n), "after 1970-01-01T00:00:01Z");
  assert.equal(valid(0n, 60n), "before 1970-01-01T00:01:00Z");
  assert.equal(valid(1n, 2n ** 64n - 2n), "from 1970-01-01T00:00:01Z to second 18446744073709551614");
});

Deno.test("issueCertificate gives a line without comment or newline, and a new nonce each time", () => {
  const [one, two] = [issueCertificate(key, spec, ca), issueCertificate(key, spec, ca)];
  assert.equal(one.line, `ssh-ed25519-cert-v01@openssh.com ${toBase64(one.blob)}`);
  assert.notDeepEqual(parseCertificate(one.line).nonce, parseCertificate(two.line).nonce);
});

Deno.test("parseCertificate returns every field of the certificate", () => {
  const parsed = parseCertificate(issueCertificate(key, spec, ca).line);
  assert.equal(parsed.type, key.certificateType);
  assert.deepEqual(parsed.key, { ...key, comment: "" });
  assert.equal(parsed.serial, spec.serial);
  assert.equal(parsed.keyId, spec.keyId);
  assert.deepEqual(parsed.principals, spec.principals);
  assert.equal(parsed.validAfter, BigInt(spec.validAfter));
  assert.equal(parsed.validBefore, BigInt(spec.validBefore));
  assert.deepEqual([...parsed.criticalOptions], [["force-command", spec.forceCommand]]);
  assert.deepEqual([...parsed.extensions], [["permit-port-forwarding", ""], ["permit-pty", ""]]);
  assert.deepEqual(parsed.caPublicKey, ca.publicKey);
  assert.equal(parsed.caFingerprint, parsePublicKey(publicLine(ca.publicKey, "")).fingerprint);
});

for (const row of refused) {
  Deno.test(`parseCertificate refuses ${row.name}`, () => {
    const error = thrown(() => parseCertificate(row.line));
    assert.equal(error.code, "invalid_request");
    assert.equal(error.message, SENTENCE + row.reason);
  });
}

Deno.test({
  name: "parseCertificate and ssh-keygen -L agree on bad certificates that ssh-keygen judges",
  ignore: lacks("ssh-keygen"),
  fn: () =>
    withDir((dir) => {
      for (const row of refused.filter(({ ssh_keygen }) => ssh_keygen === "refuses")) {
        assert.equal(judged(dir, "-Lf", row.line).ok, false, row.name);
      }
    }),
});

const badSpecs: [string, Partial<Record<keyof CertificateSpec, unknown>>, string][] = [
  ["serial 0", { serial: 0n }, "serial is not between 1 and 2^63-1"],
  ["a negative serial", { serial: -1n }, "serial is not between 1 and 2^63-1"],
  ["a serial of 64 bits", { serial: 2n ** 63n }, "serial is not between 1 and 2^63-1"],
  ["an empty key id", { keyId: "" }, "key id is empty"],
  ["a key id with a newline", { keyId: "ann\nroot" }, "key id has characters other than printable ASCII"],
  ["a key id that is not ASCII", { keyId: "änn" }, "key id has characters other than printable ASCII"],
  ["a very long key id", { keyId: "a".repeat(257) }, "key id is longer than 256 characters"],
  ["no principals", { principals: [] }, "principals are empty, which sshd takes for anybody"],
  ["257 principals", { principals: Array.from({ length: 257 }, (_, i) => `p${i}`) }, "principals are more than 256"],
  ["a principal twice", { principals: ["a", "b", "a"] }, "principals name one twice"],
  ...["", "a b", "a,b", "a\n", "ä"].map((name): [string, { principals: string[] }, string] => [
    `the principal ${JSON.stringify(name)}`,
    { principals: ["gf-a", name] },
    "principals have one that is empty or has characters other than printable ASCII, or a comma",
  ]),
  ["an end that is the start", { validBefore: spec.validAfter }, "end is not after its start"],
  ["an end before the start", { validBefore: spec.validAfter - 1 }, "end is not after its start"],
  ["half seconds", { validAfter: 0.5 }, "start is not a whole number of seconds since 1970"],
  ["a start before 1970", { validAfter: -1 }, "start is not a whole number of seconds since 1970"],
  ["an end that is no number", { validBefore: NaN }, "end is not a whole number of seconds since 1970"],
  ["an empty forced command", { forceCommand: "" }, "forced command is empty"],
  [
    "a forced command with a newline",
    { forceCommand: "id\nsh" },
    "forced command has characters other than printable ASCII",
  ],
  ["an unknown extension", { extensions: ["permit-root"] }, "extensions have one that is none of"],
  ["X11 forwarding", { extensions: ["permit-X11-forwarding"] }, "extensions have one that is none of"],
  ["an extension twice", { extensions: ["permit-pty", "permit-pty"] }, "extensions name one twice"],
  [
    "extensions out of order",
    { extensions: ["permit-pty", "permit-agent-forwarding"] },
    "extensions are not in ASCII order",
  ],
  ["a nonce of 31 bytes", { nonce: new Uint8Array(31) }, "nonce is not 32 bytes"],
];
for (const [name, change, fault] of badSpecs) {
  Deno.test(`issueCertificate refuses ${name} before it signs`, () => {
    const signer: Signer = { ...ca, sign: () => assert.fail("It signed") };
    const error = thrown(() => issueCertificate(key, { ...spec, ...change } as CertificateSpec, signer));
    assert.equal(error.code, "internal_error");
    assert.ok(error.message.startsWith(`The certificate's ${fault}`), error.message);
  });
}

const liars: [string, Signer, string][] = [
  ["signs with another key", { ...ca, sign: otherCa.sign }, "its signature is not the CA's"],
  ["signs something else", { ...ca, sign: () => ca.sign(Uint8Array.of(1)) }, "its signature is not the CA's"],
  ["returns a short signature", { ...ca, sign: (data) => ca.sign(data).slice(1) }, "its signature is not 64 bytes"],
  ["names another public key", { ...ca, publicKey: otherCa.publicKey }, "its CA key differs"],
  ["is two signers", { ...ca, verifier: otherCa.verifier }, "its CA key differs"],
];
for (const [name, signer, reason] of liars) {
  Deno.test(`issueCertificate returns nothing when the signer ${name}`, () => {
    const error = thrown(() => issueCertificate(key, spec, signer));
    assert.equal(error.code, "internal_error");
    assert.equal(error.message, `The finished certificate is not the one asked for: ${reason}`);
  });
}

Deno.test("validateCertificate names the field that differs although the CA signed it", () => {
  const { blob } = issueCertificate(key, { ...spec, nonce: new Uint8Array(32) }, ca);
  const otherKey = parsePublicKey(publicLine(generateKeyPair().publicKey, ""));
  const rsaKey = parsePublicKey(accepted.find(({ name }) => name === "ssh-rsa member")?.key);
  const { forceCommand: _, ...withoutCommand } = spec;
  const asked: [string, Partial<Parameters<typeof validateCertificate>[1]>][] = [
    ["its key differs", { key: otherKey }],
    ["its key type differs", { key: rsaKey }],
    ["its type differs", { key: { ...key, certificateType: rsaKey.certificateType } }],
    ["its nonce differs", { spec: { ...spec, nonce: new Uint8Array(32).fill(1) } }],
    ["its serial differs", { spec: { ...spec, serial: 78n } }],
    ["its key id differs", { spec: { ...spec, keyId: `${spec.keyId}a` } }],
    ["its principals differ", { spec: { ...spec, principals: ["gf-abc123"] } }],
    ["its principals differ", { spec: { ...spec, principals: [...spec.principals].reverse() } }],
    ["its start differs", { spec: { ...spec, validAfter: spec.validAfter + 1 } }],
    ["its end differs", { spec: { ...spec, validBefore: spec.validBefore + 1 } }],
    ["its critical options differ", { spec: withoutCommand }],
    ["its critical options differ", { spec: { ...spec, forceCommand: "/usr/local/bin/godfather-login bob" } }],
    ["its extensions differ", { spec: { ...spec, extensions: ["permit-pty"] } }],
    ["its extensions differ", { spec: { ...spec, extensions: ["permit-agent-forwarding", "permit-pty"] } }],
    ["its CA key differs", { verifier: otherCa.verifier }],
  ];
  validateCertificate(blob, { key, spec, verifier });
  for (const [reason, change] of asked) {
    const error = thrown(() => validateCertificate(blob, { key, spec, verifier, ...change }));
    assert.equal(error.code, "internal_error");
    assert.equal(error.message, `The finished certificate is not the one asked for: ${reason}`);
  }
});

Deno.test("parseCertificate and validateCertificate notice a change of any single byte", () => {
  const { blob } = issueCertificate(key, spec, ca);
  for (let at = 0; at < blob.length; at++) {
    const changed = blob.map((byte, index) => index === at ? byte ^ 0x20 : byte);
    assert.equal(
      thrown(() => validateCertificate(changed, { key, spec, verifier })).code,
      "internal_error",
      `byte ${at}`,
    );
    assert.equal(thrown(() => parseCertificate(changed)).code, "invalid_request", `byte ${at}`);
  }
});

Deno.test("parseCertificate refuses a certificate cut off at any byte", () => {
  const { blob } = issueCertificate(key, spec, ca);
  for (let length = 0; length < blob.length; length++) {
    assert.equal(thrown(() => parseCertificate(blob.slice(0, length))).message, `${SENTENCE}it is cut off`);
  }
});

Deno.test("parseCertificate throws only invalid_request when certificates are mutated and signed again", () => {
  const random = seeded(1_769_903_700);
  let refusals = 0;
  for (let round = 0; round < 150; round++) {
    for (const row of accepted) {
      const { signed } = parseCertificate(row.line);
      const changed = mutated(signed, random);
      const signature = new Writer().string("ssh-ed25519").string(ca.sign(changed)).bytes();
      const blob = new Writer().raw(changed).string(signature).bytes();
      try {
        parseCertificate(random(2) === 0 ? blob : `${row.line.split(" ")[0]} ${toBase64(blob)}`);
      } catch (error) {
        assert.ok(error instanceof AppError && error.code === "invalid_request", `${toBase64(blob)}: ${error}`);
        refusals++;
      }
    }
  }
  assert.ok(refusals > 1_400 && refusals < 2_100, `${refusals} of 2100 were refused`);
});

Deno.test("randomSerial gives different serials between 1 and 2^63-1", () => {
  const serials = Array.from({ length: 200 }, randomSerial);
  assert.equal(new Set(serials).size, serials.length);
  assert.ok(serials.every((serial) => serial > 0n && serial < 2n ** 63n));
  assert.ok(serials.some((serial) => serial >= 2n ** 62n));
});
