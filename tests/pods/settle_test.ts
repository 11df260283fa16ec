import assert from "node:assert/strict";
import type { IntentAction } from "../../db/stores/intents.ts";
import { insertIntent, markSent, markUnsettled } from "../../db/stores/intents.ts";
import { insertPod } from "../../db/stores/pods.ts";
import { MINUTE, SECOND } from "../../server/clock.ts";
import { isAsWanted } from "../../server/pods/act.ts";
import { POD_TIMINGS } from "../../server/pods/deps.ts";
import { createRefresher } from "../../server/pods/refresh.ts";
import { createActions } from "../../server/pods/act.ts";
import { closeNeverSent, createSettler, decideSettlement, settleDelay } from "../../server/pods/settle.ts";
import type { RunpodPod } from "../../server/runpod/client.ts";
import { createRunningPod } from "../support/world.ts";
import { attention, intentsOf, inWorld, listed, partsOf, requests, runpodPod } from "./support.ts";

const NOW = 10_000_000_000;
const CPU = JSON.stringify({ use_cpu_only: true });
const GPU = JSON.stringify({ use_cpu_only: false });

interface Case {
  readonly action: IntentAction;
  /** How long ago it was asked for and sent. */
  readonly age: number;
  /** RunPod's word, or null for a pod it does not have. */
  readonly pod: Partial<RunpodPod> | null;
  readonly podAge?: number;
  readonly config?: string;
  readonly never_sent?: boolean;
  readonly asked_by?: string;
  readonly expected: "done" | "failed" | "repeat" | "wait" | "no_gpu";
}

const RUNNING = { status: "RUNNING" };
const EXITED = { status: "EXITED" };

const CASES: Case[] = [
  // A create is adopted by the list, never by this.
  { action: "create", age: 10 * MINUTE, pod: null, expected: "wait" },
  { action: "create", age: 0, pod: RUNNING, expected: "wait" },
  // A stop is finished, for fifteen minutes.
  { action: "stop", age: 0, pod: EXITED, expected: "done" },
  { action: "stop", age: 60 * MINUTE, pod: EXITED, expected: "done" },
  { action: "stop", age: 0, pod: RUNNING, expected: "repeat" },
  { action: "stop", age: 15 * MINUTE, pod: RUNNING, expected: "repeat" },
  { action: "stop", age: 15 * MINUTE + 1, pod: RUNNING, expected: "failed" },
  { action: "stop", age: 0, pod: { status: "STARTING" }, expected: "repeat" },
  { action: "stop", age: 0, pod: { status: "REBALANCING" }, expected: "repeat" },
  { action: "stop", age: 0, pod: RUNNING, never_sent: true, expected: "repeat" },
  // A stop that a rule asked for is not: by now the pod may be kept up on purpose.
  { action: "stop", age: 0, pod: RUNNING, asked_by: "system:schedule", expected: "failed" },
  { action: "stop", age: 0, pod: RUNNING, asked_by: "system:idle_stop", never_sent: true, expected: "failed" },
  { action: "stop", age: 0, pod: null, asked_by: "system:budget", expected: "failed" },
  { action: "stop", age: 60 * MINUTE, pod: EXITED, asked_by: "system:max_run", expected: "done" },
  { action: "stop", age: 0, pod: RUNNING, asked_by: "local:root", expected: "repeat" },
  { action: "terminate", age: 0, pod: RUNNING, asked_by: "system:schedule", expected: "repeat" },
  // A terminate is finished too; a missing pod proves it only when the pod is not fresh.
  { action: "terminate", age: 0, pod: RUNNING, expected: "repeat" },
  { action: "terminate", age: 0, pod: EXITED, expected: "repeat" },
  { action: "terminate", age: 0, pod: { status: "TERMINATED" }, expected: "done" },
  { action: "terminate", age: 16 * MINUTE, pod: EXITED, expected: "failed" },
  { action: "terminate", age: 0, pod: null, expected: "done" },
  { action: "terminate", age: 60 * MINUTE, pod: null, expected: "done" },
  { action: "terminate", age: 0, pod: null, podAge: 2 * MINUTE, expected: "repeat" },
  { action: "terminate", age: 0, pod: null, podAge: 2 * MINUTE + 1, expected: "done" },
  // A start is never repeated: it costs money.
  { action: "start", age: 0, pod: RUNNING, expected: "done" },
  { action: "start", age: 0, pod: { status: "PROVISIONING" }, expected: "done" },
  { action: "start", age: 0, pod: { status: "STARTING" }, expected: "done" },
  { action: "start", age: 59 * SECOND, pod: EXITED, expected: "wait" },
  { action: "start", age: 60 * SECOND, pod: EXITED, expected: "failed" },
  { action: "start", age: 60 * SECOND, pod: null, expected: "failed" },
  { action: "start", age: 60 * SECOND, pod: { status: "ERROR" }, expected: "failed" },
  { action: "start", age: 59 * SECOND, pod: { status: "REBALANCING" }, expected: "wait" },
  { action: "start", age: 0, pod: { ...RUNNING, gpu: null }, config: GPU, expected: "no_gpu" },
  { action: "start", age: 0, pod: { ...RUNNING, gpu: { id: "A4000", count: 0 } }, config: GPU, expected: "no_gpu" },
  { action: "start", age: 0, pod: { ...RUNNING, gpu: { id: "A4000", count: 1 } }, config: GPU, expected: "done" },
  { action: "start", age: 10 * SECOND, pod: EXITED, never_sent: true, expected: "wait" },
  // A restart shows only in RunPod's start time.
  { action: "restart", age: 10 * SECOND, pod: { ...RUNNING, startedAt: NOW - 10 * SECOND }, expected: "done" },
  { action: "restart", age: 10 * SECOND, pod: { ...RUNNING, startedAt: NOW - 10 * SECOND - 1 }, expected: "wait" },
  { action: "restart", age: 60 * SECOND, pod: { ...RUNNING, startedAt: NOW - 61 * SECOND }, expected: "failed" },
  { action: "restart", age: 10 * SECOND, pod: { ...RUNNING, startedAt: null }, expected: "wait" },
  { action: "restart", age: 60 * SECOND, pod: null, expected: "failed" },
];

