import { AppError } from "../../server/errors.ts";
import { read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import { describePod } from "./pod.ts";
import type { Shell } from "./shell.ts";
import { shortTime } from "./text.ts";

export interface SetFlags {
  /** Minutes, 0 for never, or the organization's rule. */
  readonly autoStop?: number | "default";
  /** Hours; the same. */
  readonly maxRun?: number | "default";
}

const ruleOf = (word: number | "default") => word === "default" ? null : word;

/** `orgpods pod set`: the pod's own rules for stops by themselves. */
export async function setPod(shell: Shell, id: string, flags: SetFlags): Promise<void> {
  pathPart(id, "The pod's id");
  const json = {
    ...(flags.autoStop === undefined ? {} : { auto_stop_after_minutes: ruleOf(flags.autoStop) }),
    ...(flags.maxRun === undefined ? {} : { max_run_hours: ruleOf(flags.maxRun) }),
  };
  if (Object.keys(json).length === 0) throw new AppError("usage", "Say what to set: --auto-stop or --max-run");
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods[":id"].$put({ param: { org, id }, json }));
    await shell.result(answer, ({ pod }) => describePod(pod));
  });
}

/** `orgpods pod keep`: puts stops by themselves off; prints until when. */
export async function keepPod(shell: Shell, id: string, flags: { readonly minutes: number }): Promise<void> {
  pathPart(id, "The pod's id");
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods[":id"].keep.$post({ param: { org, id }, json: flags }));
    await shell.say("The idle stop and the limit on hours of one run wait until then; sessions and the budget do not.");
    await shell.result(answer, ({ keep_until }) => shortTime(keep_until) ?? "");
  });
}
