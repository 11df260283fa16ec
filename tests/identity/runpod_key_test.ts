import assert from "node:assert/strict";
import {
  createRunningPod,
  createWorld,
  OTHER_RUNPOD_KEY,
  PEOPLE,
  RUNPOD_KEY,
  testClock,
  type World,
} from "../support/world.ts";

const ORG = "/api/compute/org";
const KEY = "api_key must be a RunPod API key: 8 to 200 printable characters without spaces";
const SECOND_KEY = "rpa_second_0123456789abcdef";

async function inWorld(test: (world: World & { clock: ReturnType<typeof testClock> }) => Promise<void>): Promise<void> {
  const clock = testClock();
  const apiKeys = {
    [RUNPOD_KEY]: "full",
    [SECOND_KEY]: "full",
    [OTHER_RUNPOD_KEY]: { rights: "full", account: "other" },
  } as const;
  const world = { ...await createWorld({ clock, runpod: { apiKeys } }), clock };
  try {
    await test(world);
  } finally {
    await world.close();
  }
}

const put = (world: World, body: unknown) => world.call("PUT", `${ORG}/integrations/runpod`, { as: "officer", body });
const remove = (world: World, force = false) =>
  world.call("DELETE", `${ORG}/integrations/runpod?force=${force}`, { as: "officer" });
const shown = async (world: World) => (await world.call("GET", `${ORG}/integrations/runpod`, { as: "officer" })).json;

Deno.test("a RunPod key is stored after RunPod took it, shown by its last four characters, and audited without it", async () => {
  await inWorld(async (world) => {
    const saved = await put(world, { api_key: `  ${SECOND_KEY}  ` });
    assert.equal(saved.status, 200, saved.text);
    assert.deepEqual(saved.json, { configured: true, pods: 0, last4: "cdef" });
    assert.deepEqual(await shown(world), { configured: true, last4: "cdef", updated_at: "2026-11-30T12:00:00+00:00" });
    const used = world.runpod.requests.at(-1)!;
    assert.equal(used.headers["authorization"], `Bearer ${SECOND_KEY}`);
    const tested = await world.call("POST", `${ORG}/integrations/runpod/test`, { as: "officer" });
    assert.deepEqual(tested.json, { pods: 0, message: "Connected. 0 pods on the account." });
    const rows = JSON.stringify(world.db.all("select * from audit_log")) + world.logLines.join();
    assert.ok(!rows.includes(SECOND_KEY) && !rows.includes(RUNPOD_KEY));
    const audit = world.db.get<{ actor_id: string; details: string }>(
      "select * from audit_log where action = 'PUT /api/compute/:org/integrations/runpod'",
    )!;
    assert.deepEqual([audit.actor_id, JSON.parse(audit.details)], [PEOPLE.officer, {
      secret: "runpod_api_key",
      last4: "cdef",
    }]);
  });
});

Deno.test("a RunPod key that breaks a rule or that RunPod refuses is not stored, and never shown", async () => {
  await inWorld(async (world) => {
    const before =
      world.db.get<{ ciphertext: string }>("select ciphertext from org_secrets where org_id = 1")!.ciphertext;
    const table: [unknown, string, string][] = [
      [{}, "invalid_request", KEY],
      [{ api_key: null }, "invalid_request", KEY],
      [{ api_key: "short" }, "invalid_request", KEY],
      [{ api_key: "two words here" }, "invalid_request", KEY],
      [{ api_key: "x".repeat(201) }, "invalid_request", KEY],
      [{ api_key: "rpa_ümlaut_0123456789" }, "invalid_request", KEY],
      [{ api_key: SECOND_KEY, replace: "yes" }, "invalid_request", "replace must be true or false"],
      [{ api_key: SECOND_KEY, force: true }, "invalid_request", "Unknown field: force"],
      [{ api_key: "rpa_unknown_secret_0123" }, "runpod_key_refused", "RunPod answered 401: missing bearer token"],
    ];
    for (const [body, code, sentence] of table) {
      const answer = await put(world, body);
      assert.deepEqual(
        [answer.status, answer.json.code, answer.json.error],
        [400, code, sentence],
        JSON.stringify(body),
      );
      assert.ok(!answer.text.includes("secret_0123"));
    }
    const after =
      world.db.get<{ ciphertext: string }>("select ciphertext from org_secrets where org_id = 1")!.ciphertext;
    assert.equal(after, before);
  });
});

