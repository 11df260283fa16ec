/** What the tests of the session routes share. */
import assert from "node:assert/strict";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { type ClockedWorld, ORG } from "../pods/support.ts";
import type { Answer } from "../support/world.ts";

/** The time of the world's clock plus so many minutes, as a body has it. */
export const inMinutes = (world: ClockedWorld, minutes: number) =>
  new Date(world.clock.now() + minutes * MINUTE).toISOString();

/** A body for a session from so many to so many minutes from now. */
export const between = (world: ClockedWorld, start: number, stop: number, more: Record<string, unknown> = {}) => ({
  start_at: inMinutes(world, start),
  stop_at: inMinutes(world, stop),
  ...more,
});

export const post = (world: ClockedWorld, pod: string, body: unknown) =>
  world.call("POST", `${ORG}/pods/${pod}/sessions`, { as: "officer", body });

/** Adds a session and gives its view. */
// deno-lint-ignore no-explicit-any
export async function added(world: ClockedWorld, pod: string, body: unknown): Promise<any> {
  const answer = await post(world, pod, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.json.session;
}

/** Calls a route of one session. */
export function onSession(
  world: ClockedWorld,
  method: string,
  pod: string,
  session: number | string,
  body?: unknown,
): Promise<Answer> {
  const path = `${ORG}/pods/${pod}/sessions/${session}`;
  return world.call(method, path, { as: "officer", ...(body === undefined ? {} : { body }) });
}

export const extend = (world: ClockedWorld, pod: string, session: number, minutes: unknown) =>
  world.call("POST", `${ORG}/pods/${pod}/sessions/${session}/extend`, { as: "officer", body: { minutes } });

/** What the schedule does to a session when it has started its pod. */
export function markStarted(world: ClockedWorld, session: number): void {
  world.db.run(
    "update compute_sessions set started = 1, started_at = ?, starting_at = ?, state = 'running' where id = ?",
    world.clock.now(),
    world.clock.now(),
    session,
  );
}

export function markFinished(world: ClockedWorld, session: number): void {
  world.db.run(
    "update compute_sessions set finished = 1, finished_at = ?, state = 'done' where id = ?",
    world.clock.now(),
    session,
  );
}

/** A stopped pod; RunPod's id of it. */
export async function stoppedPod(world: ClockedWorld, body: Record<string, unknown> = {}): Promise<string> {
  const made = await world.call("POST", `${ORG}/pods`, { as: "officer", body: { use_cpu_only: true, ...body } });
  assert.equal(made.status, 201, made.text);
  const id: string = made.json.pod.id;
  world.clock.advance(HOUR);
  const stopped = await world.call("POST", `${ORG}/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
  assert.equal(stopped.status, 200, stopped.text);
  return id;
}

/** The audit rows about sessions, newest first. */
// deno-lint-ignore no-explicit-any
export function auditOf(world: ClockedWorld): any[] {
  const rows = world.db.all<{ details: string }>(
    "select * from audit_log where action like '%/sessions%' order by id desc",
  );
  return rows.map((row) => ({ ...row, details: JSON.parse(row.details) }));
}
