import assert from "node:assert/strict";
import { openDatabase } from "../../db/open.ts";
import { insertOrg } from "../../db/stores/organizations.ts";
import { AppError } from "../../server/errors.ts";
import { createOrgSecrets, secretName } from "../../server/identity/org_secrets.ts";
import {
  createSecretBox,
  generateSecretKey,
  parseSecretKeys,
  type SecretBox,
  type SecretPlace,
} from "../../server/identity/secret_box.ts";
import { testClock } from "../support/world.ts";

const PLACE: SecretPlace = { orgId: 1, kind: "secret", name: "runpod_api_key" };
const boxOf = (...keys: string[]): SecretBox =>
  createSecretBox(keys.length === 0 ? [] : parseSecretKeys(keys.join(",")));

function refusal(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof AppError, String(error));
    return error;
  }
  throw new Error("Nothing was refused");
}

Deno.test("a sealed text opens again, whatever it holds, and never looks the same twice", () => {
  const box = boxOf(generateSecretKey());
  for (const text of ["", "x", "rpa_secret", "Ünïcode 🧪\n\0", "x".repeat(20_000)]) {
    const sealed = box.seal(PLACE, text);
    assert.equal(box.open(PLACE, sealed), text);
    assert.match(sealed, /^v1\.[0-9a-f]{8}\.[A-Za-z0-9_-]+$/);
    assert.notEqual(box.seal(PLACE, text), sealed);
    if (text.length > 3) assert.ok(!sealed.includes(text));
  }
  assert.equal(box.ready, true);
});

Deno.test("a ciphertext opens only in its own place: org, kind and name", () => {
  const box = boxOf(generateSecretKey());
  const sealed = box.seal(PLACE, "secret");
  const places: SecretPlace[] = [
    { ...PLACE, orgId: 2 },
    { ...PLACE, kind: "key" },
    { ...PLACE, kind: "webhook" },
    { ...PLACE, name: "other" },
    { orgId: 1, kind: "secret", name: "" },
  ];
  for (const place of places) assert.equal(refusal(() => box.open(place, sealed)).code, "secrets_key_wrong");
  assert.equal(box.open({ ...PLACE }, sealed), "secret");
});

Deno.test("a ciphertext that was changed anywhere does not open", () => {
  const box = boxOf(generateSecretKey());
  const sealed = box.seal(PLACE, "secret");
  const [version, id, body] = sealed.split(".") as [string, string, string];
  const flip = (at: number) => body.slice(0, at) + (body[at] === "A" ? "B" : "A") + body.slice(at + 1);
  const broken = [
    "",
    "secret",
    `v2.${id}.${body}`,
    `${version}.00000000.${body}`,
    `${version}.${id}`,
    `${version}.${id}.`,
    `${version}.${id}.AAAA`,
    `${version}.${id}.${body.slice(0, -4)}`,
    ...[0, 10, 17, 20, body.length - 4].map((at) => `${version}.${id}.${flip(at)}`),
  ];
  for (const text of broken) {
    const error = refusal(() => box.open(PLACE, text));
    assert.equal(error.code, "secrets_key_wrong", text);
    assert.equal(error.message, "SECRETS_KEY cannot decrypt this organization's secrets");
  }
  const key = refusal(() => box.open({ ...PLACE, kind: "key" }, "broken"));
  assert.equal(key.message, "SECRETS_KEY cannot decrypt this organization's SSH keys");
});

Deno.test("of several keys the first encrypts and all decrypt", () => {
  const [old, young] = [generateSecretKey(), generateSecretKey()];
  const before = boxOf(old);
  const both = boxOf(young, old);
  const sealedBefore = before.seal(PLACE, "secret");
  const sealedNow = both.seal(PLACE, "secret");
  assert.equal(both.open(PLACE, sealedBefore), "secret");
  assert.equal(both.open(PLACE, sealedNow), "secret");
  assert.deepEqual([both.isCurrent(sealedBefore), both.isCurrent(sealedNow)], [false, true]);
  assert.equal(boxOf(young).open(PLACE, sealedNow), "secret");
  assert.equal(refusal(() => before.open(PLACE, sealedNow)).code, "secrets_key_wrong");
  assert.equal(refusal(() => boxOf(young).open(PLACE, sealedBefore)).code, "secrets_key_wrong");
});

