/** Outages and single faults of RunPod and Discord in a term. */
import type { FaultSpec } from "../../../server/demo/runpod/mod.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../../server/clock.ts";
import type { Planned, PlannedSession, TermSize } from "./plan.ts";
import type { Random } from "./random.ts";

export type Trouble =
  | { readonly upstream: "runpod"; readonly spec: FaultSpec }
  | { readonly upstream: "discord"; readonly variant: string };

/** Nothing gets through, or nothing that can be read comes back. */
const OUTAGES: readonly FaultSpec[] = [
  { fault: "F34", variant: "refused-like" },
  { fault: "F32", variant: "html-502" },
  { fault: "F32", variant: "html-524" },
  { fault: "F32", variant: "empty-503" },
  { fault: "F31", variant: "minute", ms: 30_000 },
  { fault: "F31", variant: "hour", ms: 240_000 },
  { fault: "F31", variant: "bare" },
  { fault: "F33", variant: "not-json" },
  { fault: "F33", variant: "html-200" },
  { fault: "F34", variant: "cut" },
  { fault: "F34", variant: "slow", ms: 5 },
  { fault: "F1", variant: "401" },
  { fault: "F20", variant: "endless", on: "GET /pods" },
  { fault: "F34", variant: "refused-like", on: "GET /pods" },
  { fault: "F32", variant: "html-502", on: "POST /pods/{id}/action" },
  { fault: "F19", variant: "unknown-status" },
];

const ACTION = "POST /pods/{id}/action";
/** One action or a few go wrong. */
const SINGLE: readonly FaultSpec[] = [
  { fault: "F29", variant: "500-but-done" },
  { fault: "F29", variant: "200-but-not-yet", ms: 2 * SECOND },
  { fault: "F29", variant: "200-but-not-yet", ms: 2 * MINUTE },
  { fault: "F32", variant: "html-524", on: ACTION },
  { fault: "F33", variant: "html-200", on: ACTION },
  { fault: "F33", variant: "not-json", on: ACTION },
  { fault: "F34", variant: "cut", on: ACTION },
  { fault: "F34", variant: "slow", ms: 400, on: ACTION },
  { fault: "F34", variant: "refused-like", on: ACTION },
  { fault: "F24", variant: "conflict", on: ACTION },
  { fault: "F28", variant: "zero" },
  { fault: "F28", variant: "absent" },
  { fault: "F27", variant: "other" },
  { fault: "F27", variant: "plain" },
];

/** The host's GPU is taken for some time. */
const TAKEN: readonly FaultSpec[] = [
  { fault: "F27", variant: "problem" },
  { fault: "F28", variant: "zero" },
];

const CREATES: readonly FaultSpec[] = [
  { fault: "F13", variant: "cut", ms: 20 * SECOND },
  { fault: "F13", variant: "hang", ms: SECOND },
  { fault: "F13", variant: "502", ms: 45 * SECOND },
  { fault: "F13", variant: "cut-body", ms: SECOND },
  { fault: "F14", variant: "500" },
  { fault: "F14", variant: "cut" },
  { fault: "F10", variant: "plain" },
  { fault: "F15", variant: "invisible", ms: 30 * SECOND },
];

const DISCORD = ["500", "502", "503", "html-200", "cut"];

export function planTrouble(
  random: Random,
  size: TermSize,
  sessions: readonly PlannedSession[],
  from: number,
  to: number,
): Planned[] {
  const edge = () => {
    const { startAt, stopAt } = random.pick(sessions);
    return random.chance(0.5) ? startAt - 10 * MINUTE : stopAt;
  };
  const during = (trouble: Trouble, at: number, ms: number): Planned[] => [
    { kind: "trouble", trouble, at },
    { kind: "trouble_ends", trouble, at: Math.min(at + ms, to - HOUR) },
  ];
  const many = (perSession: number, make: () => Planned[]): Planned[] =>
    Array.from({ length: Math.ceil(size.sessions * perSession) }, make).flat();
  const runpod = (spec: FaultSpec): Trouble => ({ upstream: "runpod", spec });
  const outageMs = () => random.chance(0.8) ? random.int(5, 90) * MINUTE : random.int(2, 9) * HOUR;
  return [
    ...many(0.1, () => during(runpod({ ...random.pick(OUTAGES) }), edge() - random.int(0, 30) * MINUTE, outageMs())),
    ...many(0.25, () => {
      const trouble = runpod({ ...random.pick(SINGLE), times: random.int(1, 2) });
      return during(trouble, edge() - 4 * MINUTE, 2 * HOUR);
    }),
    ...many(0.08, () => during(runpod({ ...random.pick(TAKEN) }), edge() - 5 * MINUTE, random.int(5, 120) * MINUTE)),
    ...many(
      0.03,
      () => during(runpod({ ...random.pick(CREATES), times: 1 }), from + random.int(0, 36) * 5 * MINUTE, 2 * DAY),
    ),
    ...many(0.03, () => {
      const trouble = { upstream: "discord", variant: random.pick(DISCORD) } as const;
      return during(trouble, from + random.next() * (to - DAY - from), outageMs());
    }),
  ];
}
