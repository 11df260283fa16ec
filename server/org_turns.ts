import { describeError, type Log } from "./log.ts";

/** The same work for each org: never twice at once for one org, and no org waits for another. */
export interface OrgTurns {
  /**
   * A turn for every org. One that has a turn already gets another one after it, however often that is asked for.
   * Resolves when those turns have ended; an error in one is logged.
   */
  turn(): Promise<void>;
  /** The same without waiting, so that a slow org does not hold up the next turn of the others. */
  begin(): void;
  /** Begins no more turns; resolves when those that run have ended. */
  close(): Promise<void>;
}

interface Lane {
  readonly running: Promise<void>;
  /** The turn after the one that runs. */
  next: Promise<void> | null;
}

/** `orgIds` says at each turn which orgs have one; `name` is the work's, for the log. */
export function createOrgTurns(
  name: string,
  orgIds: () => Iterable<number>,
  work: (orgId: number) => Promise<void>,
  log: Log,
): OrgTurns {
  const lanes = new Map<number, Lane>();
  let isClosed = false;

  const run = async (orgId: number) => {
    try {
      await work(orgId);
    } catch (error) {
      log.error(`A ${name} turn of an org failed`, { org: orgId, error: describeError(error) });
    }
    if (isClosed || lanes.get(orgId)?.next === null) lanes.delete(orgId);
  };
  const start = (orgId: number): Promise<void> => {
    if (isClosed) return Promise.resolve();
    const running = Promise.resolve(orgId).then(run);
    lanes.set(orgId, { running, next: null });
    return running;
  };
  const join = (orgId: number): Promise<void> => {
    const lane = lanes.get(orgId);
    if (lane === undefined) return start(orgId);
    return lane.next ??= lane.running.then(() => start(orgId));
  };
  const turn = async () => {
    await Promise.all([...orgIds()].map(join));
  };
  return {
    turn,
    begin() {
      turn().catch((error) => log.error(`A ${name} turn failed`, { error: describeError(error) }));
    },
    async close() {
      isClosed = true;
      await Promise.all([...lanes.values()].map((lane) => lane.running));
    },
  };
}
