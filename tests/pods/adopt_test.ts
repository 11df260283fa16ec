import assert from "node:assert/strict";
import { caLinesOf } from "../../db/stores/revocations.ts";
import { OTHER_RUNPOD_KEY, PEOPLE, RUNPOD_KEY } from "../support/world.ts";
import {
  act,
  attention,
  type ClockedWorld,
  create,
  inWorld,
  listed,
  ORG,
  refreshed,
  refused,
  requests,
} from "./support.ts";

const resolve = (world: ClockedWorld, id: string, body: unknown) =>
  world.call("POST", `${ORG}/attention/${id}`, { as: "officer", body });

/** The env that RunPod was last sent for a pod of ours. */
const lastSent = (world: ClockedWorld) =>
  requests(world, "POST", "/pods").at(-1)!.body as { name: string; env: Record<string, string> };

Deno.test("a pod of the account that orgpods did not make is never listed, adopted or touched", async () => {
  await inWorld({ timings: { settleWaitMs: 60 } }, async (world) => {
    // An unsettled create, and beside it a pod of somebody else with exactly its name.
    world.runpod.faults.on({ fault: "F14", times: 1 });
    refused(await create(world, { name: "lab" }), 424, "runpod_unavailable");
    const { name, env } = lastSent(world);
    const { GODFATHER_SSH_CA_PUBLIC_KEY: ca, ...rest } = env;
    world.runpod.pods.addForeign({ name });
    world.runpod.pods.addForeign({ name, env: rest });
    world.runpod.pods.addForeign({ name, env: { GODFATHER_SSH_CA_PUBLIC_KEY: `${ca} ` } });
    world.runpod.pods.addForeign({ name: "lab" });
    for (let look = 0; look < 3; look++) assert.deepEqual(await refreshed(world), []);
    assert.deepEqual((await attention(world)).map((one) => one.kind), ["create_unsettled"]);
    for (const pod of world.runpod.pods.list()) {
      refused(await act(world, pod.id, "terminate"), 404, "pod_not_found", "Pod not found");
      refused(await world.call("GET", `${ORG}/pods/${pod.id}`, { as: "officer" }), 404, "pod_not_found");
    }
    assert.equal(world.runpod.pods.list().length, 4);
    assert.deepEqual(requests(world, "DELETE", /./), []);
    assert.deepEqual(requests(world, "GET", /^\/pods\/./), []);
  });
});

Deno.test("two orgs on one RunPod account never adopt or list each other's pods, lost creates included", async () => {
  const runpod = { apiKeys: { [RUNPOD_KEY]: "full", [OTHER_RUNPOD_KEY]: "full" } } as const;
  await inWorld({ runpod, timings: { settleWaitMs: 60 } }, async (world) => {
    const others = (path: string, body?: unknown) =>
      world.call(body === undefined ? "GET" : "POST", `/api/compute/other${path}`, { as: "otherOfficer", body });
    world.runpod.faults.on({ fault: "F13", variant: "500", times: 2, ms: 5_000 });
    refused(await create(world, { name: "lab" }), 424, "runpod_unavailable");
    refused(await others("/pods", { name: "lab", use_cpu_only: true }), 424, "runpod_unavailable");
    world.clock.advance(6_000);
    const [ours] = await refreshed(world);
    const [theirs] = (await others("/pods")).json.pods;
    assert.equal(world.runpod.pods.list().length, 2);
    assert.notEqual(ours.id, theirs.id);
    assert.match(world.runpod.pods.get(ours.id).name, /^lab-org-/);
    assert.match(world.runpod.pods.get(theirs.id).name, /^lab-other-/);
    assert.equal((await listed(world)).length, 1);
    assert.deepEqual([...await attention(world), ...await attention(world, "other")], []);
    refused(await act(world, theirs.id, "stop"), 404, "pod_not_found");
  });
});

