/** What the tests of money share: a world with its clock, short ways to pods and figures, and the stand-in's own meter. */
import assert from "node:assert/strict";
import type { EventRow } from "../../db/stores/events.ts";
import { type Answer, DEMO_SECRET, eventually, type World, type WorldOptions } from "../support/world.ts";
import { type ClockedWorld, inWorld, ORG } from "../pods/support.ts";

export { type ClockedWorld, inWorld, ORG };

/** Any JSON; tests look into it freely. */
// deno-lint-ignore no-explicit-any
export type Loose = any;

export const OFFICER = { as: "officer" } as const;

/** Repeated calls to RunPod wait hardly at all. */
export const QUICK: Omit<WorldOptions, "clock"> = { runpodLimits: { firstWaitMs: 1, attempts: 1 } };

/** What one more GPU pod costs by the hour in the stand-in: COMMUNITY price of an RTX A4000, 20 GB of container disk. */
export const DISK = 20 * 0.10 / 730;

export async function spend(world: World, query = ""): Promise<Loose> {
  const answer = await world.call("GET", `${ORG}/spend${query}`, OFFICER);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

export function act(world: World, id: string, action: string, more: Record<string, unknown> = {}): Promise<Answer> {
  return world.call("POST", `${ORG}/pods/${id}/action`, { ...OFFICER, body: { action, ...more } });
}

export async function must(call: Promise<Answer>): Promise<Loose> {
  const answer = await call;
  assert.ok(answer.status < 300, answer.text);
  return answer.json;
}

/** Lets the program look at all pods, unless RunPod is out. */
export async function look(world: World): Promise<void> {
  await must(world.call("GET", `${ORG}/pods`, OFFICER));
}

/** Time passes while the program looks every so often, as its loops do. */
export async function pass(world: ClockedWorld, ms: number, everyMs = 4 * 60_000): Promise<void> {
  for (let left = ms; left > 0; left -= everyMs) {
    world.clock.advance(Math.min(left, everyMs));
    await look(world);
  }
}

/** A running pod with a GPU and 40 GB of volume; its RunPod id. */
export async function gpuPod(world: ClockedWorld, body: Record<string, unknown> = {}): Promise<string> {
  const { pod } = await must(world.call("POST", `${ORG}/pods`, { ...OFFICER, body: { volume_in_gb: 40, ...body } }));
  await eventually(
    async () => (await must(world.call("GET", `${ORG}/pods/${pod.id}`, OFFICER))).pod.status === "RUNNING",
    "the pod runs",
    () => world.clock.advance(100),
  );
  return pod.id;
}

export interface Metered {
  readonly total: number;
  readonly gpu: number;
  readonly cpu: number;
  readonly disk: number;
  readonly running_seconds: number;
}

/** The stand-in's own meter, by RunPod's id. */
export async function meterOf(world: World): Promise<Map<string, Metered>> {
  const request = new Request("http://127.0.0.1/_demo/meter", { headers: { "x-demo-secret": DEMO_SECRET } });
  const { pods } = await (await world.runpod.fetch(request)).json();
  return new Map(pods.map((pod: Metered & { id: string }) => [pod.id, pod]));
}

/** Fails unless the figure is within one per cent of the meter, or further off by no more than it says itself. */
export function near(own: { amount: number; unsure: number }, meter: number, what: string): void {
  const slack = meter * 0.01 + 0.0002;
  assert.ok(own.amount <= meter + slack, `${what}: ${own.amount} is more than RunPod's ${meter}`);
  assert.ok(own.amount + own.unsure >= meter - slack, `${what}: ${own.amount} and ${own.unsure} is less than ${meter}`);
}

export function eventsOf(world: World, kind: string): (Omit<EventRow, "details"> & { details: Loose })[] {
  return world.db.all<EventRow>("select * from events where kind = ? order by id", kind)
    .map((event) => ({ ...event, details: JSON.parse(event.details) }));
}

export function setSettings(world: World, body: Record<string, unknown>): Promise<Loose> {
  return must(world.call("PUT", `${ORG}/settings`, { ...OFFICER, body }));
}
