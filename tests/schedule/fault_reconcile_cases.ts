/** What reconcile makes of each fault of the stand-in RunPod that can be switched on. */
import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import { eventually } from "../support/world.ts";
import { act, creates, intentsOf, listed, requests } from "../pods/support.ts";
import { type ReconcileCase, type ReconcileScene } from "./fault_reconcile_scene.ts";

const GPU = { use_cpu_only: false, cloud_type: "SECURE" } as const;
const LIST = { on: "GET /pods" } as const;
const READ = { on: "GET /pods/{id}" } as const;
const ACTION = { on: "POST /pods/{id}/action" } as const;
const CREATE = { on: "POST /pods" } as const;

/** The list is readable all the same: a stop in the console is seen, and told once. */
export const SEEN: ReconcileCase = {
  happens: "stopped",
  during: { status: "EXITED", events: ["pod.stopped"], external: ["stopped"] },
  after: { status: "EXITED", events: ["pod.stopped"], external: ["stopped"] },
};

/** The list is not readable: the last known state stays, and says that it is old. */
const UNSEEN: ReconcileCase = { ...SEEN, on: LIST, during: { status: "RUNNING", stale: true } };

/** A pod that was deleted while nobody could look is called gone only when the list can be read again. */
const UNSEEN_DELETE: ReconcileCase = {
  happens: "deleted",
  on: LIST,
  during: { status: "RUNNING", stale: true },
  after: { status: "GONE", trouble: "gone", events: ["pod.failed"], external: ["gone"], attention: ["gone"] },
};

const STAYS: ReconcileCase = { happens: "nothing", during: { status: "RUNNING" }, after: { status: "RUNNING" } };

/** An action of ours that is refused changes nothing, is nobody else's doing, and leaves nothing open. */
const refusedStart = (pod: Readonly<Record<string, unknown>> = {}): ReconcileCase => ({
  happens: "our start",
  pod,
  on: ACTION,
  during: { status: "EXITED" },
  after: { status: "EXITED" },
  finally: ({ world }) => assert.equal(intentsOf(world).at(-1)!.state, "failed"),
});

/** A stop of ours whose answer is lost is ours, however late RunPod shows it. */
const lostStop: ReconcileCase = {
  happens: "our stop",
  on: ACTION,
  during: { status: "EXITED", events: ["pod.stopped"] },
  after: { status: "EXITED", events: ["pod.stopped"] },
};

/** A create that is refused leaves nothing to look for. */
const refusedCreate: ReconcileCase = {
  ...STAYS,
  happens: "our create",
  on: CREATE,
  finally({ world }) {
    assert.equal(intentsOf(world).at(-1)!.state, "failed");
    assert.equal(creates(world), 1);
  },
};

/** A create whose answer is lost is found by its name, once, and told once. */
const lostCreate: ReconcileCase = {
  ...STAYS,
  happens: "our create",
  on: { ...CREATE, ms: 30_000 },
  during: { status: "RUNNING", attention: ["create_unsettled"] },
  after: { status: "RUNNING", events: ["pod.created"] },
  async finally({ world }) {
    assert.deepEqual((await listed(world)).map((pod) => pod.name), [(await listed(world))[0].name, "second"]);
    assert.equal(creates(world), 1);
  },
};

const neverMade: ReconcileCase = {
  ...lostCreate,
  on: CREATE,
  after: { status: "RUNNING", attention: ["create_unsettled"] },
  async finally({ world }) {
    assert.equal((await listed(world)).length, 1);
    assert.equal(creates(world), 1, "it is never sent again");
  },
};

const limited = (ms: number): ReconcileCase => ({
  ...UNSEEN,
  on: { ...LIST, ms },
  async check(scene) {
    const before = scene.sent.length;
    await act(scene.world, scene.pod, "restart");
    if (ms > 5_000) assert.equal(scene.sent.length, before, "nothing is sent before the wait is over");
  },
});