Deno.test("decideSettlement decides by action, age and what RunPod says now", () => {
  for (const one of CASES) {
    const pod = one.pod === null ? null : runpodPod(one.pod);
    const asked = NOW - one.age;
    const settlement = decideSettlement(
      NOW,
      {
        action: one.action,
        asked_at: asked,
        asked_by: one.asked_by ?? "200000000000000001",
        sent_at: one.never_sent ? null : asked,
      },
      pod,
      { created_at: NOW - (one.podAge ?? 60 * MINUTE), config: one.config ?? CPU },
      POD_TIMINGS,
    );
    assert.equal(settlement.kind, one.expected, JSON.stringify(one));
  }
});

Deno.test("isAsWanted takes an unknown status word for no", () => {
  for (const action of ["start", "stop", "restart", "terminate"] as const) {
    assert.equal(isAsWanted(action, { status: "REBALANCING" }), false, action);
    assert.equal(isAsWanted(action, { status: "UNKNOWN" }), false, action);
    assert.equal(isAsWanted(action, null), action === "terminate", action);
  }
});

Deno.test("settleDelay grows with the age of an intent, between 2 seconds and a minute", () => {
  assert.equal(settleDelay(0), 2_000);
  assert.equal(settleDelay(60_000), 6_000);
  assert.equal(settleDelay(60 * MINUTE), 60_000);
});

Deno.test("closeNeverSent ends what was never sent, except a stop or terminate, which are finished", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const parts = partsOf(world);
    const pod = world.db.get<{ id: string }>("select id from compute_pods where runpod_id = ?", id)!;
    const write = (action: IntentAction, podId = pod.id) => {
      const intent = {
        id: `never-${action}`,
        orgId: 1,
        podId,
        runpodId: action === "create" ? null : id,
        action,
        request: { audit: { source: "api", action: "POST x", actorKind: "officer", actorId: "1" } },
        askedBy: "1",
      };
      insertIntent(world.db, intent, world.clock.now());
    };
    insertPod(world.db, {
      id: "row-of-create",
      orgId: 1,
      name: "lab",
      runpodName: "lab-org-1",
      isPublic: false,
      allowedUsers: [],
      config: {},
      keepsFiles: false,
      createdBy: null,
    }, world.clock.now());
    write("create", "row-of-create");
    write("start");
    write("restart");
    write("stop");
    parts.inFlight.add("never-restart");
    const sentBefore = world.runpod.requests.length;
    closeNeverSent(parts);
    const stateOf = () => Object.fromEntries(intentsOf(world).map((one) => [one.id.replace(/^never-/, ""), one.state]));
    const { create, start, restart, stop } = stateOf();
    assert.deepEqual({ create, start, restart, stop }, {
      create: "failed",
      start: "failed",
      restart: "saved",
      stop: "saved",
    });
    assert.equal(
      world.db.get<{ state: string }>("select state from compute_pods where id = 'row-of-create'")?.state,
      "failed",
    );
    assert.equal(world.runpod.requests.length, sentBefore, "RunPod is not asked");
    const kinds = (await attention(world)).map((entry) => `${entry.kind} ${entry.what}`);
    assert.ok(
      kinds.some((text) => /^action_not_done A start that was asked for did not happen/.test(text)),
      kinds.join(),
    );
    assert.ok(!kinds.some((text) => text.startsWith("create_unsettled")), kinds.join());
    // The stop that was only written is carried out by the settler.
    parts.inFlight.clear();
    const refresher = createRefresher(parts, () => {});
    const settle = createSettler({ ...parts, refresher, actions: createActions(parts), poke: () => {} }).turn;
    await settle();
    assert.equal(world.runpod.pods.get(id).phase, "exited");
    assert.equal(stateOf()["restart"], "failed", "nobody handles it any more");
    world.clock.advance(3_000);
    await settle();
    assert.equal(stateOf()["stop"], "done");
    assert.deepEqual(requests(world, "POST", /action$/).map((one) => one.body), [{ action: "stop" }]);
    await refresher.close();
  });
});

Deno.test("the settler leaves an intent alone that a request handles, and asks less often the older one is", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const pod = world.db.get<{ id: string }>("select id from compute_pods")!;
    const parts = partsOf(world);
    const intent = {
      id: "one",
      orgId: 1,
      podId: pod.id,
      runpodId: id,
      action: "start" as const,
      request: { audit: {} },
      askedBy: "1",
    };
    world.runpod.pods.stop(id);
    insertIntent(world.db, intent, world.clock.now());
    markSent(world.db, "one", world.clock.now());
    markUnsettled(world.db, "one", "lost");
    parts.inFlight.add("one");
    const refresher = createRefresher(parts, () => {});
    const settle = createSettler({ ...parts, refresher, actions: createActions(parts), poke: () => {} }).turn;
    const reads = () => requests(world, "GET", `/pods/${id}`).length;
    const before = reads();
    world.clock.advance(3_000);
    await settle();
    assert.equal(reads(), before);
    parts.inFlight.clear();
    await settle();
    await settle();
    assert.equal(reads(), before + 1, "not twice within two seconds");
    world.clock.advance(2_000);
    await settle();
    assert.equal(reads(), before + 2);
    assert.equal((await listed(world)).length, 1);
    await refresher.close();
  });
});
