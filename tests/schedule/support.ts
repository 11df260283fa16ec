/** What the tests of the schedule share: sessions put into the database, turns, and what RunPod was asked to do. */
import { orgByPrefix } from "../../db/stores/organizations.ts";
import { podByRunpodId } from "../../db/stores/pods.ts";
import { insertSession, type NewSession, type SessionRow } from "../../db/stores/sessions.ts";
import { MINUTE } from "../../server/clock.ts";
import type { ClockedWorld } from "../pods/support.ts";

export const orgOf = (world: ClockedWorld) => orgByPrefix(world.db, "org")!;

/** A session of a pod, `startsIn` minutes from now and `minutes` long. */
export function addSession(
  world: ClockedWorld,
  runpodId: string,
  startsIn: number,
  minutes: number,
  more: Partial<NewSession> = {},
): number {
  const now = world.clock.now();
  return insertSession(world.db, {
    orgId: 1,
    podId: podByRunpodId(world.db, 1, runpodId)!.id,
    title: "Workshop",
    startAt: now + startsIn * MINUTE,
    stopAt: now + (startsIn + minutes) * MINUTE,
    seriesId: null,
    overBudget: false,
    onGpuTaken: "wait",
    createdBy: null,
    ...more,
  }, now).id;
}

export const sessionRow = (world: ClockedWorld, id: number) =>
  world.db.get<SessionRow>("select * from compute_sessions where id = ?", id);

/** Moves the clock and makes the turn that is then due. */
export async function turnAfter(world: ClockedWorld, minutes: number): Promise<void> {
  world.clock.advance(minutes * MINUTE);
  await world.app.jobs.schedule.turn();
}

/** What was sent to RunPod to change something, as `<action> <pod>`; forgets it. */
export function asked(world: ClockedWorld): string[] {
  const sent = world.runpod.requests.filter((one) => one.method !== "GET" && one.path !== "/graphql").map((one) => {
    const pod = /\/pods\/([^/]+)/.exec(one.path)?.[1] ?? "";
    const action = one.method === "POST" && pod !== "" ? (one.body as { action: string }).action : one.method;
    return `${action} ${pod}`.trim();
  });
  world.runpod.requests.length = 0;
  return sent;
}

/** Kinds of the org's events, oldest first, without that of pods of this test that have no SSH server. */
export function events(world: ClockedWorld): string[] {
  const told = "select kind from events where org_id = 1 and details not like '%unreachable%' order by id";
  return world.db.all<{ kind: string }>(told).map((one) => one.kind);
}

/** Refusals of RunPod come back at once, without the pauses between tries. */
export const AT_ONCE = { runpodLimits: { attempts: 1, callMs: 500 } } as const;

/** RunPod's own word on a pod, whatever the program believes. */
export async function statusAtRunpod(world: ClockedWorld, runpodId: string): Promise<string> {
  const answer = await world.call("GET", `/api/compute/org/pods/${runpodId}`, { as: "officer" });
  return answer.json.pod?.status ?? answer.json.code;
}
