import { read } from "../client/api.ts";
import { asOperator, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts, shortTime } from "./text.ts";

const NO_SERVER = "none: no server runs over this data directory";

/** `orgpods schedule status`: what the last turn did, and whether sessions and stops by themselves are paused. */
export async function scheduleStatus(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.schedule.$get({ param: { org } }));
    await shell.result(answer, ({ running, paused, last_run: run }) =>
      facts([
        ["Paused", paused ?? "no"],
        ["Last turn", run !== null ? shortTime(run.at) : running ? "the first one is under way" : NO_SERVER],
        ...(run === null ? [] : [
          ["Started", run.started.join(", ") || "nothing"] as [string, string],
          ["Stopped", run.stopped.join(", ") || "nothing"] as [string, string],
          ["Failed", run.failed.join(", ") || "nothing"] as [string, string],
        ]),
      ]));
    await shell.say("Stops by the idle stop, the limit on hours and the budget are in event list.");
  });
}

/** `orgpods schedule resume`: the operator has made sure that no other server works on a copy of the database. */
export async function resumeSchedule(shell: Shell): Promise<void> {
  await asOperator(shell, "schedule resume", async (api) => {
    const answer = await read(api.operator.schedule.resume.$post());
    const { was_paused, paused } = answer.value;
    if (was_paused === null) await shell.say("It was not paused.");
    else await shell.say(paused === null ? "The schedule runs again." : "It is still paused, see below.");
    await shell.result(answer, ({ paused }) => paused ?? "");
  });
}
