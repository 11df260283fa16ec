import { read } from "../client/api.ts";
import { asOperator, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts, shortTime } from "./text.ts";

/** `orgpods schedule status`: what the last turn did, and whether sessions and stops by themselves are paused. */
export async function scheduleStatus(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.schedule.$get({ param: { org } }));
    await shell.result(answer, ({ paused, last_run: run }) =>
      facts([
        ["Paused", paused ?? "no"],
        ["Last turn", run === null ? "none since the server started" : shortTime(run.at)],
        ...(run === null ? [] : [
          ["Started", run.started.join(", ") || "nothing"] as [string, string],
          ["Stopped", run.stopped.join(", ") || "nothing"] as [string, string],
          ["Failed", run.failed.join(", ") || "nothing"] as [string, string],
        ]),
      ]));
  });
}

/** `orgpods schedule resume`: the operator has made sure that no other server works on a copy of the database. */
export async function resumeSchedule(shell: Shell): Promise<void> {
  await asOperator(shell, "schedule resume", async (api) => {
    const answer = await read(api.operator.schedule.resume.$post());
    await shell.say(answer.value.paused === null ? "The schedule runs again." : "It is still paused, see below.");
    await shell.result(answer, ({ paused }) => paused ?? "");
  });
}