/** By fault and variant. */
export const SWITCHED_CASES: Readonly<Record<string, ReconcileCase>> = {
  "F1 401": { ...UNSEEN_DELETE, on: {} },
  "F1 403": { ...UNSEEN, on: {} },
  "F7 absent": SEEN,
  "F7 one-window": SEEN,
  // A pod that is on its way up has an empty runtime: no address, no trouble.
  "F9 empty-runtime": { ...SEEN, finally: noAddress },
  "F10 refresh": refusedCreate,
  "F10 plain": refusedCreate,
  "F10 currently": refusedCreate,
  "F10 resources": refusedCreate,
  "F11 balance": refusedCreate,
  "F11 forbidden": refusedCreate,
  // The count is always sent: the pod is made, and is one of ours at once.
  "F12 count-refused": {
    ...STAYS,
    happens: "our create",
    during: { status: "RUNNING", events: ["pod.created"] },
    after: { status: "RUNNING", events: ["pod.created"] },
  },
  "F13 cut": lostCreate,
  "F13 hang": lostCreate,
  "F13 500": lostCreate,
  "F13 502": lostCreate,
  "F13 cut-body": lostCreate,
  "F14 500": neverMade,
  "F14 cut": neverMade,
  // A pod that was made just now and is in no answer yet is neither gone nor somebody's work.
  "F15 invisible": {
    ...STAYS,
    happens: "our create",
    on: { ms: 60_000 },
    during: { status: "RUNNING", events: ["pod.created"] },
    after: { status: "RUNNING", events: ["pod.created"] },
    async check({ world }) {
      for (let looks = 0; looks < 4; looks++) {
        world.clock.advance(2_000);
        const second = (await listed(world)).find((pod) => pod.name === "second");
        assert.notEqual(second.status, "GONE");
        assert.ok(second.stale, "its state is an old one");
      }
    },
  },
  "F16 never-address": {
    ...STAYS,
    happens: "restarted",
    laterMs: 16 * MINUTE,
    during: {
      status: "RUNNING",
      trouble: "no_address",
      attention: ["no_address"],
      events: ["pod.started", "pod.failed"],
      external: ["restarted"],
    },
    after: { status: "RUNNING", events: ["pod.started", "pod.failed"], external: ["restarted"] },
  },
  "F16 runtime-only": { ...STAYS, check: hasAddress },
  "F16 late-address": {
    ...STAYS,
    happens: "our start",
    on: { ms: 10 * MINUTE },
    laterMs: 9 * MINUTE,
    during: { status: "RUNNING", events: ["pod.started"] },
    after: { status: "RUNNING", events: ["pod.started"] },
    check: ({ world, pod }) => assert.equal(stored(world, pod).host, null),
    finally: hasAddress,
  },
  "F17 http-entry": { ...STAYS, check: hasAddress },
  "F17 null-entries": { ...STAYS, check: hasAddress },
  "F18 stale-runtime": { ...SEEN, check: noAddress },
  "F19 missing-parts": SEEN,
  "F19 null-parts": SEEN,
  // A word nobody knows is kept as it is, and is neither a stop nor, when it goes, a start.
  "F19 unknown-status": { ...STAYS, during: { status: "REBALANCING" } },
  "F19 extra-fields": SEEN,
  // A price of 0 is not believed while the pod runs.
  "F19 cost-zero": {
    ...STAYS,
    laterMs: 60 * MINUTE,
    check({ world }) {
      const open = world.db.get<{ hardware_per_hour: number }>("select * from compute_spend where until_at is null")!;
      assert.ok(open.hardware_per_hour > 0);
    },
  },
  "F20 short-pages": { ...SEEN, prepare: manyPods },
  "F20 empty-page": { ...SEEN, prepare: manyPods },
  "F20 no-pagination": { ...SEEN, prepare: manyPods },
  // A list that never ends says nothing of what is missing in it.
  "F20 endless": { ...UNSEEN_DELETE, prepare: manyPods },
  // RunPod does not let the pod be stopped: it runs, and nobody is told otherwise.
  "F24 conflict": {
    ...refusedStart(),
    happens: "our stop",
    during: { status: "RUNNING" },
    after: { status: "RUNNING" },
  },
  // The old address is shown for a while; it is this start's address that counts in the end.
  "F26 stale-reads": {
    ...STAYS,
    happens: "our start",
    during: { status: "RUNNING", events: ["pod.started"] },
    after: { status: "RUNNING", events: ["pod.started"] },
    finally: hasAddress,
  },
  "F26 ip": {
    ...STAYS,
    happens: "our start",
    during: { status: "RUNNING", events: ["pod.started"] },
    after: { status: "RUNNING", events: ["pod.started"] },
    finally(scene) {
      hasAddress(scene);
      assert.notEqual(stored(scene.world, scene.pod).host, "127.0.0.1");
    },
  },
  "F27 problem": refusedStart(GPU),
  "F27 plain": refusedStart(GPU),
  "F27 other": refusedStart(GPU),
  "F28 zero": lostWithoutGpu("no_gpu"),
  // That an answer lacks the GPU is believed after some minutes only, so nothing is told of it.
  "F28 absent": lostWithoutGpu(null),
  "F29 500-but-done": lostStop,
  // RunPod says yes and shows it minutes later: that is still what was asked for here.
  "F29 200-but-not-yet": {
    ...lostStop,
    on: { ...ACTION, ms: 4 * MINUTE },
    during: { status: "RUNNING", events: ["pod.stopped"] },
    after: { status: "EXITED", events: ["pod.stopped"] },
  },
  "F31 minute": limited(12_000),
  "F31 hour": limited(60_000),
  "F31 retry-after-only": limited(30_000),
  "F31 bare": limited(0),
  "F32 html-502": UNSEEN,
  "F32 html-524": UNSEEN_DELETE,
  "F32 empty-503": UNSEEN,
  "F32 agent-403": UNSEEN,
  "F33 error": UNSEEN,
  "F33 message": UNSEEN_DELETE,
  "F33 not-json": UNSEEN_DELETE,
  "F33 html-200": UNSEEN_DELETE,
  "F34 slow": lateList(),
  "F34 cut": UNSEEN_DELETE,
  // Nothing gets through, not even the stop: it is made up for, and is ours.
  "F34 refused-like": {
    ...lostStop,
    on: {},
    during: { status: "RUNNING", stale: true, attention: ["action_unsettled"] },
  },
  "F34 410": UNSEEN,
};

