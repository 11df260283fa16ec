import assert from "node:assert/strict";
import { storeMissing } from "../../db/stores/pods.ts";
import { MINUTE, SECOND } from "../../server/clock.ts";
import { recordAnswer } from "../../server/pods/seen.ts";
import { applyList, isGone } from "../../server/pods/sync.ts";
import { createRunningPod } from "../support/world.ts";
import {
  act,
  attention,
  type ClockedWorld,
  create,
  inWorld,
  listed,
  ORG,
  orgNamed,
  partsOf,
  refreshed,
  requests,
  runpodPod,
} from "./support.ts";

interface Stored {
  id: string;
  status: string;
  host: string | null;
  port: number | null;
  as_of: number;
  missing_count: number;
  start_key: string | null;
  cost_per_hour: number | null;
}
const stored = (world: ClockedWorld): Stored => world.db.get<Stored>("select * from compute_pods")!;

Deno.test("isGone needs two misses and a pod of more than two minutes", () => {
  const table: [number, number, boolean][] = [
    [1, 60 * MINUTE, false],
    [2, 2 * MINUTE, false],
    [2, 2 * MINUTE + 1, true],
    [3, 60 * MINUTE, true],
    [9, 30 * SECOND, false],
  ];
  for (const [misses, age, gone] of table) {
    assert.equal(isGone(1_000, misses, 1_000 + age, 2 * MINUTE), gone, `${misses} misses at ${age} ms`);
  }
});

Deno.test("a pod is GONE after two complete lists without it, keeps its last state until then, and comes back", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { name: "lab" });
    world.clock.advance(3 * MINUTE);
    await listed(world);
    const lost = world.runpod.pods.get(id);
    lost.unlistedUntil = world.clock.now() + 10_000;
    const [once] = await refreshed(world);
    assert.deepEqual([once.status, once.stale], ["RUNNING", true]);
    assert.deepEqual(await attention(world), []);
    const [twice] = await refreshed(world);
    assert.deepEqual([twice.status, twice.stale, twice.cost_per_hour], ["GONE", false, null]);
    assert.equal(stored(world).host, null);
    const [entry] = await attention(world);
    assert.deepEqual([entry.kind, entry.pod_id, entry.actions], ["gone", id, []]);
    world.clock.advance(10_000);
    const [back] = await refreshed(world);
    assert.deepEqual([back.id, back.status, back.stale], [id, "RUNNING", false]);
    assert.equal(stored(world).missing_count, 0);
    assert.deepEqual(await attention(world), []);
  });
});

Deno.test("one list with the pod between two lists without it starts the count anew", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.clock.advance(3 * MINUTE);
    const hide = (hidden: boolean) => world.runpod.pods.get(id).unlistedUntil = hidden ? Number.MAX_SAFE_INTEGER : 0;
    for (const hidden of [true, false, true]) {
      hide(hidden);
      assert.equal((await refreshed(world))[0].status, "RUNNING");
    }
    assert.equal((await refreshed(world))[0].status, "GONE");
  });
});

Deno.test("a read of one pod that RunPod answers with 404 makes it GONE at once, but not a fresh one", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const read = async () => (await world.call("GET", `${ORG}/pods/${id}`, { as: "officer" })).json.pod;
    const hidden = world.runpod.pods.get(id);
    hidden.invisibleUntil = world.clock.now() + 60 * MINUTE;
    const fresh = await read();
    assert.deepEqual([fresh.status, fresh.stale], ["RUNNING", true]);
    world.clock.advance(3 * MINUTE);
    assert.equal((await read()).status, "GONE");
  });
});

/** Lists that are no list; none of them may say anything about a pod. */
const FAILED_LISTS = [
  { fault: "F1", variant: "401" },
  { fault: "F1", variant: "403" },
  { fault: "F33", variant: "not-json" },
  { fault: "F33", variant: "html-200" },
  { fault: "F34", variant: "410" },
  { fault: "F31", variant: "retry-after-only", ms: 60_000 },
  { fault: "F20", variant: "endless" },
];

for (const fault of FAILED_LISTS) {
  Deno.test(`a list that failed says nothing: ${fault.fault} ${fault.variant}`, async () => {
    await inWorld({}, async (world) => {
      const id = await createRunningPod(world);
      world.clock.advance(3 * MINUTE);
      await refreshed(world);
      const before = stored(world);
      if (fault.fault !== "F20") world.runpod.pods.deleteOutside(id);
      world.runpod.faults.on({ ...fault, on: "GET /pods" });
      for (let look = 0; look < 3; look++) {
        world.clock.advance(6_000);
        const answer = await world.call("GET", `${ORG}/pods`, { as: "officer" });
        assert.equal(answer.status, 200, answer.text);
        const [pod] = answer.json.pods;
        assert.deepEqual([pod.status, pod.stale], ["RUNNING", true]);
        assert.equal(answer.json.warnings.length, 1);
        assert.match(answer.json.warnings[0], /\. These are the last known states\.$/);
      }
      assert.deepEqual(stored(world), before);
    });
  });
}

