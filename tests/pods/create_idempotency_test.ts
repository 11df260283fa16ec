import assert from "node:assert/strict";
import { eventually } from "../support/world.ts";
import { act, create, creates, intentsOf, inWorld, refreshed, refused } from "./support.ts";

Deno.test("the same create with the same Idempotency-Key gets the first one's pod and buys nothing", async () => {
  await inWorld({}, async (world) => {
    const body = { name: "lab", env: { A: "1" }, allowed_users: ["12345"] };
    const first = await create(world, body, "key-1");
    const second = await create(world, body, "key-1");
    assert.equal(first.status, 201, first.text);
    assert.equal(second.status, 201, second.text);
    assert.equal(second.json.pod.id, first.json.pod.id);
    assert.deepEqual(second.json.warnings, first.json.warnings);
    assert.equal(creates(world), 1);
    assert.equal((await create(world, body, "key-2")).status, 201);
    assert.equal(creates(world), 2);
  });
});

Deno.test("an Idempotency-Key with another request is 409, whatever differs but env values", async () => {
  await inWorld({}, async (world) => {
    assert.equal((await create(world, { name: "lab", env: { A: "1" } }, "key")).status, 201);
    for (const body of [{ name: "lab" }, { name: "lab", env: { B: "1" } }, { name: "lab2", env: { A: "1" } }]) {
      refused(await create(world, body, "key"), 409, "idempotency_conflict");
    }
    // Values leave no trace in the database, not even in a hash, so they cannot be compared.
    assert.equal((await create(world, { name: "lab", env: { A: "2" } }, "key")).status, 201);
    assert.equal(creates(world), 1);
  });
});

Deno.test("an Idempotency-Key belongs to one org", async () => {
  await inWorld({}, async (world) => {
    assert.equal((await create(world, { name: "lab" }, "key")).status, 201);
    const other = await world.call("POST", "/api/compute/other/pods", {
      as: "otherOfficer",
      body: { use_cpu_only: true, name: "lab" },
      headers: { "idempotency-key": "key" },
    });
    assert.equal(other.status, 201, other.text);
    assert.equal(creates(world), 2);
  });
});

Deno.test("a refused create is refused again by its Idempotency-Key, with its code and sentence", async () => {
  await inWorld({}, async (world) => {
    world.runpod.faults.on({ fault: "F11", variant: "balance", times: 1 });
    const first = await create(world, { name: "lab" }, "key");
    const second = await create(world, { name: "lab" }, "key");
    refused(first, 400, "runpod_no_balance");
    refused(second, 400, "runpod_no_balance", first.json.error);
    assert.equal(creates(world), 1);
    assert.equal((await create(world, { name: "lab" }, "key-2")).status, 201);
  });
});

Deno.test("a create asked again by its Idempotency-Key while it is on its way is 409, and its pod afterwards", async () => {
  await inWorld({ timings: { settleWaitMs: 60 } }, async (world) => {
    world.runpod.faults.on({ fault: "F13", variant: "500", times: 1, ms: 5_000 });
    const first = await create(world, { name: "lab" }, "key");
    refused(first, 424, "runpod_unavailable");
    const meanwhile = await create(world, { name: "lab" }, "key");
    refused(meanwhile, 409, "create_pending");
    assert.equal(meanwhile.json.attention_id, first.json.attention_id);
    world.clock.advance(6_000);
    const [pod] = await refreshed(world);
    const after = await create(world, { name: "lab" }, "key");
    assert.equal(after.status, 201, after.text);
    assert.equal(after.json.pod.id, pod.id);
    assert.equal(creates(world), 1);
  });
});

Deno.test("two creates at once with one Idempotency-Key make one pod", async () => {
  await inWorld({}, async (world) => {
    await world.token("officer", "officer");
    const answers = await Promise.all([1, 2, 3].map(() => create(world, { name: "lab" }, "key")));
    assert.deepEqual(answers.map((one) => one.status).sort(), [201, 409, 409]);
    assert.equal(creates(world), 1);
  });
});

Deno.test("two creates at once with one name make one pod", async () => {
  await inWorld({}, async (world) => {
    await world.token("officer", "officer");
    const answers = await Promise.all([1, 2].map(() => create(world, { name: "lab" })));
    assert.deepEqual(answers.map((one) => one.json.code ?? "made").sort(), ["create_pending", "made"]);
    assert.equal(creates(world), 1);
  });
});

Deno.test("a forgotten create stays forgotten for its Idempotency-Key: it is neither pending nor made again", async () => {
  await inWorld({ timings: { settleWaitMs: 60 } }, async (world) => {
    world.runpod.faults.on({ fault: "F14", variant: "500", times: 1 });
    const first = await create(world, { name: "lab" }, "key");
    const path = `/api/compute/org/attention/${first.json.attention_id}`;
    assert.equal((await world.call("POST", path, { as: "officer", body: { action: "forget" } })).status, 200);
    refused(await create(world, { name: "lab" }, "key"), 409, "conflict", /gave this create up/);
    assert.equal(creates(world), 1);
  });
});

Deno.test("an Idempotency-Key of a pod that was terminated since still answers with that pod", async () => {
  await inWorld({}, async (world) => {
    const first = await create(world, { name: "lab" }, "key");
    world.clock.advance(180_000);
    assert.equal((await act(world, first.json.pod.id, "terminate")).status, 200);
    const second = await create(world, { name: "lab" }, "key");
    assert.equal(second.status, 201, second.text);
    assert.deepEqual([second.json.pod.id, second.json.pod.status], [first.json.pod.id, "TERMINATED"]);
    assert.equal(creates(world), 1);
  });
});

Deno.test("an Idempotency-Key that is empty, long or not printable is refused before anything is written", async () => {
  await inWorld({}, async (world) => {
    for (const key of ["", "x".repeat(201), "a b", "ä"]) {
      refused(await create(world, {}, key), 400, "invalid_request", /^Idempotency-Key must be/);
    }
    assert.deepEqual(intentsOf(world), []);
    assert.equal((await create(world, {}, "x".repeat(200))).status, 201);
    await eventually(() => creates(world) === 1, "one create was sent");
  });
});
