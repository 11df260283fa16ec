import assert from "node:assert/strict";
import { DAY, HOUR, MINUTE, SECOND } from "../../server/clock.ts";
import { judge, type Judgement, type Look } from "../../server/spend/stretches.ts";

const T = Date.UTC(2026, 10, 30, 12);
const LAST = T - MINUTE;
const RUN = T - 5 * HOUR;

const running = { kind: "running", runpodId: "p1" } as const;
const storage = { kind: "storage", runpodId: "p1" } as const;

function look(change: Partial<Look>): Look {
  return {
    at: T,
    last: LAST,
    open: running,
    before: { status: "RUNNING", startedAt: RUN },
    now: { runpodId: "p1", status: "RUNNING", startedAt: RUN },
    ours: null,
    ...change,
  };
}
const seen = (status: string, startedAt: number | null = RUN, runpodId = "p1") => ({ runpodId, status, startedAt });
const was = (status: string | null, startedAt: number | null = RUN) => ({ status, startedAt });
const ours = (action: string, sentAt: number) => ({ action, sentAt });
const nothing: Judgement = { kind: "nothing" };
const goesOn: Judgement = { kind: "goes_on" };
const changes = (until: number, from: number, next: "running" | "storage" | null): Judgement => ({
  kind: "changes",
  until,
  from,
  next,
});