const stored = (world: ReconcileScene["world"], pod: string) =>
  world.db.get<{ host: string | null; port: number | null }>("select * from compute_pods where runpod_id = ?", pod)!;

function hasAddress({ world, pod }: ReconcileScene): void {
  const { host, port } = stored(world, pod);
  assert.deepEqual({ host, port }, { ...world.runpod.pods.get(pod).address });
}

function noAddress({ world, pod }: ReconcileScene): void {
  assert.ok(world.runpod.pods.get(pod).address !== null, "RunPod knows an old one");
  assert.equal(stored(world, pod).host, null);
}

/** The pod is the last of a long list. */
function manyPods({ world }: ReconcileScene): void {
  for (const n of [1, 2, 3, 4]) world.runpod.pods.addForeign({ name: `theirs-${n}`, cpu: true });
}

/** A start whose answer is lost, and that came up without its GPU: it is stopped again when that is seen. */
function lostWithoutGpu(trouble: "no_gpu" | null): ReconcileCase {
  const told = trouble === null ? [] : ["pod.failed"];
  return {
    happens: "our start",
    pod: GPU,
    also: [
      { fault: "F29", variant: "500-but-done", action: "start", times: 1 },
      { fault: "F1", variant: "401", ...READ },
    ],
    laterMs: 1_500,
    during: {
      status: "RUNNING",
      ...(trouble === null ? {} : { trouble }),
      events: told,
      attention: ["action_unsettled", ...(trouble === null ? [] : [trouble])],
    },
    after: { status: "EXITED", events: [...told, "pod.failed"], attention: ["action_not_done"] },
    finally({ world, pod }) {
      assert.equal(world.runpod.pods.get(pod).phase, "exited");
      const sent = requests(world, "POST", /action$/).map((one) => (one.body as { action: string }).action);
      assert.deepEqual(sent, ["start", "stop"]);
    },
  };
}

/** A list that was asked for before a stop and arrives after it: it must not look like a start from outside. */
function lateList(): ReconcileCase {
  return {
    ...lostStop,
    on: { ...LIST, ms: 150, times: 1 },
    prepare: ({ world }) => world.clock.advance(5_000),
    meanwhile: async ({ world }) => {
      const lists = requests(world, "GET", "/pods").length;
      const list = listed(world);
      await eventually(() => requests(world, "GET", "/pods").length > lists, "the list is on its way");
      world.clock.advance(1_000);
      return { ended: list };
    },
  };
}
