import assert from "node:assert/strict";
import type { KeyRow } from "../../db/stores/secrets.ts";
import { createSecretBox } from "../../server/identity/secret_box.ts";
import { beginRotation } from "../../server/key_rotation/begin.ts";
import { keyViews } from "../../server/key_rotation/status.ts";
import { createOrgKeys } from "../../server/ssh/org_keys.ts";
import { create, inWorld, orgNamed, partsOf, refused, requests } from "../pods/support.ts";
import { currentLine, envOf, KEYS, rotate, rotated, rotation, rotations, stoppedPod, turn } from "./support.ts";

Deno.test("a rotation is written down with its audit row and its event, and new pods get the new key at once", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world, { name: "one" });
    const before = currentLine(world, "backend");
    const view = await rotated(world, "backend");
    assert.deepEqual([view.kind, view.state, view.is_recovery, view.pods.length], ["backend", "open", false, 1]);
    const [audit] = world.db.all<{ action: string; actor_kind: string; details: string }>(
      "select * from audit_log order by id desc limit 1",
    );
    assert.deepEqual([audit!.action, audit!.actor_kind, JSON.parse(audit!.details)], [
      "POST /api/operator/orgs/:prefix/keys/:kind",
      "local",
      { kind: "backend", old_fingerprint: view.old_fingerprint, new_fingerprint: view.new_fingerprint },
    ]);
    const [event] = (await world.call("GET", "/api/compute/org/events?kind=settings.changed", { as: "officer" })).json
      .events;
    assert.deepEqual([event.actor, event.details], ["the server's operator", {
      changed: ["backend_key"],
      old_fingerprint: view.old_fingerprint,
      new_fingerprint: view.new_fingerprint,
    }]);
    const made = await create(world, { name: "two" });
    const { env } = requests(world, "POST", "/pods").at(-1)!.body as { env: Record<string, string> };
    assert.notEqual(env.GODFATHER_SSH_PUBLIC_KEY, before);
    assert.equal(env.GODFATHER_SSH_PUBLIC_KEY, currentLine(world, "backend"));
    assert.equal(envOf(world, made.json.pod.id).GODFATHER_SSH_CA_PUBLIC_KEY, currentLine(world, "user_ca"));
  });
});

Deno.test("a second rotation of a kind is refused with what is left, and one of the other kind is taken", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world, { name: "one" });
    await rotated(world, "backend");
    const again = await rotate(world, "backend");
    refused(
      again,
      409,
      "rotation_open",
      /^An earlier rotation of the backend key is not finished: 1 of 1 pods are left$/,
    );
    assert.deepEqual(again.json.left.map((pod: { pod_id: string }) => pod.pod_id), [id]);
    await rotated(world, "user_ca");
    assert.equal((await rotations(world)).length, 2);
  });
});

Deno.test("two rotations of a kind at the same moment are one, and the other is refused", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world);
    const both = await Promise.all([rotate(world, "backend"), rotate(world, "backend")]);
    assert.deepEqual(both.map((answer) => answer.json.code ?? "begun").sort(), ["begun", "rotation_open"]);
    assert.equal(world.db.all("select * from compute_keys where kind = 'backend'").length, 2);
  });
});

Deno.test("a rotation is refused before the org has keys and for an unknown kind", async () => {
  await inWorld({}, async (world) => {
    refused(await rotate(world, "backend"), 409, "conflict", /no keys yet/);
    const odd = await world.call("POST", `${KEYS}/host`, { as: "operator" });
    refused(odd, 400, "invalid_request", "The kind of key must be one of backend, user_ca: host");
  });
});

Deno.test("without SECRETS_KEY no rotation begins, and the keys are listed as not usable", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world);
    const before = world.db.all("select * from compute_keys");
    const keys = createOrgKeys(world.db, createSecretBox([]), world.clock);
    const parts = { ...partsOf(world), keys };
    const asker = { caller: { kind: "operator", account: "test" }, address: null, action: "test" } as const;
    await assert.rejects(beginRotation(parts, orgNamed(world), asker, "backend"), { code: "secrets_key_missing" });
    assert.deepEqual(world.db.all("select * from compute_keys"), before);
    assert.deepEqual(await rotations(world), []);
    assert.deepEqual(keyViews(parts, orgNamed(world)).map((key) => key.usable), [false, false]);
  });
});

Deno.test("keys are listed with their state, and no private half leaves the server", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world);
    await rotated(world, "backend");
    const answer = await world.call("GET", KEYS, { as: "operator" });
    assert.deepEqual(
      answer.json.keys.map((
        key: { kind: string; state: string; usable: boolean },
      ) => [key.kind, key.state, key.usable]),
      [["backend", "current", true], ["backend", "replaced", true], ["user_ca", "current", true]],
    );
    for (const row of world.db.all<KeyRow>("select * from compute_keys")) {
      assert.ok(!answer.text.includes(row.private_key));
    }
    assert.doesNotMatch(answer.text, /PRIVATE/);
  });
});

Deno.test("a rotation of an org without live pods is finished by itself, and the old private key is wiped", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world);
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "terminate" } });
    const { old_fingerprint } = await rotated(world, "user_ca");
    await turn(world);
    assert.equal((await rotation(world, "user_ca")).state, "done");
    const old = world.db.get<KeyRow>("select * from compute_keys where fingerprint = ?", old_fingerprint)!;
    assert.equal(old.private_key, "");
    const rotateSecrets = await world.call("POST", "/api/operator/secrets/rotate", { as: "operator" });
    assert.deepEqual([rotateSecrets.status, rotateSecrets.json.rotated], [200, 0], rotateSecrets.text);
  });
});

Deno.test("a rotation of a key that cannot be decrypted any more begins as a recovery and says what that means", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world);
    // What another SECRETS_KEY encrypted looks like this.
    world.db.run("update compute_keys set private_key = 'v1.00000000.' || substr(private_key, 13)");
    const answer = await rotate(world, "backend");
    assert.equal(answer.status, 202, answer.text);
    assert.deepEqual([answer.json.rotation.is_recovery, answer.json.warnings.length], [true, 1]);
    assert.match(answer.json.warnings[0], /cannot log in to pods that run until they were stopped once/);
  });
});