Deno.test("applyList and recordAnswer keep a newer answer, whichever comes first", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.clock.advance(10 * MINUTE);
    const parts = partsOf(world);
    const org = orgNamed(world);
    const now = world.clock.now();
    const running = runpodPod({ id, status: "RUNNING", address: { host: "192.0.2.1", port: 1_111 } });
    const exited = runpodPod({ id, status: "EXITED", address: null, uptimeSeconds: null });
    applyList(parts, org, [exited], now);
    applyList(parts, org, [running], now - 1);
    applyList(parts, org, [], now - 1);
    recordAnswer(parts, stored(world).id, running, now - 1);
    storeMissing(world.db, stored(world).id, true, now - 1);
    const { status, host, as_of, missing_count } = stored(world);
    assert.deepEqual([status, host, as_of, missing_count], ["EXITED", null, now, 0]);
    applyList(parts, org, [running], now + 1);
    assert.deepEqual([stored(world).status, stored(world).port], ["RUNNING", 1_111]);
    storeMissing(world.db, stored(world).id, true, now + 2);
    assert.deepEqual([stored(world).status, stored(world).as_of], ["GONE", now + 2]);
  });
});

Deno.test("recordAnswer leaves a terminated pod as it is", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.clock.advance(10 * MINUTE);
    await act(world, id, "terminate");
    recordAnswer(partsOf(world), stored(world).id, runpodPod({ id }), world.clock.now() + 1);
    assert.equal(stored(world).status, "TERMINATED");
  });
});

Deno.test("a pod that RunPod still has minutes after it took the terminate is back in the list with a word about it", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { name: "lab" });
    world.clock.advance(3 * MINUTE);
    world.runpod.faults.on({ fault: "F29", variant: "200-but-not-yet", times: 1, ms: 100 * MINUTE });
    assert.equal((await act(world, id, "terminate")).status, 200);
    assert.deepEqual(await refreshed(world), []);
    assert.deepEqual(await attention(world), []);
    world.clock.advance(2 * MINUTE);
    await refreshed(world);
    const [pod] = await refreshed(world);
    assert.deepEqual([pod?.id, pod?.status], [id, "RUNNING"]);
    const [entry] = await attention(world);
    assert.equal(entry.kind, "action_not_done");
    assert.match(entry.what, /A terminate that was asked for did not happen: RunPod still has the pod/);
    assert.equal((await act(world, id, "terminate")).status, 200);
    world.clock.advance(5 * MINUTE);
    assert.deepEqual(await refreshed(world), []);
    assert.equal(world.runpod.pods.list().length, 0);
  });
});

/** What an oddity of RunPod's pods (F19) may change in the list, and what must not break. */
const ODD: [string, Record<string, unknown>][] = [
  ["missing-parts", { status: "RUNNING" }],
  ["null-parts", { status: "RUNNING" }],
  ["unknown-status", { status: "REBALANCING" }],
  ["extra-fields", { status: "RUNNING" }],
  ["cost-zero", { status: "RUNNING", cost_per_hour: 0 }],
];

for (const [variant, expected] of ODD) {
  Deno.test(`a pod that RunPod describes oddly is still listed, stopped and terminated: F19 ${variant}`, async () => {
    await inWorld({}, async (world) => {
      const id = await createRunningPod(world, { name: "lab", use_cpu_only: false });
      world.runpod.faults.on({ fault: "F19", variant });
      world.clock.advance(3 * MINUTE);
      const [pod] = await refreshed(world);
      assert.equal(pod.id, id);
      assert.equal(pod.stale, false);
      for (const [field, value] of Object.entries(expected)) assert.equal(pod[field], value, field);
      assert.deepEqual(await attention(world), []);
      const one = await world.call("GET", `${ORG}/pods/${id}`, { as: "officer" });
      assert.equal(one.status, 200, one.text);
      assert.equal((await act(world, id, "stop")).status, 200);
      assert.equal(world.runpod.pods.get(id).phase, "exited");
      assert.equal((await act(world, id, "terminate")).status, 200);
      assert.equal(world.runpod.pods.list().length, 0);
    });
  });
}

for (const variant of ["short-pages", "empty-page", "no-pagination"]) {
  Deno.test(`a list in odd pages is read whole: F20 ${variant}`, async () => {
    await inWorld({}, async (world) => {
      const ids: string[] = [];
      for (let made = 0; made < 5; made++) {
        ids.push((await create(world)).json.pod.id);
        world.clock.advance(1_000);
      }
      world.runpod.faults.on({ fault: "F20", variant });
      world.clock.advance(3 * MINUTE);
      await refreshed(world);
      const pods = await refreshed(world);
      assert.deepEqual(pods.map((pod) => pod.id), ids, "all of them, oldest first");
      assert.ok(pods.every((pod) => pod.status === "RUNNING" && !pod.stale));
    });
  });
}

Deno.test("the list of an org's pods takes one call of RunPod, however many pods there are and however many ask", async () => {
  await inWorld({}, async (world) => {
    for (let made = 0; made < 4; made++) await create(world);
    world.clock.advance(5_000);
    const before = requests(world, "GET", /./).length;
    await Promise.all(Array.from({ length: 10 }, () => listed(world)));
    assert.equal(requests(world, "GET", /./).length, before + 1);
  });
});

Deno.test("GET of one pod shows RunPod's refusal and does not change what is stored", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const before = stored(world);
    world.clock.advance(1_000);
    world.runpod.faults.on({ fault: "F1", variant: "403", on: "GET /pods/{id}" });
    const answer = await world.call("GET", `${ORG}/pods/${id}`, { as: "officer" });
    assert.deepEqual([answer.status, answer.json.code], [400, "runpod_key_refused"]);
    assert.deepEqual(stored(world), before);
  });
});
