import assert from "node:assert/strict";
import type { FaultSpec } from "../../server/demo/runpod/mod.ts";
import { createRefresher } from "../../server/pods/refresh.ts";
import { createActions } from "../../server/pods/act.ts";
import { createSettler } from "../../server/pods/settle.ts";
import { eventually } from "../support/world.ts";
import {
  attention,
  create,
  creates,
  intentsOf,
  inWorld,
  listed,
  partsOf,
  refreshed,
  refused,
  whileTimePasses,
} from "./support.ts";

/** Every way in which RunPod makes the pod and its answer does not arrive, or cannot be read. */
const LOST: FaultSpec[] = [
  { fault: "F13", variant: "cut" },
  { fault: "F13", variant: "hang" },
  { fault: "F13", variant: "500" },
  { fault: "F13", variant: "502" },
  { fault: "F13", variant: "cut-body" },
  { fault: "F32", variant: "html-524" },
  { fault: "F33", variant: "not-json" },
  { fault: "F33", variant: "html-200" },
];

const named = ({ fault, variant }: FaultSpec) => `${fault} ${variant}`;

for (const fault of LOST) {
  Deno.test(`a create whose answer is lost is found by its name and answered with 201: ${named(fault)}`, async () => {
    await inWorld({ timings: { settleWaitMs: 4_000, createCallMs: 100 } }, async (world) => {
      world.runpod.faults.on({ ...fault, times: 1, on: "POST /pods" });
      const answer = await whileTimePasses(world, create(world, { name: "lab", allowed_users: ["12345"] }));
      assert.equal(answer.status, 201, answer.text);
      assert.equal(creates(world), 1);
      const [made] = world.runpod.pods.list();
      assert.equal(answer.json.pod.id, made!.id);
      assert.deepEqual(answer.json.pod.allowed_users, ["12345"]);
      assert.deepEqual(await attention(world), []);
      assert.equal(intentsOf(world)[0]!.state, "done");
    });
  });

  Deno.test(`a create found only later is 424 with attention_id and adopted by the next list: ${named(fault)}`, async () => {
    await inWorld(
      { timings: { settleWaitMs: 60, createCallMs: 60 }, runpod: { timings: { listDelayMs: 30_000 } } },
      async (world) => {
        world.runpod.faults.on({ ...fault, times: 1, on: "POST /pods", ms: 30_000 });
        const answer = await create(world, { name: "lab", is_public: true });
        refused(answer, 424, "runpod_unavailable", /Whether the pod exists is not known yet/);
        assert.match(answer.json.error, /Do not create it again/);
        const [entry] = await attention(world);
        assert.equal(entry.id, answer.json.attention_id);
        assert.equal(entry.kind, "create_unsettled");
        assert.equal(entry.name, "lab");
        assert.deepEqual(entry.actions, ["adopt", "forget"]);
        assert.match(entry.todo, /Do not create the pod again/);
        assert.deepEqual(await refreshed(world), [], "RunPod does not show it yet");
        // The same name is refused meanwhile, another one is not.
        const again = await create(world, { name: "lab" });
        refused(again, 409, "create_pending");
        assert.equal(again.json.attention_id, entry.id);
        world.clock.advance(31_000);
        const [pod] = await refreshed(world);
        assert.equal(pod?.name, "lab");
        assert.equal(pod.is_public, true);
        assert.deepEqual(await attention(world), []);
        assert.equal(intentsOf(world)[0]!.state, "done");
        assert.equal(creates(world), 1);
        const incarnation = world.db.get<{ runpod_id: string; why: string }>("select * from compute_pod_incarnations");
        assert.equal(incarnation?.runpod_id, pod.id);
        assert.match(incarnation!.why, /by its name/);
      },
    );
  });
}

