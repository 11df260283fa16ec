/** A term as a seed gives it: pods, sessions, and everything that happens to them, by the time at which it does. */
import { DAY, HOUR, MINUTE, SECOND } from "../../../server/clock.ts";
import { CUTS, type Death } from "./life.ts";
import { planTrouble, type Trouble } from "./plan_trouble.ts";
import { createRandom, type Random } from "./random.ts";

export interface TermSize {
  readonly weeks: number;
  readonly pods: number;
  readonly sessions: number;
}

/** Monday; the clocks of New York are put back in week 9. */
export const TERM_BEGINS = Date.UTC(2026, 7, 31);
export const ZONE = "America/New_York";

export interface PlannedPod {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface PlannedSession {
  readonly pod: string;
  /** Names it; each session of a series has it. */
  readonly title: string;
  readonly startAt: number;
  readonly stopAt: number;
  readonly onGpuTaken: "wait" | "fresh_pod";
  readonly weeks: number;
}

/** What happens at one time. Pods and sessions are named; what no longer fits when its time comes is left out. */
export type Happening =
  | { readonly kind: "create_pod"; readonly pod: PlannedPod }
  | { readonly kind: "add_session"; readonly session: PlannedSession }
  | { readonly kind: "officer"; readonly action: "start" | "stop" | "restart" | "terminate"; readonly pod: string }
  | { readonly kind: "extend"; readonly title: string; readonly minutes: number }
  | { readonly kind: "delete"; readonly title: string }
  | { readonly kind: "move"; readonly title: string; readonly byMs: number }
  | { readonly kind: "review" }
  | {
    readonly kind: "outside";
    readonly what: "start" | "stop" | "restart" | "delete" | "migrate";
    readonly pod: string;
  }
  | { readonly kind: "trouble"; readonly trouble: Trouble }
  | { readonly kind: "trouble_ends"; readonly trouble: Trouble }
  | { readonly kind: "kill"; readonly death: Death; readonly downMs: number };

export type Planned = Happening & { readonly at: number };

export interface Plan {
  readonly from: number;
  readonly to: number;
  /** By time. */
  readonly happenings: readonly Planned[];
}

export function planTerm(seed: number, size: TermSize): Plan {
  const random = createRandom(seed);
  const to = TERM_BEGINS + size.weeks * 7 * DAY;
  const pods = planPods(random, size);
  const sessions = planSessions(random, size, pods, to);
  const happenings = [
    ...pods.flatMap(({ pod, at }) => [
      { kind: "create_pod" as const, pod, at },
      { kind: "officer" as const, action: "stop" as const, pod: pod.name, at: at + random.int(15, 50) * MINUTE },
    ]),
    ...sessions.map(({ at, ...session }) => ({ kind: "add_session" as const, session, at })),
    ...planPeople(random, size, pods, sessions, to),
    ...planTrouble(random, size, sessions, TERM_BEGINS, to),
    ...planKills(random, size, sessions, to),
    ...Array.from({ length: size.weeks * 7 * 4 }, (_, quarter) => ({
      kind: "review" as const,
      at: TERM_BEGINS + quarter * 6 * HOUR + 3 * HOUR,
    })),
  ];
  const whole = happenings.map((one) => ({ ...one, at: Math.round(one.at) }));
  return { from: TERM_BEGINS, to, happenings: whole.sort((a, b) => a.at - b.at) };
}

type PlannedAt<T> = T & { readonly at: number };

function planPods(random: Random, size: TermSize): { pod: PlannedPod; at: number }[] {
  return Array.from({ length: size.pods }, (_, index) => {
    const kind = random.next();
    const body = kind < 0.5 ? { use_cpu_only: true } : {
      cloud_type: random.chance(0.5) ? "SECURE" : "COMMUNITY",
      gpu_type_id: random.pick(["NVIDIA RTX A4000", "NVIDIA GeForce RTX 4090"]),
      volume_in_gb: kind < 0.75 ? random.int(1, 10) * 10 : 0,
    };
    const isLate = random.chance(0.15);
    const at = TERM_BEGINS +
      (isLate ? random.int(0, Math.floor(size.weeks * 7 / 2) * 24 * 12) : random.int(0, 36)) * 5 * MINUTE;
    return { pod: { name: `pod-${String(index).padStart(2, "0")}`, body }, at };
  });
}

function planSessions(
  random: Random,
  size: TermSize,
  pods: readonly { pod: PlannedPod; at: number }[],
  to: number,
): PlannedAt<PlannedSession>[] {
  const sessions: PlannedAt<PlannedSession>[] = [];
  let count = 0;
  const add = (one: { pod: PlannedPod; at: number }, startAt: number, minutes: number, weeks = 1) => {
    const isFree = one.pod.body["use_cpu_only"] === true || one.pod.body["volume_in_gb"] === 0;
    sessions.push({
      pod: one.pod.name,
      title: `session-${sessions.length}`,
      startAt,
      stopAt: startAt + minutes * MINUTE,
      onGpuTaken: isFree && random.chance(0.5) ? "fresh_pod" : "wait",
      weeks,
      at: Math.max(one.at + 30 * MINUTE, startAt - random.int(1, 20 * 24) * HOUR),
    });
    count += weeks;
  };
  while (count < size.sessions) {
    const one = random.pick(pods);
    const earliest = one.at + 6 * HOUR;
    const startAt = earliest +
      random.int(0, Math.max(0, Math.floor((to - 2 * DAY - earliest) / (5 * MINUTE)))) * 5 * MINUTE +
      (random.chance(0.3) ? random.int(0, 299) * SECOND : 0);
    const minutes = random.chance(0.05) ? random.int(8 * 60, 22 * 60) : random.int(3, 40) * 10;
    const kind = random.next();
    const weeksLeft = Math.floor((to - 2 * DAY - startAt) / (7 * DAY)) + 1;
    if (kind < 0.08 && weeksLeft >= 4) add(one, startAt, minutes, Math.min(weeksLeft, 12, size.sessions - count));
    else {
      add(one, startAt, minutes);
      // Back to back within the lead, or over each other.
      if (kind > 0.8 && count < size.sessions) {
        add(one, startAt + (minutes + random.int(0, 10)) * MINUTE, random.int(3, 12) * 10);
      } else if (kind > 0.6 && count < size.sessions) {
        add(one, startAt + random.int(0, Math.floor(minutes / 5)) * 5 * MINUTE, random.int(3, 20) * 10);
      }
    }
  }
  return sessions;
}

/** What officers do by hand, and people in RunPod's console. */
function planPeople(
  random: Random,
  size: TermSize,
  pods: readonly { pod: PlannedPod; at: number }[],
  sessions: readonly PlannedSession[],
  to: number,
): Planned[] {
  const somePod = () => random.pick(pods);
  const within = ({ startAt, stopAt }: PlannedSession) => startAt + random.next() * (stopAt - startAt);
  const anyTime = (after: number) => after + HOUR + random.next() * Math.max(0, to - DAY - after);
  const many = (perSession: number, make: () => Planned): Planned[] =>
    Array.from({ length: Math.ceil(size.sessions * perSession) }, make);
  const inSession = (make: (session: PlannedSession) => Happening) => (): Planned => {
    const session = random.pick(sessions);
    return { ...make(session), at: within(session) };
  };
  return [
    ...many(0.06, inSession(({ pod }) => ({ kind: "officer", action: random.pick(["stop", "restart"]), pod }))),
    ...many(0.06, () => {
      const { pod, at } = somePod();
      return { kind: "officer", action: random.pick(["start", "start", "stop"]), pod: pod.name, at: anyTime(at) };
    }),
    ...many(0.05, inSession(({ title }) => ({ kind: "extend", title, minutes: random.int(1, 12) * 10 }))),
    ...many(0.03, inSession(({ title }) => ({ kind: "delete", title }))),
    ...many(0.03, () => {
      const { title, startAt } = random.pick(sessions);
      return { kind: "delete", title, at: startAt - random.int(0, 20) * MINUTE };
    }),
    ...many(0.05, () => {
      const { title, startAt } = random.pick(sessions);
      return { kind: "move", title, byMs: random.int(-36, 36) * 5 * MINUTE, at: startAt - random.int(0, 300) * MINUTE };
    }),
    ...many(0.01, () => {
      const { pod } = somePod();
      return { kind: "officer", action: "terminate", pod: pod.name, at: to - random.int(1, 20) * DAY };
    }),
    ...many(0.06, inSession(({ pod }) => ({ kind: "outside", what: random.pick(["stop", "restart", "start"]), pod }))),
    ...many(0.06, () => {
      const { pod, at } = somePod();
      return {
        kind: "outside",
        what: random.pick(["start", "start", "stop", "restart"]),
        pod: pod.name,
        at: anyTime(at),
      };
    }),
    ...many(0.02, () => {
      const { pod, at } = somePod();
      return { kind: "outside", what: random.pick(["delete", "migrate", "migrate"]), pod: pod.name, at: anyTime(at) };
    }),
  ];
}

/** Kills: most of them while a pod is being started or stopped. */
function planKills(random: Random, size: TermSize, sessions: readonly PlannedSession[], to: number): Planned[] {
  return Array.from({ length: Math.ceil(size.sessions * 0.2) }, () => {
    const session = random.pick(sessions);
    const atAction = random.chance(0.75);
    const near = random.chance(0.5) ? session.startAt - 10 * MINUTE : session.stopAt;
    return {
      kind: "kill",
      death: { cut: random.pick(CUTS), count: atAction ? random.int(1, 2) : random.int(1, 6), atAction },
      downMs: random.chance(0.7)
        ? random.int(0, 10) * MINUTE
        : random.chance(0.8)
        ? random.int(1, 6) * HOUR
        : random.int(7, 20) * HOUR,
      at: random.chance(0.8) ? near - 4 * MINUTE : TERM_BEGINS + random.next() * (to - DAY - TERM_BEGINS),
    };
  });
}
