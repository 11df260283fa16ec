/** Plays one case of a fault for reconcile: something happens to a pod, and the list is compared with what is stored. */
import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import type { FaultSpec, RecordedRequest } from "../../server/demo/runpod/mod.ts";
import type { PodRow } from "../../db/stores/pods.ts";
import { act, type ClockedWorld, create, inWorld, listed } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { checkSecret, type Covered, ENV_VALUE, troubles } from "./fault_cases.ts";
import { asked, AT_ONCE, events } from "./support.ts";

export interface ReconcileLook {
  /** The pod's last known state, and whether it is said to be an old one. */
  readonly status: string;
  readonly stale?: boolean;
  /** What is wrong with the pod; nothing unless said. */
  readonly trouble?: string;
  /** Kinds of all events so far. */
  readonly events?: readonly string[];
  /** What the audit says so far that somebody outside did. */
  readonly external?: readonly string[];
  readonly attention?: readonly string[];
}

export interface ReconcileScene {
  readonly world: ClockedWorld;
  /** The pod's first id at RunPod. */
  readonly pod: string;
  /** Every request that reached RunPod from the beginning of the case on. */
  readonly sent: RecordedRequest[];
}

/** What happens while the fault is on: outside orgpods, or because an officer asks for it here. */
export type Happening =
  | "nothing"
  | "stopped"
  | "started"
  | "restarted"
  | "deleted"
  | "migrated"
  | "our start"
  | "our stop"
  | "our terminate"
  | "our create";

export interface ReconcileCase {
  readonly happens: Happening;
  readonly pod?: Readonly<Record<string, unknown>>;
  readonly on?: Omit<FaultSpec, "fault" | "variant">;
  readonly also?: readonly FaultSpec[];
  readonly prepare?: (scene: ReconcileScene) => void | Promise<void>;
  /** Begun with the fault on, before what happens; `ended` is awaited after that. */
  readonly meanwhile?: (scene: ReconcileScene) => Promise<{ readonly ended: Promise<unknown> }>;
  /** The look while the fault is on comes after this much time; a few seconds unless said. */
  readonly laterMs?: number;
  readonly during: ReconcileLook;
  readonly after: ReconcileLook;
  /** What is special about it; called with the fault on, after the first look. */
  readonly check?: (scene: ReconcileScene) => void | Promise<void>;
  readonly finally?: (scene: ReconcileScene) => void | Promise<void>;
}

/** Plays a case until nothing changes any more, and checks that nothing is told twice. */
export async function playReconcile(covered: Covered, one: ReconcileCase): Promise<void> {
  await inWorld(AT_ONCE, async (world) => {
    const pod = await createRunningPod(world, { env: { WORD: ENV_VALUE }, ...one.pod });
    if (one.happens === "started" || one.happens === "our start") {
      assert.equal((await act(world, pod, "stop")).status, 200);
    }
    // So long that neither its create nor its stop can be meant by what is seen from now on.
    for (let minute = 0; minute < 10; minute += 5) {
      world.clock.advance(5 * MINUTE);
      await listed(world);
    }
    world.db.run("delete from events");
    world.db.run("delete from audit_log");
    asked(world);
    const scene: ReconcileScene = { world, pod, sent: world.runpod.requests };
    await one.prepare?.(scene);
    if (covered.variant !== null) world.runpod.faults.on({ fault: covered.fault, variant: covered.variant, ...one.on });
    for (const spec of one.also ?? []) world.runpod.faults.on(spec);
    const meanwhile = await one.meanwhile?.(scene);
    await happen(scene, one.happens);
    await meanwhile?.ended;
    await reconcile(world, one.laterMs ?? 5_000);
    await look(scene, one.during, "with the fault");
    await one.check?.(scene);

    world.runpod.faults.clear();
    for (let turns = 0; turns < 4; turns++) await reconcile(world, 70_000);
    await look(scene, one.after, "after the fault");
    const rows = () =>
      world.db.get<{ n: number }>("select count(*) as n from audit_log where outcome != 'unreachable'")!.n;
    const before = rows();
    for (let turns = 0; turns < 3; turns++) await reconcile(world, 70_000);
    await look(scene, one.after, "at the end");
    assert.equal(rows(), before, "the audit grows although nothing happens");
    await one.finally?.(scene);
    checkSecret(world);
  });
}

/** One turn of what a running server does: the list, what is wrong with the pods, and what is open. */
export async function reconcile(world: ClockedWorld, afterMs: number): Promise<void> {
  world.clock.advance(afterMs);
  await listed(world);
  await world.app.jobs.settle();
}

async function happen({ world, pod }: ReconcileScene, what: Happening): Promise<void> {
  const { pods } = world.runpod;
  switch (what) {
    case "nothing":
      return;
    case "stopped":
      return pods.stop(pod);
    case "started":
      return pods.start(pod);
    case "restarted":
      return pods.restart(pod);
    case "deleted":
      return pods.deleteOutside(pod);
    case "migrated":
      return void pods.migrate(pod);
    case "our create":
      return void await create(world, { name: "second", env: { WORD: ENV_VALUE } });
    case "our start":
    case "our stop":
    case "our terminate":
      return void await act(world, pod, what.slice("our ".length));
  }
}

async function look({ world, pod }: ReconcileScene, expected: ReconcileLook, when: string): Promise<void> {
  const id = "select p.* from compute_pods p join compute_pod_incarnations i on i.pod_id = p.id where i.runpod_id = ?";
  const row = world.db.get<PodRow>(id, pod)!;
  // The list is the one of the last turn: RunPod is not asked again for it.
  const shown = (await listed(world)).find((one) => one.id === row.runpod_id);
  const external = world.db.all<{ outcome: string }>(
    "select outcome from audit_log where actor_kind = 'external' order by id",
  );
  const trouble = row.trouble === "unreachable" ? null : row.trouble;
  assert.deepEqual({
    status: row.status,
    stale: shown?.stale ?? false,
    trouble,
    events: events(world),
    external: external.map((one) => one.outcome),
    attention: await troubles(world),
  }, {
    stale: false,
    events: [],
    external: [],
    attention: [],
    ...expected,
    trouble: expected.trouble ?? null,
  }, when);
  if (external.length > 0) assert.match(row.status_why ?? "", /outside orgpods/, `${when}: the state has its reason`);
}
