/** What officers and people in RunPod's console do in a term. */
import { AppError } from "../../../server/errors.ts";
import { DAY, HOUR, MINUTE } from "../../../server/clock.ts";
import type { FakeRunpod } from "../../../server/demo/runpod/mod.ts";
import type { Answer } from "../../support/world.ts";
import { type Happening, type PlannedSession, ZONE } from "./plan.ts";
import type { Records, StoredSession } from "./records.ts";
import type { Watch } from "./watch.ts";

/** `again`: nothing came of it, try later. */
export type Outcome = "done" | "again";

export interface People {
  readonly records: () => Records;
  readonly watch: Watch;
  readonly runpod: FakeRunpod;
  now(): number;
  /** One call as an officer; null when the program was killed in it. */
  call(method: string, path: string, body?: unknown): Promise<Answer | null>;
}

const ORG = "/api/compute/org";

/** Nothing was decided: Discord, RunPod or the program is away. Other refusals are an answer. */
const outcomeOf = (answer: Answer | null): Outcome =>
  answer === null || answer.status === 503 || answer.status === 424 || answer.status === 429 ? "again" : "done";

export async function createPod(people: People, pod: (Happening & { kind: "create_pod" })["pod"]): Promise<Outcome> {
  const records = people.records();
  if (records.podNamed(pod.name) !== undefined) return "done";
  const isOpen = records.openIntents().some((one) => one.action === "create");
  // The search for a lost one comes first.
  if (isOpen) return "again";
  const answer = await people.call("POST", `${ORG}/pods`, { name: pod.name, ...pod.body });
  return answer?.status === 201 ? "done" : "again";
}

export async function addSession(people: People, session: PlannedSession): Promise<Outcome> {
  if (people.records().titled(session.title).length > 0) return "done";
  const pod = people.records().podNamed(session.pod);
  if (pod === undefined) return "again";
  return outcomeOf(
    await people.call("POST", `${ORG}/pods/${pod.runpod_id}/sessions`, {
      title: session.title,
      start_at: new Date(session.startAt).toISOString(),
      stop_at: new Date(session.stopAt).toISOString(),
      on_gpu_taken: session.onGpuTaken,
      ...(session.weeks === 1 ? {} : { repeat: { every_weeks: 1, count: session.weeks, time_zone: ZONE } }),
    }),
  );
}

export async function actOn(people: People, name: string, action: string): Promise<Outcome> {
  const pod = people.records().podNamed(name);
  if (pod === undefined) return action === "stop" ? "again" : "done";
  const answer = await people.call("POST", `${ORG}/pods/${pod.runpod_id}/action`, { action });
  // What RunPod may have done is not asked for twice.
  return answer?.status === 503 ? "again" : "done";
}

/** Extends, deletes or moves the session of that title that is nearest, unless it is over. */
export async function changeSession(
  people: People,
  change: Happening & { kind: "extend" | "delete" | "move" },
): Promise<Outcome> {
  const session = nearest(people.records().titled(change.title).filter((one) => one.finished === 0), people.now());
  if (session === undefined || session.runpod_id === null) return "done";
  const path = `${ORG}/pods/${session.runpod_id}/sessions/${session.id}`;
  switch (change.kind) {
    case "extend":
      return outcomeOf(await people.call("POST", `${path}/extend`, { minutes: change.minutes }));
    case "delete":
      return outcomeOf(await people.call("DELETE", path));
    case "move": {
      const moved = (at: number) => new Date(at + change.byMs).toISOString();
      const body = { start_at: moved(session.start_at), stop_at: moved(session.stop_at) };
      return outcomeOf(await people.call("PUT", path, body));
    }
  }
}

function nearest(sessions: readonly StoredSession[], now: number): StoredSession | undefined {
  return [...sessions].sort((a, b) => Math.abs(a.start_at - now) - Math.abs(b.start_at - now))[0];
}

/** An officer goes through what needs attention: adopts what moved, forgets what came to nothing, ends what is gone. */
export async function review(people: People): Promise<Outcome> {
  const answer = await people.call("GET", `${ORG}/attention`);
  if (answer?.status !== 200) return "again";
  for (const entry of answer.json.attention) {
    const age = people.now() - Date.parse(entry.since);
    if (entry.kind === "orphan" && age > 10 * MINUTE) await resolve(people, entry.id, "adopt");
    if (entry.kind === "action_not_done") await resolve(people, entry.id, "forget");
    if (entry.kind === "create_unsettled" && age > 10 * MINUTE) await resolve(people, entry.id, "forget");
    if (entry.kind === "gone" && age > 2 * DAY) {
      await people.call("POST", `${ORG}/pods/${entry.pod_id}/action`, { action: "terminate" });
    }
  }
  return "done";
}

const resolve = (people: People, id: string, action: string) =>
  people.call("POST", `${ORG}/attention/${id}`, { action });

export async function actOutside(people: People, happening: Happening & { kind: "outside" }): Promise<Outcome> {
  const pod = people.records().podNamed(happening.pod);
  if (pod === undefined || pod.runpod_id === null) return "done";
  const { pods } = people.runpod;
  const id = pod.runpod_id;
  const acts = {
    start: () => pods.start(id),
    stop: () => pods.stop(id),
    restart: () => pods.restart(id),
    delete: () => pods.deleteOutside(id),
    migrate: () => void pods.migrate(id),
  };
  try {
    await people.watch.as("outside", acts[happening.what]);
  } catch (error) {
    // It does not fit the pod's state, or the pod is gone.
    if (!(error instanceof AppError) || error.code !== "pod_refused" && error.code !== "pod_not_found") throw error;
  }
  return "done";
}

/** How long something that could not be done is tried again; an officer gives up then. */
export function patienceMs(happening: Happening): number {
  if (happening.kind === "create_pod") return 5 * DAY;
  if (happening.kind === "review") return 0;
  return happening.kind === "add_session" || happening.kind === "officer" ? DAY : HOUR;
}