Deno.test("without a key nothing is sealed or opened, and it says so", () => {
  const box = boxOf();
  assert.equal(box.ready, false);
  const sealed = boxOf(generateSecretKey()).seal(PLACE, "x");
  for (const work of [() => box.seal(PLACE, "x"), () => box.open(PLACE, sealed)]) {
    const error = refusal(work);
    assert.deepEqual([error.code, error.status], ["secrets_key_missing", 503]);
    assert.equal(error.message, "SECRETS_KEY is not configured on this server");
  }
  assert.equal(box.isCurrent(sealed), false);
});

Deno.test("parseSecretKeys names the entry that is wrong and never shows any of it", () => {
  const good = generateSecretKey();
  const wrong = [
    "",
    "short",
    "x".repeat(42),
    "x".repeat(44),
    "x".repeat(45),
    `${good.slice(0, 42)}+`,
    `${good.slice(0, 42)}/`,
    `${good.slice(0, 20)} ${good.slice(20, 42)}`,
    `${good}==`,
  ];
  for (const entry of wrong) {
    for (const [text, number] of [[entry, 1], [`${good},${entry}`, 2], [`${good}, ${good},${entry}`, 3]] as const) {
      const error = refusal(() => parseSecretKeys(text));
      assert.equal(error.code, "usage");
      assert.ok(
        error.message.startsWith(`SECRETS_KEY entry ${number} must be 32 bytes in URL-safe base64`),
        error.message,
      );
      assert.ok(!error.message.includes(good) && (entry.length < 6 || !error.message.includes(entry)));
    }
  }
  assert.equal(parseSecretKeys(` ${good} , ${generateSecretKey()}= `).length, 2);
});

Deno.test("generateSecretKey makes keys that parse and are never the same", () => {
  const keys = Array.from({ length: 20 }, generateSecretKey);
  assert.equal(new Set(keys).size, 20);
  const parsed = parseSecretKeys(keys.join(","));
  assert.ok(parsed.every((key) => key.bytes.length === 32));
  assert.equal(new Set(parsed.map((key) => key.id)).size, 20);
});

Deno.test("an org's secret does not open in another org's row, and a changed row is read anew", () => {
  const db = openDatabase(":memory:");
  const clock = testClock();
  const secrets = createOrgSecrets(db, boxOf(generateSecretKey()), clock);
  const org = (prefix: string, guildId: string) =>
    insertOrg(
      db,
      { prefix, name: prefix, guildId, officerRoleIds: [], memberRoleIds: [], podImage: null },
      clock.now(),
    );
  const [one, two] = [org("one", "1"), org("two", "2")];
  assert.equal(secrets.read(one, "runpod_api_key"), null);
  assert.deepEqual(secrets.describe(one, "runpod_api_key"), { configured: false, last4: null, updatedAt: null });
  secrets.write(one, "runpod_api_key", "rpa_first_1234", "me");
  secrets.write(two, "runpod_api_key", "rpa_second_5678", "me");
  assert.deepEqual(secrets.describe(one, "runpod_api_key"), {
    configured: true,
    last4: "1234",
    updatedAt: clock.now(),
  });
  assert.equal(secrets.read(one, "runpod_api_key"), "rpa_first_1234");
  db.run(
    "update org_secrets set ciphertext = (select ciphertext from org_secrets where org_id = ?) where org_id = ?",
    one.id,
    two.id,
  );
  assert.equal(refusal(() => secrets.read(two, "runpod_api_key")).code, "secrets_key_wrong");
  secrets.write(one, "runpod_api_key", "rpa_third_9999", "me");
  assert.equal(secrets.read(one, "runpod_api_key"), "rpa_third_9999");
  assert.equal(secrets.remove(one, "runpod_api_key"), true);
  assert.equal(secrets.remove(one, "runpod_api_key"), false);
  assert.equal(secrets.read(one, "runpod_api_key"), null);
  assert.equal(
    refusal(() => secretName("password")).message,
    "The secret name must be one of runpod_api_key: password",
  );
  db.close();
});