Deno.test("of two lost creates each is given its own pod", async () => {
  await inWorld({ timings: { settleWaitMs: 60 } }, async (world) => {
    world.runpod.faults.on({ fault: "F13", variant: "500", times: 2, ms: 5_000 });
    for (const name of ["first", "second"]) {
      refused(await create(world, { name, allowed_users: [`12345${name.length}`] }), 424, "runpod_unavailable");
      world.clock.advance(100);
    }
    world.clock.advance(6_000);
    const pods = await refreshed(world);
    assert.deepEqual(pods.map((pod) => [pod.name, pod.allowed_users]), [["first", ["123455"]], ["second", ["123456"]]]);
    for (const pod of pods) assert.ok(world.runpod.pods.get(pod.id).name.startsWith(`${pod.name}-org-`));
  });
});

Deno.test("the settler adopts a lost create by itself, without anybody asking", async () => {
  await inWorld({ timings: { settleWaitMs: 60, createCallMs: 60 } }, async (world) => {
    world.runpod.faults.on({ fault: "F13", variant: "cut", times: 1, ms: 20_000 });
    refused(await create(world, { name: "lab" }), 424, "runpod_unavailable");
    const parts = partsOf(world);
    const refresher = createRefresher(parts, () => {});
    const settle = createSettler({ ...parts, refresher, actions: createActions(parts), poke: () => {} }).turn;
    await eventually(
      async () => {
        await settle();
        return intentsOf(world)[0]!.state === "done";
      },
      "the create is settled",
      () => world.clock.advance(3_000),
    );
    const audit = world.db.get<{ details: string; actor_kind: string }>(
      "select * from audit_log where outcome = 'created'",
    );
    assert.equal(audit?.actor_kind, "officer");
    assert.match(audit!.details, /found in RunPod's list by its name/);
    await refresher.close();
  });
});

for (const variant of ["500", "cut"]) {
  Deno.test(`a create that failed and made no pod stays in attention until it is forgotten: F14 ${variant}`, async () => {
    await inWorld({ timings: { settleWaitMs: 60 } }, async (world) => {
      world.runpod.faults.on({ fault: "F14", variant, times: 1 });
      const answer = await create(world, { name: "lab" });
      refused(answer, 424, "runpod_unavailable");
      const id: string = answer.json.attention_id;
      assert.equal(creates(world), 1);
      assert.match((await attention(world))[0].todo, /Wait about a minute/);
      for (let minute = 0; minute < 5; minute++) {
        world.clock.advance(60_000);
        assert.deepEqual(await refreshed(world), []);
      }
      const [entry] = await attention(world);
      assert.equal(entry.id, id);
      const name = /named (lab-org-[0-9a-f]{8})/.exec(entry.what)?.[1];
      assert.ok(name, entry.what);
      assert.ok(entry.todo.includes(`Look for ${name} in RunPod's console`), entry.todo);
      refused(await create(world, { name: "lab" }), 409, "create_pending");
      const forgotten = await world.call("POST", `/api/compute/org/attention/${id}`, {
        as: "officer",
        body: { action: "forget" },
      });
      assert.equal(forgotten.status, 200, forgotten.text);
      assert.deepEqual(await attention(world), []);
      assert.deepEqual(await listed(world), []);
      assert.equal(intentsOf(world)[0]!.state, "forgotten");
      assert.equal((await create(world, { name: "lab" })).status, 201, "the name is free again");
      assert.equal(creates(world), 2);
    });
  });
}

Deno.test("a lost create with the RunPod pod's id is adopted by hand", async () => {
  await inWorld({ timings: { settleWaitMs: 60 }, runpod: { timings: { listDelayMs: 600_000 } } }, async (world) => {
    world.runpod.faults.on({ fault: "F13", variant: "500", times: 1, ms: 500 });
    const answer = await create(world, { name: "lab", allowed_users: ["12345"] });
    const path = `/api/compute/org/attention/${answer.json.attention_id}`;
    const adopt = (body: unknown) => world.call("POST", path, { as: "officer", body });
    world.clock.advance(1_000);
    refused(await adopt({ action: "adopt" }), 400, "invalid_request", "runpod_id must name the pod to adopt");
    refused(await adopt({ action: "adopt", runpod_id: "../x" }), 400, "invalid_request", /runpod_id must be/);
    refused(await adopt({ action: "adopt", runpod_id: "aaaaaaaaaaaaaa" }), 400, "runpod_refused");
    const foreign = world.runpod.pods.addForeign({ name: "theirs" });
    refused(await adopt({ action: "adopt", runpod_id: foreign.id }), 409, "conflict", /does not carry/);
    const [made] = world.runpod.pods.list();
    const adopted = await adopt({ action: "adopt", runpod_id: made!.id });
    assert.equal(adopted.status, 200, adopted.text);
    const [pod] = world.db.all<{ runpod_id: string; name: string }>("select * from compute_pods where state = 'live'");
    assert.deepEqual([pod?.runpod_id, pod?.name], [made!.id, "lab"]);
    assert.deepEqual(await attention(world), []);
    refused(await adopt({ action: "forget" }), 404, "attention_not_found");
  });
});

Deno.test("a create whose wait is still on cannot be forgotten or adopted from under it", async () => {
  await inWorld({ timings: { settleWaitMs: 300, createCallMs: 60 } }, async (world) => {
    world.runpod.faults.on({ fault: "F14", variant: "500", times: 1 });
    const waiting = create(world, { name: "lab" });
    await eventually(() => intentsOf(world)[0]?.state === "unsettled", "the answer is lost");
    const path = `/api/compute/org/attention/${intentsOf(world)[0]!.id}`;
    refused(await world.call("POST", path, { as: "officer", body: { action: "forget" } }), 409, "action_pending");
    refused(await waiting, 424, "runpod_unavailable");
    const later = await world.call("POST", path, { as: "officer", body: { action: "forget" } });
    assert.equal(later.status, 200, later.text);
  });
});

Deno.test("a fresh pod that RunPod does not show for some seconds is neither gone nor made twice", async () => {
  await inWorld({}, async (world) => {
    world.runpod.faults.on({ fault: "F15", times: 1, ms: 60_000 });
    const { json } = await create(world, { name: "lab" });
    for (let look = 0; look < 4; look++) {
      const [pod] = await refreshed(world);
      assert.equal(pod.id, json.pod.id);
      assert.equal(pod.status, "PROVISIONING", "the last known state is kept");
      assert.equal(pod.stale, true, "and marked stale");
    }
    const one = await world.call("GET", `/api/compute/org/pods/${json.pod.id}`, { as: "officer" });
    assert.equal(one.json.pod.status, "PROVISIONING");
    assert.deepEqual(await attention(world), []);
    world.clock.advance(60_000);
    const [pod] = await refreshed(world);
    assert.deepEqual([pod.status, pod.stale], ["RUNNING", false]);
    assert.equal(creates(world), 1);
  });
});

Deno.test("an ordinary create that is still on its way needs nobody's attention", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  await inWorld({
    fetch: (inner) => async (input, init) => {
      const answer = await inner(input, init);
      if (init?.method === "POST" && String(input).endsWith("/pods")) await held;
      return answer;
    },
  }, async (world) => {
    const making = create(world, { name: "lab" });
    await eventually(() => creates(world) === 1, "RunPod was asked");
    assert.deepEqual(await attention(world), []);
    // A list that shows the pod before the answer is here adopts it, and the answer changes nothing.
    world.clock.advance(2_000);
    assert.equal((await listed(world)).length, 1);
    release();
    const answer = await making;
    assert.equal(answer.status, 201, answer.text);
    assert.equal(world.db.all("select 1 from compute_pod_incarnations").length, 1);
    assert.equal(world.db.all("select 1 from audit_log where outcome = 'created'").length, 1);
  });
});
