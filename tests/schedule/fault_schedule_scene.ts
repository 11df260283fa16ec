/** Plays one case of a fault for the schedule: a session of twenty minutes, with the fault at its start or stop. */
import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import type { FaultSpec, RecordedRequest } from "../../server/demo/runpod/mod.ts";
import { act, type ClockedWorld, inWorld } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { checkSecret, type Covered, ENV_VALUE, troubles } from "./fault_cases.ts";
import { addSession, asked, AT_ONCE, events, sessionRow } from "./support.ts";

export interface ScheduleLook {
  /** What RunPod was asked to change since the last look, in order, such as `start stop`. */
  readonly asked: string;
  /** State of the session, and whether it counts as started and finished. */
  readonly session: string;
  /** The session's failure; left out: there is none. */
  readonly error?: RegExp;
  /** Whether a pod of the session is up at RunPod, whatever the program believes. */
  readonly up: boolean;
}

export interface ScheduleScene {
  readonly world: ClockedWorld;
  /** The pod's first id at RunPod. */
  readonly pod: string;
  readonly session: number;
  /** Every request that reached RunPod from the beginning of the case on. */
  readonly sent: RecordedRequest[];
}

export interface ScheduleCase {
  /** What the schedule is about to do: start the pod, stop it, or replace one whose host has no free GPU. */
  readonly step: "start" | "stop" | "fresh_pod";
  /** The pod, beside what it has anyway; a GPU pod for `fresh_pod`. */
  readonly pod?: Readonly<Record<string, unknown>>;
  /** Narrows the fault. */
  readonly on?: Omit<FaultSpec, "fault" | "variant">;
  /** Faults that are on with it. */
  readonly also?: readonly FaultSpec[];
  /** Done before the turn; what it returns is done when the fault is switched off. */
  readonly prepare?: (scene: ScheduleScene) => void | (() => void);
  /** After the turn with the fault on; after the turn five minutes later with the fault off. */
  readonly during: ScheduleLook;
  readonly after: ScheduleLook;
  /** Kinds of all events from the beginning to the end. */
  readonly events: readonly string[];
  /** How the session ends; done unless said. */
  readonly ends?: string;
  /** How often the container of the pod was started in all; by default once at its create and once by the schedule. */
  readonly containers?: number;
  /** What officers still have to look at in the end. */
  readonly attention?: readonly string[];
  /** How many pods RunPod has in the end; one unless said. */
  readonly pods?: number;
  /** What is special about it; called with the fault on, after the first look. */
  readonly check?: (scene: ScheduleScene) => void | Promise<void>;
  /** The same at the very end. */
  readonly finally?: (scene: ScheduleScene) => void | Promise<void>;
}

const MINUTES = 20;
const NO_FREE_GPU: FaultSpec = { fault: "F27", variant: "problem", action: "start" };
const GPU = { use_cpu_only: false, cloud_type: "SECURE" };

/** Plays a case from before the turn to ten minutes after the session, and checks what must hold for all of them. */
export async function playSchedule(covered: Covered, one: ScheduleCase): Promise<void> {
  await inWorld(AT_ONCE, async (world) => {
    const scene = await begin(world, one);
    const restore = one.prepare?.(scene);
    const always = one.step === "fresh_pod" ? [NO_FREE_GPU] : [];
    const { fault, variant } = covered;
    for (const spec of always) world.runpod.faults.on(spec);
    if (variant !== null) world.runpod.faults.on({ fault, variant, ...one.on });
    for (const spec of one.also ?? []) world.runpod.faults.on(spec);
    await world.app.jobs.schedule.turn();
    look(scene, one.during, "with the fault");
    await one.check?.(scene);
    asked(world);

    world.runpod.faults.clear();
    restore?.();
    for (const spec of always) world.runpod.faults.on(spec);
    await fiveMinutes(world);
    look(scene, one.after, "after the fault");
    for (let minute = 5; minute < MINUTES + 10; minute += 5) await fiveMinutes(world);
    await checkEnd(scene, one);
  });
}

async function begin(world: ClockedWorld, one: ScheduleCase): Promise<ScheduleScene> {
  const hardware = one.step === "fresh_pod" ? GPU : {};
  const pod = await createRunningPod(world, { ...hardware, env: { WORD: ENV_VALUE }, ...one.pod });
  const session = (startsIn: number) =>
    addSession(world, pod, startsIn, MINUTES, { onGpuTaken: one.step === "fresh_pod" ? "fresh_pod" : "wait" });
  if (one.step === "stop") {
    const id = session(0);
    await world.app.jobs.schedule.turn();
    world.clock.advance(MINUTES * MINUTE);
    forget(world);
    return { world, pod, session: id, sent: [] };
  }
  assert.equal((await act(world, pod, "stop")).status, 200);
  world.clock.advance(20 * MINUTE);
  forget(world);
  return { world, pod, session: session(0), sent: [] };
}

/** What was told and asked before the case begins is of no interest. */
function forget(world: ClockedWorld): void {
  world.db.run("delete from events");
  world.db.run("delete from audit_log");
  asked(world);
}

/** Five minutes of a running server: it settles what is open, and then the schedule has its turn. */
async function fiveMinutes(world: ClockedWorld): Promise<void> {
  world.clock.advance(2 * MINUTE);
  await world.app.jobs.settle();
  world.clock.advance(3 * MINUTE);
  await world.app.jobs.settle();
  await world.app.jobs.schedule.turn();
}

function sessionState(scene: ScheduleScene): string {
  const { state, started, finished } = sessionRow(scene.world, scene.session)!;
  return [state, ...(started === 1 ? ["started"] : []), ...(finished === 1 ? ["finished"] : [])].join(" ");
}

const ours = (world: ClockedWorld) => world.runpod.pods.list().filter((pod) => pod.ours);

function look(scene: ScheduleScene, expected: ScheduleLook, when: string): void {
  const { world } = scene;
  scene.sent.push(...world.runpod.requests);
  const error = sessionRow(world, scene.session)!.error;
  const words = asked(world).map((call) =>
    call.split(" ")[0] === "POST" ? "create" : call.split(" ")[0]!.toLowerCase()
  );
  assert.deepEqual(
    { asked: words.join(" "), session: sessionState(scene), up: ours(world).some((pod) => pod.phase === "up") },
    { asked: expected.asked, session: expected.session, up: expected.up },
    `${when} (${error ?? "no error"})`,
  );
  if (expected.error === undefined) assert.equal(error, null, when);
  else assert.match(error ?? "", expected.error, when);
}

async function checkEnd(scene: ScheduleScene, one: ScheduleCase): Promise<void> {
  const { world } = scene;
  scene.sent.push(...world.runpod.requests);
  assert.equal(sessionState(scene), one.ends ?? "done started finished", "at the end");
  const left = ours(world);
  assert.equal(left.filter((pod) => pod.phase === "up").length, 0, "a pod runs on after the session");
  assert.equal(left.length, one.pods ?? 1, "pods at RunPod");
  const containers = one.containers ?? (one.step === "start" ? 2 : 1);
  for (const pod of left) assert.equal(pod.containerStarts, containers, "starts that RunPod carried out");
  assert.deepEqual(events(world), one.events, "events");
  assert.deepEqual(await troubles(world), one.attention ?? [], "attention");
  const done = world.db.all<{ action: string }>(
    "select details ->> 'action' as action from audit_log where outcome = 'ok' and details ->> 'action' is not null",
  ).map((row) => row.action);
  assert.equal(new Set(done).size, done.length, `the audit tells an action twice: ${done.join(" ")}`);
  await one.finally?.(scene);
  checkSecret(world);
}
