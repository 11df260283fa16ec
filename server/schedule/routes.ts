import { Hono } from "hono";
import { isoTime } from "../clock.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { Pause } from "./pause.ts";
import type { Schedule } from "./turn.ts";

/** What the schedule did last, and whether it runs at all, under `/api/compute/<org>`. */
export function scheduleRoutes(
  deps: {
    readonly schedule: Schedule;
    readonly pause: Pause;
    readonly guards: Guards;
    /** False where a command opened the database by itself: then nothing looks. */
    readonly isScheduling: () => boolean;
  },
) {
  return new Hono<Env>().get("/schedule", deps.guards.officer, (c) => {
    const run = deps.schedule.lastRun(orgOf(c).id);
    return c.json({
      running: deps.isScheduling(),
      paused: deps.pause.reason(),
      last_run: run === null ? null : {
        at: isoTime(run.at),
        ok: run.failed.length === 0,
        started: run.started,
        stopped: run.stopped,
        failed: run.failed,
      },
    });
  });
}