const CASES: readonly (readonly [string, Partial<Look>, Judgement])[] = [
  ["goes on with a run that goes on", {}, goesOn],
  ["goes on with a run that was seen again after a week", { last: T - 7 * DAY }, goesOn],
  [
    "goes on with a run that RunPod tells no start of",
    { before: was("RUNNING", null), now: seen("RUNNING", null), last: T - DAY },
    goesOn,
  ],
  [
    "goes on with a run that was under a word nobody knows for hours",
    { last: T - 2 * HOUR, before: was("REBALANCING") },
    goesOn,
  ],
  ["goes on with a run of which RunPod tells the start only now", { before: was("RUNNING", null) }, goesOn],
  ["goes on with a word nobody knows by saying nothing", { now: seen("REBALANCING") }, nothing],
  [
    "goes on with a start that became a run",
    { before: was("STARTING", null), now: seen("RUNNING", T - SECOND) },
    goesOn,
  ],
  [
    "does not take a run that began hours after a start was seen for the same",
    { before: was("STARTING", null), last: T - 5 * HOUR, now: seen("RUNNING", T - HOUR) },
    changes(T - 5 * HOUR, T - HOUR, "running"),
  ],
  [
    "goes on through a restart of ours",
    { now: seen("RUNNING", T - 10 * SECOND), ours: ours("restart", T - 20 * SECOND) },
    goesOn,
  ],
  [
    "ends a run at the last look and begins the next where RunPod says",
    { last: T - 3 * HOUR, now: seen("RUNNING", T - HOUR) },
    changes(T - 3 * HOUR, T - HOUR, "running"),
  ],
  [
    "holds a run of another incarnation for another run",
    { last: T - HOUR, now: seen("RUNNING", T - MINUTE, "p2") },
    changes(T - HOUR, T - MINUTE, "running"),
  ],
  ["ends a run that was stopped by others at the last look", { now: seen("EXITED") }, changes(LAST, T, "storage")],
  [
    "ends a run that we stopped when RunPod answered",
    { now: seen("EXITED"), ours: ours("stop", T - SECOND) },
    changes(T, T, "storage"),
  ],
  [
    "ends a run that we stopped before a crash when the stop was sent",
    { now: seen("EXITED"), last: T - 62 * MINUTE, ours: ours("stop", T - HOUR) },
    changes(T - HOUR, T - HOUR, "storage"),
  ],
  [
    "does not count what nobody saw before a stop of ours",
    { now: seen("EXITED"), last: T - 3 * HOUR, ours: ours("stop", T - SECOND) },
    changes(T - 3 * HOUR, T, "storage"),
  ],
  ["ends a run of a pod that is gone at the last look", { now: null }, changes(LAST, T, null)],
  ["ends a run that we terminated at once", { now: null, ours: ours("terminate", T) }, changes(T, T, null)],
  ["goes on with the storage of a stopped pod", { open: storage, before: was("EXITED"), now: seen("EXITED") }, goesOn],
  [
    "goes on with storage after days, when the pod did not run meanwhile",
    { open: storage, before: was("EXITED"), now: seen("EXITED"), last: T - 4 * DAY },
    goesOn,
  ],
  [
    "notices that a stopped pod ran between two looks",
    { open: storage, before: was("EXITED"), now: seen("EXITED", T - HOUR), last: T - 4 * HOUR },
    changes(T - 4 * HOUR, T, "storage"),
  ],
  [
    "begins a run that we started when the start was sent, and storage lasts until then",
    { open: storage, before: was("EXITED"), now: seen("STARTING", null), ours: ours("start", T - SECOND) },
    changes(T - SECOND, T - SECOND, "running"),
  ],
  [
    "begins a run that others started where RunPod says",
    { open: storage, before: was("EXITED"), now: seen("RUNNING", T - 20 * SECOND) },
    changes(LAST, T - 20 * SECOND, "running"),
  ],
  [
    "does not believe the old start of a pod that is started",
    { open: storage, before: was("EXITED"), now: seen("RUNNING", RUN) },
    changes(LAST, T, "running"),
  ],
  [
    "counts an adopted pod from its start",
    { open: null, last: null, before: was(null, null) },
    changes(RUN, RUN, "running"),
  ],
  [
    "does not believe that an adopted pod runs since 1970",
    { open: null, last: null, before: was(null, null), now: seen("RUNNING", 0) },
    changes(T - 31 * DAY, T - 31 * DAY, "running"),
  ],
  [
    "does not believe a start in the future",
    { open: null, before: was("PROVISIONING", null), now: seen("RUNNING", T + HOUR) },
    changes(LAST, T, "running"),
  ],
  [
    "bills nothing while a pod is placed",
    { open: null, before: was(null, null), now: seen("PROVISIONING", null) },
    nothing,
  ],
  [
    "ends what was open of an incarnation that was replaced",
    { now: seen("PROVISIONING", null, "p2") },
    changes(LAST, T, null),
  ],
  ["says nothing of a gone pod that is terminated", { open: null, before: was("GONE"), now: null }, nothing],
  ["bills a pod in ERROR like a stopped one", { now: seen("ERROR") }, changes(LAST, T, "storage")],
];

for (const [what, change, wanted] of CASES) {
  Deno.test(`judge ${what}`, () => assert.deepEqual(judge(look(change)), wanted));
}

Deno.test("judge never lets the next stretch begin before the last one ends, whatever the clock does", () => {
  const times = [T - 400 * DAY, T - HOUR, T, T + HOUR, null];
  const statuses = ["RUNNING", "STARTING", "EXITED", "PROVISIONING", "ERROR", "TERMINATED", "ODD"];
  for (const last of [T - 2 * DAY, T, null]) {
    for (const startedAt of times) {
      for (const sentAt of times) {
        for (const before of statuses) {
          for (const now of [null, ...statuses]) {
            for (const open of last === null ? [null] : [null, running, storage]) {
              const own = sentAt === null || sentAt > T || last === null || sentAt <= last ? null : sentAt;
              const found = judge(look({
                last,
                open,
                before: was(before, startedAt),
                now: now === null ? null : seen(now, startedAt),
                ours: own === null ? null : ours("start", own),
              }));
              if (found.kind !== "changes") continue;
              assert.ok(found.until <= found.from && found.from <= T, JSON.stringify([last, startedAt, before, now]));
              assert.ok(last === null || found.until >= last, "time that was seen is given up");
            }
          }
        }
      }
    }
  }
});
