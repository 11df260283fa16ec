/** What must hold while a term goes on. Each broken rule is a sentence. */
import { DAY, HOUR, isoTime, MINUTE } from "../../../server/clock.ts";
import type { FakeRunpod } from "../../../server/demo/runpod/mod.ts";
import { SCHEDULE_TIMINGS } from "../../../server/schedule/decide.ts";
import type { Records, StoredSession } from "./records.ts";
import type { Order, Watch } from "./watch.ts";

const { leadMs, turnMs } = SCHEDULE_TIMINGS;
/** By the org's settings. */
const LONGEST_RUN_MS = DAY;
/** A turn to see it, and another one to have it settled. */
const GRACE_MS = 2 * turnMs + MINUTE;

export interface Rules {
  /** An order that goes out to RunPod. */
  onOrder(order: Order, now: number): void;
  /** After a turn at `now`, when nothing has been in the way since `calmSince`. */
  whenCalm(now: number, calmSince: number): void;
  readonly broken: readonly string[];
  break(sentence: string): void;
}

const covers = (session: StoredSession, at: number) => session.start_at - leadMs <= at && at < session.stop_at;

export function createRules(parts: {
  readonly records: () => Records;
  readonly watch: () => Watch;
  readonly runpod: FakeRunpod;
}): Rules {
  const broken = new Map<string, string>();
  let orphansAt = 0;
  /** Sessions in whose window the program certainly saw the pod up. */
  const seenUp = new Set<number>();
  const breakOnce = (key: string, sentence: string) => {
    if (!broken.has(key)) broken.set(key, sentence);
  };

  /** The program acts by itself only for a reason. */
  const onOrder = ({ pod, action, who }: Order, now: number) => {
    if (who !== "server" || action === "create" || action === "terminate") return;
    const records = parts.records();
    const sessions = records.sessionsOf(pod);
    const told = `${isoTime(now)} ${pod}`;
    // A lost order of an officer is finished by the program.
    const isAsked = records.openIntents().some((one) =>
      one.runpod_id === pod && one.action === action && !one.asked_by.startsWith("system:")
    );
    if (isAsked) return;
    if (action === "restart") return breakOnce(told, `${told}: restarted by nobody's wish`);
    const open = sessions.filter((one) => covers(one, now) && one.finished === 0);
    if (action === "start") {
      if (open.some((one) => one.started === 0)) return;
      return breakOnce(told, `${told}: started without a session that waits for it`);
    }
    const run = parts.watch().runOf(pod);
    if (run === undefined || run.withoutGpu) return;
    if (open.length > 0) {
      return breakOnce(told, `${told}: stopped within the session ${open.map((one) => one.title)}`);
    }
    const hadSession = sessions.some((one) => one.stop_at <= now && run.from <= one.stop_at);
    if (hadSession || now - run.from >= LONGEST_RUN_MS) return;
    breakOnce(told, `${told}: stopped without a reason; it runs since ${isoTime(run.from)} by ${run.who}`);
  };

  const whenCalm = (now: number, calmSince: number) => {
    const records = parts.records();
    const up = new Map(parts.runpod.pods.list().filter((pod) => pod.phase === "up").map((pod) => [pod.id, pod]));
    const unfinished = records.unfinished(now + leadMs);
    if (now >= calmSince) {
      for (const one of unfinished) {
        if (one.runpod_id !== null && up.has(one.runpod_id) && covers(one, now)) seenUp.add(one.id);
      }
    }
    if (now - calmSince < GRACE_MS) return;
    checkStarts(now, unfinished);
    checkEnds(now, unfinished);
    for (const intent of records.openIntents()) {
      if (intent.action === "create" || now - intent.asked_at < 20 * MINUTE) continue;
      breakOnce(intent.id, `${isoTime(now)}: the ${intent.action} of ${isoTime(intent.asked_at)} is still open`);
    }
    const lost = records.openCreates();
    for (const pod of up.values()) {
      if (!lost.includes(pod.name) || now - pod.createdAt < GRACE_MS) continue;
      breakOnce(`create ${pod.id}`, `${isoTime(now)}: ${pod.id} is there, and its create is still open`);
    }
    for (const id of up.keys()) checkRun(now, id);
    if (now - orphansAt < HOUR) return;
    orphansAt = now;
    checkOrphans(now, up.keys());
  };

  const checkStarts = (now: number, unfinished: readonly StoredSession[]) => {
    const there = new Set(parts.runpod.pods.list().map((pod) => pod.id));
    for (const one of unfinished) {
      const dueSince = Math.max(one.start_at - leadMs, one.created_at);
      if (one.started === 1 || now - dueSince < GRACE_MS || one.stop_at <= now) continue;
      if (one.pod_state !== "live" || one.runpod_id === null || !there.has(one.runpod_id)) continue;
      breakOnce(
        `start ${one.id}`,
        `${isoTime(now)}: ${one.title} (${one.runpod_id}) has not started since ${isoTime(dueSince)}: ${one.error}`,
      );
    }
  };

  const checkEnds = (now: number, unfinished: readonly StoredSession[]) => {
    for (const one of unfinished) {
      if (now - one.stop_at < GRACE_MS) continue;
      const isKept = parts.records().sessionsOf(one.runpod_id ?? "").some((other) => covers(other, now - GRACE_MS));
      if (isKept) continue;
      breakOnce(
        `end ${one.id}`,
        `${isoTime(now)}: ${one.title} (${one.runpod_id}) is ${one.state} though it ended ${
          isoTime(one.stop_at)
        }: ${one.error}`,
      );
    }
  };

  const checkRun = (now: number, pod: string) => {
    const run = parts.watch().runOf(pod);
    const records = parts.records();
    if (run === undefined || !records.isKnown(pod)) return;
    const sessions = records.sessionsOf(pod);
    // Kept up by a window that is open, or was a moment ago.
    if (sessions.some((one) => one.start_at - leadMs <= now && now - GRACE_MS < one.stop_at)) return;
    for (const one of sessions) {
      const isIn = run.from < one.stop_at && one.stop_at <= now - GRACE_MS;
      if (!isIn || one.started === 0 && !seenUp.has(one.id)) continue;
      breakOnce(
        `run ${pod} ${run.from}`,
        `${isoTime(now)}: ${pod} runs since ${isoTime(run.from)} (${run.who}), past ${one.title}, which ended ` +
          `${isoTime(one.stop_at)} and is ${one.state}`,
      );
    }
    if (now - run.from > LONGEST_RUN_MS + GRACE_MS) {
      breakOnce(
        `long ${pod} ${run.from}`,
        `${isoTime(now)}: ${pod} runs since ${isoTime(run.from)}, longer than allowed`,
      );
    }
  };

  const checkOrphans = (now: number, pods: Iterable<string>) => {
    const records = parts.records();
    const listed = new Set(records.livePods().map((pod) => pod.runpod_id));
    const lookedAfter = records.lookedAfter();
    for (const id of pods) {
      if (listed.has(id) || lookedAfter.has(id)) continue;
      const run = parts.watch().runOf(id);
      if (run !== undefined && now - run.from < GRACE_MS) continue;
      breakOnce(`orphan ${id}`, `${isoTime(now)}: ${id} is neither in the list nor in attention`);
    }
  };

  return {
    onOrder,
    whenCalm,
    get broken() {
      return [...broken.values()];
    },
    break: (sentence) => breakOnce(sentence, sentence),
  };
}
