import type { Database } from "../../db/database.ts";
import { getMeta, setMeta } from "../../db/stores/meta.ts";
import { allOrgs } from "../../db/stores/organizations.ts";
import { type Clock, DAY, isoTime, MINUTE } from "../clock.ts";
import { raise } from "../events/raise.ts";
import type { Log } from "../log.ts";

/**
 * Why the server does nothing by itself at the moment. Two things make it dangerous to act: a copy of the database that
 * another server works on too, and a clock that is wrong.
 */
export interface Pause {
  /** A sentence, or null when everything runs. */
  reason(): string | null;
  /** Hears of each pod that moved although nobody asked for it here. */
  moved(podName: string, what: string): void;
  /** The operator has made sure that no other server works on a copy of the database. */
  resume(): void;
  /** Tells officers once a day that the server is paused. */
  tell(): void;
}

/** After the database came to another home, this long a pod that moves by itself is taken for another server's work. */
const WATCH_MS = 2 * DAY;
/** A clock that differs this much from RunPod's would start and stop pods at the wrong time. */
const CLOCK_OFF_MS = 2 * MINUTE;

/**
 * `home` names the machine and folder the database lives in; null where that does not matter. A database that comes to
 * another home was moved or copied: it is watched for a while. `clockOffMs` is how far the clock is ahead of RunPod's.
 */
export function createPause(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly home: string | null;
  readonly clockOffMs: () => number | null;
}): Pause {
  const { db, clock, log, home } = deps;
  const earlier = getMeta(db, "home");
  if (home !== null && earlier !== home) {
    db.tx(() => {
      setMeta(db, "home", home);
      if (earlier !== null) setMeta(db, "moved_at", String(clock.now()));
    });
    if (earlier !== null) {
      log.warn(
        "The database was used on another machine or in another folder before. If that server still runs, end it",
      );
    }
  }

  const copied = () => getMeta(db, "paused");
  const clockOff = (): string | null => {
    const off = deps.clockOffMs();
    if (off === null || Math.abs(off) < CLOCK_OFF_MS) return null;
    const minutes = Math.round(Math.abs(off) / MINUTE);
    return `The server's clock is ${minutes} minutes ${off > 0 ? "ahead of" : "behind"} RunPod's, so sessions and ` +
      "stops by themselves wait until it is right";
  };
  return {
    reason: () => copied() ?? clockOff(),
    moved(podName, what) {
      const movedAt = getMeta(db, "moved_at");
      if (movedAt === null || copied() !== null || clock.now() - Number(movedAt) > WATCH_MS) return;
      const why =
        `The pod ${podName} was ${what} by somebody else, and this database was used on another machine or in ` +
        "another folder until " +
        `${isoTime(Number(movedAt))}: a second server seems to work on a copy of it. Sessions and ` +
        "stops by themselves are paused here. End one of the two servers, then run: orgpods schedule resume";
      setMeta(db, "paused", why);
      log.error(why);
    },
    resume() {
      db.tx(() => {
        setMeta(db, "paused", null);
        setMeta(db, "moved_at", null);
      });
    },
    tell() {
      const why = copied() ?? clockOff();
      if (why === null) return;
      const now = clock.now();
      const kind = copied() === null ? "clock" : "copy";
      db.tx(() => {
        for (const org of allOrgs(db)) {
          raise(db, {
            orgId: org.id,
            kind: "server.paused",
            subject: org.name,
            actor: "the server",
            details: { why },
            onceKey: `paused:${kind}:${isoTime(now).slice(0, 10)}`,
          }, now);
        }
      });
    },
  };
}