Deno.test("a pod with our CA key that the list lacks is an orphan; adopted, it is a private pod of the org", async () => {
  await inWorld({}, async (world) => {
    const first = await create(world, { name: "lab" });
    const { env } = lastSent(world);
    const orphan = world.runpod.pods.addForeign({ name: "copy-of-lab", env });
    assert.deepEqual((await refreshed(world)).map((pod) => pod.id), [first.json.pod.id]);
    await refreshed(world);
    const entries = await attention(world);
    assert.equal(entries.length, 1, "told once");
    const [entry] = entries;
    assert.deepEqual(
      [entry.kind, entry.pod_id, entry.name, entry.actions],
      ["orphan", orphan.id, "copy-of-lab", ["adopt", "forget"]],
    );
    assert.match(entry.what, /with this organization's keys that is not in the list\. It may cost money/);
    const adopted = await resolve(world, entry.id, { action: "adopt" });
    assert.equal(adopted.status, 200, adopted.text);
    const pods = await refreshed(world);
    const pod = pods.find((one) => one.id === orphan.id);
    assert.deepEqual([pod.name, pod.is_public, pod.allowed_users, pod.created_by, pod.status], [
      "copy-of-lab",
      false,
      [],
      PEOPLE.officer,
      "RUNNING",
    ]);
    assert.deepEqual(await attention(world), []);
    assert.equal((await act(world, orphan.id, "stop")).status, 200);
  });
});

Deno.test("a forgotten orphan is not brought up again", async () => {
  await inWorld({}, async (world) => {
    await create(world);
    world.runpod.pods.addForeign({ name: "copy", env: lastSent(world).env });
    await refreshed(world);
    const [entry] = await attention(world);
    assert.equal((await resolve(world, entry.id, { action: "forget" })).status, 200);
    await refreshed(world);
    assert.deepEqual(await attention(world), []);
    refused(await resolve(world, entry.id, { action: "adopt" }), 404, "attention_not_found");
    assert.equal(world.runpod.pods.list().length, 2, "RunPod was not asked to do anything");
  });
});

Deno.test("orphans of one name are adopted one by one", async () => {
  await inWorld({}, async (world) => {
    await create(world);
    const { env } = lastSent(world);
    const twins = [1, 2].map(() => world.runpod.pods.addForeign({ name: "twin", env }).id);
    await refreshed(world);
    for (const entry of await attention(world)) {
      const adopted = await resolve(world, entry.id, { action: "adopt" });
      assert.equal(adopted.status, 200, adopted.text);
    }
    const ids = (await refreshed(world)).map((pod) => pod.id);
    assert.ok(twins.every((id) => ids.includes(id)));
  });
});

Deno.test("an orphan that was adopted by somebody else meanwhile is a conflict, and can be forgotten", async () => {
  await inWorld({ timings: { settleWaitMs: 60 } }, async (world) => {
    await create(world);
    const orphan = world.runpod.pods.addForeign({ name: "copy", env: lastSent(world).env });
    await refreshed(world);
    const [entry] = await attention(world);
    // The same pod, adopted as the answer of a lost create.
    world.runpod.faults.on({ fault: "F14", times: 1 });
    const lost = await create(world, { name: "lost" });
    const byHand = await resolve(world, lost.json.attention_id, { action: "adopt", runpod_id: orphan.id });
    assert.equal(byHand.status, 200, byHand.text);
    refused(await resolve(world, entry.id, { action: "adopt" }), 409, "conflict", "The pod is in a list already");
    assert.equal((await resolve(world, entry.id, { action: "forget" })).status, 200);
    assert.equal((await refreshed(world)).length, 2);
  });
});

Deno.test("a pod that moved keeps its access list when it is adopted, and its older id still resolves", async () => {
  await inWorld({}, async (world) => {
    const { json } = await create(world, { name: "lab", is_public: true, allowed_users: ["12345"] });
    const oldId: string = json.pod.id;
    world.clock.advance(180_000);
    await listed(world);
    const moved = world.runpod.pods.migrate(oldId);
    await refreshed(world);
    const [gone] = await refreshed(world);
    assert.deepEqual([gone.id, gone.status], [oldId, "GONE"]);
    const entries = await attention(world);
    assert.deepEqual(entries.map((one) => one.kind).sort(), ["gone", "orphan"]);
    const entry = entries.find((one) => one.kind === "orphan");
    assert.match(entry.what, /it looks like a later home of the pod lab/);
    assert.equal((await resolve(world, entry.id, { action: "adopt" })).status, 200);
    const pods = await refreshed(world);
    assert.equal(pods.length, 1);
    const [pod] = pods;
    assert.deepEqual([pod.id, pod.name, pod.is_public, pod.allowed_users], [moved.id, "lab", true, ["12345"]]);
    assert.equal(pod.status, "RUNNING");
    assert.deepEqual(await attention(world), []);
    const byOldId = await world.call("GET", `${ORG}/pods/${oldId}`, { as: "officer" });
    assert.equal(byOldId.json.pod.id, moved.id);
    assert.equal((await act(world, oldId, "stop")).json.id, moved.id);
    assert.equal(world.runpod.pods.get(moved.id).phase, "exited");
    const incarnations = world.db.all<{ runpod_id: string; until: number | null }>(
      "select runpod_id, until from compute_pod_incarnations order by since",
    );
    assert.deepEqual(incarnations.map((one) => [one.runpod_id, one.until === null]), [[oldId, false], [
      moved.id,
      true,
    ]]);
  });
});

Deno.test("an id that another org's pod has is not found in this org", async () => {
  await inWorld({}, async (world) => {
    const { json } = await create(world);
    const path = `/api/compute/other/pods/${json.pod.id}`;
    refused(await world.call("GET", path, { as: "otherOfficer" }), 404, "pod_not_found");
    refused(await world.call("PUT", path, { as: "otherOfficer", body: { is_public: true } }), 404, "pod_not_found");
    refused(
      await world.call("POST", `${path}/action`, { as: "otherOfficer", body: { action: "stop" } }),
      404,
      "pod_not_found",
    );
  });
});

Deno.test("an orphan with a name that a pod of another org has can be adopted", async () => {
  await inWorld({}, async (world) => {
    await create(world);
    const { name } = lastSent(world);
    const made = await world.call("POST", "/api/compute/other/pods", {
      as: "otherOfficer",
      body: { use_cpu_only: true },
    });
    assert.equal(made.status, 201, made.text);
    const orphan = world.runpod.pods.addForeign({ name, env: lastSent(world).env, account: "other" });
    world.clock.advance(1_500);
    await world.call("GET", "/api/compute/other/pods", { as: "otherOfficer" });
    const [entry] = await attention(world, "other");
    assert.equal(entry.pod_id, orphan.id);
    const adopted = await world.call("POST", `/api/compute/other/attention/${entry.id}`, {
      as: "otherOfficer",
      body: { action: "adopt" },
    });
    assert.equal(adopted.status, 200, adopted.text);
    assert.match(caLinesOf(world.db, 1)[0]?.line ?? "", /^ssh-ed25519 /);
  });
});
