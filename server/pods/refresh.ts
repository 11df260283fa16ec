import type { Org } from "../../db/stores/organizations.ts";
import { AppError } from "../errors.ts";
import { describeError } from "../log.ts";
import { RunpodError, toAppError } from "../runpod/errors.ts";
import { within } from "../within.ts";
import type { PodDeps } from "./deps.ts";
import { applyList } from "./sync.ts";

/** Whether RunPod was heard, and if not, why not. */
export interface Freshness {
  readonly fresh: boolean;
  /** Why the state is a stored one; null when it is fresh. */
  readonly error: AppError | null;
}

/** Brings the stored states of an org's pods up to date, with one list call however many ask at once. */
export interface Refresher {
  /**
   * Resolves when a list call that began at most `maxAgeMs` ago has been stored, or after `timeoutMs`, or when RunPod
   * refused. Never rejects on RunPod's account: the stored states stay as they are.
   */
  refresh(org: Org, options: { readonly maxAgeMs: number; readonly timeoutMs: number }): Promise<Freshness>;
  /** The result of a list call that began at most `maxAgeMs` ago and succeeded, without waiting for anything. */
  recent(org: Org, maxAgeMs: number): Freshness | null;
  /** When the last list call that succeeded began. */
  lastSuccess(orgId: number): number | null;
  /** Waits for calls under way. */
  close(): Promise<void>;
}

/** A list call may take this long before it counts as failed. */
const LIST_CALL_MS = 10_000;
/** After a failed call the next one waits, so that an outage is not made worse. */
const FAILURE_PAUSE_MS = 1_000;

interface Flight {
  readonly begun: number;
  readonly done: Promise<Freshness>;
}

/** Makes a refresher; `onFresh` hears of each list that was stored (to look at new starts of pods). */
export function createRefresher(deps: PodDeps, onFresh: (org: Org) => void): Refresher {
  const flights = new Map<number, Flight>();
  const last = new Map<number, { begun: number; result: Freshness }>();
  const closing = new AbortController();

  const fly = async (org: Org, begun: number): Promise<Freshness> => {
    try {
      const list = await deps.runpod.clientOf(org).list({ timeoutMs: LIST_CALL_MS, signal: closing.signal });
      applyList(deps, org, list, begun);
      onFresh(org);
      return { fresh: true, error: null };
    } catch (error) {
      if (error instanceof RunpodError) return { fresh: false, error: toAppError(error) };
      if (error instanceof AppError) return { fresh: false, error };
      deps.log.error("RunPod's list could not be stored", { org: org.prefix, error: describeError(error) });
      return { fresh: false, error: new AppError("internal_error", "The pods' states could not be stored") };
    }
  };

  const launch = (org: Org): Flight => {
    const begun = deps.clock.now();
    const done = fly(org, begun).then((result) => {
      last.set(org.id, { begun, result });
      if (flights.get(org.id)?.begun === begun) flights.delete(org.id);
      return result;
    });
    const flight = { begun, done };
    flights.set(org.id, flight);
    return flight;
  };

  return {
    async refresh(org, { maxAgeMs, timeoutMs }) {
      const now = deps.clock.now();
      const previous = last.get(org.id);
      const allowed = previous?.result.fresh === false ? Math.max(maxAgeMs, FAILURE_PAUSE_MS) : maxAgeMs;
      if (previous !== undefined && ageOf(previous.begun, now) <= allowed) return previous.result;
      const running = flights.get(org.id);
      // A call that began too long ago may not show what has happened since; wait for it, then ask again.
      const flight = running === undefined
        ? launch(org)
        : ageOf(running.begun, now) <= maxAgeMs
        ? running
        : { done: running.done.then((result) => result.fresh ? (flights.get(org.id) ?? launch(org)).done : result) };
      return await within(flight.done, timeoutMs, () => SLOW);
    },
    recent(org, maxAgeMs) {
      const entry = last.get(org.id);
      return entry?.result.fresh && ageOf(entry.begun, deps.clock.now()) <= maxAgeMs ? entry.result : null;
    },
    lastSuccess: (orgId) => {
      const entry = last.get(orgId);
      return entry?.result.fresh ? entry.begun : null;
    },
    async close() {
      closing.abort();
      await Promise.all([...flights.values()].map((flight) => flight.done));
    },
  };
}

/** How long ago; a time ahead of the clock is left from a clock that was wrong, and older than anything. */
function ageOf(then: number, now: number): number {
  return then > now ? Infinity : now - then;
}

const SLOW: Freshness = {
  fresh: false,
  error: new AppError("runpod_unavailable", "RunPod could not be reached"),
};
