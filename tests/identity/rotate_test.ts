import assert from "node:assert/strict";
import { openDatabase } from "../../db/open.ts";
import { insertOrg } from "../../db/stores/organizations.ts";
import { createOrgSecrets } from "../../server/identity/org_secrets.ts";
import { countUnreadable, rotateSecrets } from "../../server/identity/rotate.ts";
import { createSecretBox, generateSecretKey, parseSecretKeys } from "../../server/identity/secret_box.ts";
import { createOrgKeys } from "../../server/ssh/org_keys.ts";
import { testClock } from "../support/world.ts";

/** Two orgs with a RunPod key and SSH keys, one retired key and two webhooks, all sealed with one key. */
async function filled() {
  const db = openDatabase(":memory:");
  const clock = testClock();
  const [old, young] = [generateSecretKey(), generateSecretKey()];
  const withKeys = (...list: string[]) => {
    const box = createSecretBox(parseSecretKeys(list.join(",")));
    return { box, secrets: createOrgSecrets(db, box, clock), keys: createOrgKeys(db, box, clock) };
  };
  const first = withKeys(old);
  const orgs = ["one", "two"].map((prefix, index) =>
    insertOrg(db, {
      prefix,
      name: prefix,
      guildId: String(index),
      officerRoleIds: [],
      memberRoleIds: [],
      podImage: null,
    }, clock.now())
  );
  for (const org of orgs) {
    first.secrets.write(org, "runpod_api_key", `rpa_${org.prefix}_1234`, "me");
    await first.keys.ensure(org.id);
  }
  const retired = (await first.keys.ensure(orgs[0]!.id)).backend;
  db.run("update compute_keys set retired_at = 1 where org_id = ? and kind = 'backend'", orgs[0]!.id);
  await first.keys.ensure(orgs[0]!.id);
  const url = "https://discord.com/api/webhooks/1/secret";
  const seal = (name: string, text: string) => first.box.seal({ orgId: 1, kind: "webhook", name }, text);
  for (const [id, format, secret] of [[7, "discord", null], [8, "signed", seal("8/secret", "whsec_1")]] as const) {
    db.run(
      "insert into webhooks (id, org_id, name, format, url_ciphertext, url_hint, secret_ciphertext, created_at) " +
        "values (?, 1, 'w', ?, ?, '', ?, 0)",
      id,
      format,
      seal(String(id), url),
      secret,
    );
  }
  const ciphertexts = () =>
    [
      ...db.all<{ text: string }>("select ciphertext as text from org_secrets"),
      ...db.all<{ text: string }>("select private_key as text from compute_keys"),
      ...db.all<{ text: string }>("select url_ciphertext as text from webhooks"),
      ...db.all<{ text: string }>("select secret_ciphertext as text from webhooks where secret_ciphertext is not null"),
    ].map((row) => row.text);
  return { db, old, young, withKeys, orgs, url, retired, first, ciphertexts };
}

Deno.test("rotateSecrets encrypts everything with the first key, SSH keys and webhooks too, so that the old can go", async () => {
  const { db, old, young, withKeys, orgs, url, first, ciphertexts } = await filled();
  const pems = orgs.map((org) => first.keys.backendPrivateKey(org.id));
  assert.deepEqual(rotateSecrets(db, withKeys(young, old).box), { rotated: 10, total: 10 });
  const after = withKeys(young);
  assert.ok(ciphertexts().every((text) => after.box.isCurrent(text)));
  for (const [index, org] of orgs.entries()) {
    assert.equal(after.secrets.read(org, "runpod_api_key"), `rpa_${org.prefix}_1234`);
    assert.equal(after.keys.backendPrivateKey(org.id), pems[index]);
    assert.ok((await after.keys.caSigner(org.id)).fingerprint.startsWith("SHA256:"));
  }
  const hooks = db.all<{ url_ciphertext: string; secret_ciphertext: string | null }>(
    "select * from webhooks order by id",
  );
  const open = (name: string, text: string) => after.box.open({ orgId: 1, kind: "webhook", name }, text);
  assert.deepEqual(hooks.map((hook, index) => open(String(7 + index), hook.url_ciphertext)), [url, url]);
  assert.deepEqual([hooks[0]!.secret_ciphertext, open("8/secret", hooks[1]!.secret_ciphertext!)], [null, "whsec_1"]);
  assert.deepEqual([countUnreadable(db, after.box), countUnreadable(db, withKeys(old).box)], [0, 10]);
  const dropped = withKeys(old);
  assert.throws(() => dropped.secrets.read(orgs[0]!, "runpod_api_key"), { code: "secrets_key_wrong" });
  await assert.rejects(() => dropped.keys.caSigner(orgs[0]!.id), { code: "secrets_key_wrong" });
  db.close();
});

Deno.test("rotateSecrets has nothing to do the second time and leaves the texts as they are", async () => {
  const { db, old, young, withKeys, ciphertexts } = await filled();
  rotateSecrets(db, withKeys(young, old).box);
  const before = ciphertexts();
  assert.deepEqual(rotateSecrets(db, withKeys(young, old).box), { rotated: 0, total: 10 });
  assert.deepEqual(ciphertexts(), before);
  db.close();
});

Deno.test("rotateSecrets changes nothing when one text cannot be opened", async () => {
  const { db, old, young, withKeys, ciphertexts } = await filled();
  db.run("update webhooks set url_ciphertext = replace(url_ciphertext, 'v1.', 'v1.0')");
  const before = ciphertexts();
  assert.throws(() => rotateSecrets(db, withKeys(young, old).box), { code: "secrets_key_wrong" });
  assert.deepEqual(ciphertexts(), before);
  assert.throws(() => rotateSecrets(db, withKeys(young).box), { code: "secrets_key_wrong" });
  assert.deepEqual(ciphertexts(), before);
  db.close();
});

Deno.test("parts that run on see the rotated rows, and the retired key is kept", async () => {
  const { db, old, young, withKeys, orgs, retired } = await filled();
  const running = withKeys(young, old);
  const pem = running.keys.backendPrivateKey(orgs[0]!.id);
  rotateSecrets(db, running.box);
  assert.equal(running.keys.backendPrivateKey(orgs[0]!.id), pem);
  assert.equal(running.secrets.read(orgs[0]!, "runpod_api_key"), "rpa_one_1234");
  const row = db.get<{ private_key: string; fingerprint: string }>(
    "select * from compute_keys where public_key = ?",
    retired,
  )!;
  const place = { orgId: 1, kind: "key", name: `backend/${row.fingerprint}` } as const;
  assert.match(running.box.open(place, row.private_key), /^-----BEGIN OPENSSH PRIVATE KEY-----/);
  db.close();
});
