import assert from "node:assert/strict";
import { AppError } from "../../server/errors.ts";
import { fingerprint, parsePublicKey } from "../../server/ssh/public_key.ts";
import { fromBase64, toBase64 } from "../../server/ssh/wire.ts";
import { lacks } from "../support/needs.ts";
import { judged, mutated, rows, seeded, withDir } from "./keygen.ts";

interface Accepted {
  name: string;
  text: string;
  type: string;
  comment: string;
  fingerprint: string;
}
interface Refused {
  name: string;
  text: string;
  reason: string;
  ssh_keygen: "accepts" | "refuses";
}
const accepted = rows<Accepted>("keys/accepted.jsonl");
const refused = rows<Refused>("keys/refused.jsonl");
const SENTENCE = "A valid SSH public key is required: ";

function refusalOf(text: unknown): AppError {
  try {
    parsePublicKey(text);
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: "The key was accepted" });
}

for (const row of accepted) {
  Deno.test(`parsePublicKey accepts ${row.name}`, () => {
    const key = parsePublicKey(row.text);
    assert.equal(key.type, row.type);
    assert.equal(key.comment, row.comment);
    assert.equal(key.fingerprint, row.fingerprint);
    assert.equal(fingerprint(key.blob), row.fingerprint);
    assert.equal(toBase64(key.blob), row.text.trim().split(" ")[1]);
    assert.deepEqual(key.body, key.blob.slice(4 + key.type.length));
  });
}

for (const row of refused) {
  Deno.test(`parsePublicKey refuses ${row.name}`, () => {
    const error = refusalOf(row.text);
    assert.equal(error.code, "invalid_request");
    // The list of types is long, so a reason may be given by its start.
    const reason = error.message.slice(SENTENCE.length);
    assert.equal(error.message.slice(0, SENTENCE.length), SENTENCE);
    assert.equal(reason.slice(0, row.reason.length), row.reason);
  });
}

Deno.test("parsePublicKey refuses what is not a string", () => {
  for (const value of [undefined, null, 7, true, {}, ["ssh-ed25519 AAAA"], new String(accepted[0]?.text)]) {
    assert.equal(refusalOf(value).message, `${SENTENCE}it is not text`);
  }
});

Deno.test("parsePublicKey never repeats any of the text", () => {
  for (const { name, text } of refused) {
    const { message } = refusalOf(text);
    for (let from = 0; from + 20 <= text.length; from += 10) {
      const piece = text.slice(from, from + 20);
      assert.ok(piece.includes("ssh-") || piece.includes("ecdsa") || !message.includes(piece), name);
    }
  }
});

Deno.test("parsePublicKey names the certificate type of each key type", () => {
  const types = new Map(accepted.map(({ text }) => parsePublicKey(text)).map((key) => [key.type, key.certificateType]));
  assert.deepEqual(Object.fromEntries(types), {
    "ssh-ed25519": "ssh-ed25519-cert-v01@openssh.com",
    "ssh-rsa": "ssh-rsa-cert-v01@openssh.com",
    "ecdsa-sha2-nistp256": "ecdsa-sha2-nistp256-cert-v01@openssh.com",
    "ecdsa-sha2-nistp384": "ecdsa-sha2-nistp384-cert-v01@openssh.com",
    "ecdsa-sha2-nistp521": "ecdsa-sha2-nistp521-cert-v01@openssh.com",
    "sk-ssh-ed25519@openssh.com": "sk-ssh-ed25519-cert-v01@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com": "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com",
  });
});

Deno.test("parsePublicKey refuses every key cut off at any byte", () => {
  for (const { text } of accepted.slice(0, 7)) {
    const [type = "", base64 = ""] = text.split(" ");
    const blob = fromBase64(base64);
    for (let length = 1; length < blob.length; length++) {
      assert.equal(refusalOf(`${type} ${toBase64(blob.slice(0, length))}`).message, `${SENTENCE}it is cut off`);
    }
  }
});

Deno.test("parsePublicKey throws only invalid_request when keys are mutated", () => {
  const random = seeded(20_260_131);
  let refusals = 0;
  for (let round = 0; round < 400; round++) {
    for (const { text } of accepted.slice(0, 7)) {
      const [type = "", base64 = ""] = text.split(" ");
      const inBlob = `${type} ${toBase64(mutated(fromBase64(base64), random))}`;
      const inText = new TextDecoder("latin1").decode(mutated(new TextEncoder().encode(text), random));
      for (const hostile of [inBlob, inText]) {
        try {
          parsePublicKey(hostile);
        } catch (error) {
          assert.ok(error instanceof AppError && error.code === "invalid_request", `${hostile}: ${error}`);
          refusals++;
        }
      }
    }
  }
  assert.ok(refusals > 4_000 && refusals < 5_600, `${refusals} of 5600 were refused`);
});

Deno.test({
  name: "parsePublicKey and ssh-keygen -l agree on good keys, and on bad ones that ssh-keygen judges",
  ignore: lacks("ssh-keygen"),
  fn: () =>
    withDir((dir) => {
      for (const row of accepted) {
        assert.equal(judged(dir, "-lf", row.text.trim()).stdout.split(" ")[1], row.fingerprint, row.name);
      }
      for (const row of refused.filter(({ ssh_keygen }) => ssh_keygen === "refuses")) {
        assert.equal(judged(dir, "-lf", row.text).ok, false, row.name);
      }
    }),
});