Deno.test("a key of another account is 409 while the org has live pods, unless it is to replace the old one", async () => {
  await inWorld(async (world) => {
    const id = await createRunningPod(world, { name: "lab" });
    const refusal = await put(world, { api_key: OTHER_RUNPOD_KEY });
    assert.deepEqual([refusal.status, refusal.json.code], [409, "live_pods"]);
    assert.match(refusal.json.error, new RegExp(`lab \\(${id}\\)`));
    assert.match(refusal.json.error, /"replace": true/);
    assert.deepEqual(refusal.json.pods, [{ id, name: "lab", status: "RUNNING" }]);
    assert.equal((await shown(world)).updated_at, "2026-11-30T12:00:00+00:00");
    const same = await put(world, { api_key: SECOND_KEY });
    assert.equal(same.status, 200, "another key of the same account sees the pod");
    assert.equal(same.json.pods, 1);
    const replaced = await put(world, { api_key: OTHER_RUNPOD_KEY, replace: true });
    assert.deepEqual([replaced.status, replaced.json.pods], [200, 0]);
    world.clock.advance(2_000);
    await world.call("GET", `${ORG}/pods`, { as: "officer" });
    assert.equal(world.runpod.requests.at(-1)!.headers["authorization"], `Bearer ${OTHER_RUNPOD_KEY}`);
  });
});

Deno.test("a key of another account is taken when the org's pods are terminated or gone", async () => {
  await inWorld(async (world) => {
    const ids = [await createRunningPod(world), await createRunningPod(world)];
    world.clock.advance(180_000);
    await world.call("POST", `${ORG}/pods/${ids[0]}/action`, { as: "officer", body: { action: "terminate" } });
    world.runpod.pods.deleteOutside(ids[1]!);
    for (let look = 0; look < 2; look++) {
      world.clock.advance(2_000);
      await world.call("GET", `${ORG}/pods`, { as: "officer" });
    }
    assert.equal((await put(world, { api_key: OTHER_RUNPOD_KEY })).status, 200);
  });
});

Deno.test("removing the key, switching compute off and removing the org are 409 with live pods, stopped ones too", async () => {
  await inWorld(async (world) => {
    const id = await createRunningPod(world, { name: "lab" });
    await world.call("POST", `${ORG}/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
    const operator = (method: string, path: string, body?: unknown) =>
      world.call(method, `/api/operator/orgs/org${path}`, { as: "operator", body });
    const off = (body: unknown) => world.call("PUT", `${ORG}/module`, { as: "officer", body });
    const refusals = [
      await remove(world),
      await remove(world, false),
      await operator("DELETE", "/secrets/runpod_api_key"),
      await operator("PATCH", "", { enabled: false }),
      await operator("PATCH", "", { is_active: false }),
      await operator("DELETE", ""),
      await off({ enabled: false }),
    ];
    for (const [index, answer] of refusals.entries()) {
      assert.deepEqual([answer.status, answer.json.code], [409, "live_pods"], `${index}: ${answer.text}`);
      assert.deepEqual(answer.json.pods, [{ id, name: "lab", status: "EXITED" }]);
    }
    assert.equal((await shown(world)).configured, true);
    assert.equal((await off({ enabled: false, force: true })).status, 200);
    assert.equal((await off({ enabled: true })).status, 200);
    assert.deepEqual((await remove(world, true)).json, { removed: true });
    assert.equal((await shown(world)).configured, false);
    assert.deepEqual((await remove(world)).json.code, "live_pods", "the pods are still there");
    const gone = await operator("DELETE", "?force=true");
    assert.equal(gone.status, 200, gone.text);
    assert.equal(world.db.get("select 1 from compute_pods"), undefined);
  });
});

Deno.test("a key can be removed without pods, once, and its absence is told", async () => {
  await inWorld(async (world) => {
    assert.deepEqual((await remove(world)).json, { removed: true });
    assert.deepEqual((await remove(world)).json, { removed: false });
    assert.deepEqual(await shown(world), { configured: false, last4: null, updated_at: null });
    const tested = await world.call("POST", `${ORG}/integrations/runpod/test`, { as: "officer" });
    assert.deepEqual([tested.status, tested.json.code], [400, "runpod_key_missing"]);
    const missing = await world.call("DELETE", "/api/operator/orgs/org/secrets/runpod_api_key", { as: "operator" });
    assert.deepEqual([missing.status, missing.json.code], [404, "secret_not_found"]);
  });
});
