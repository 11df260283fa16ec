import { type Api, read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { askThenForce } from "./live_pods.ts";

const put = (enabled: boolean, force: boolean) => async (api: Api, org: string) =>
  (await read(api.org.module.$put({ param: { org }, json: { enabled, force } }))).value;

/** Switches compute off for the org: asks first, and says what ends and what goes on. */
export function confirmComputeOff(ui: Ui): void {
  ui.open(confirmScreen, {
    title: "Switch compute off",
    lines: () => [
      "Members and officers cannot sign in, connect, create or start any more, and all screens but the settings say " +
      "that compute is off.",
      "Scheduled stops, limits and the count of what is spent go on, and so do certificates until they end.",
      { text: "Pods that run go on running and costing money.", isWarning: true },
    ],
    yes: "switch it off",
    onYes: (at) =>
      askThenForce(at, {
        what: "Switch compute off",
        warning: "They go on running and costing money; only their planned stops and limits end them.",
        yes: "switch it off all the same",
        work: (force) => put(false, force),
        done: (_, ui) => ui.say("Compute is off"),
      }),
  });
}

/** Switches compute on again. Nothing starts by that but sessions whose time it is, so it asks, too. */
export function confirmComputeOn(ui: Ui): void {
  ui.open(confirmScreen, {
    title: "Switch compute on",
    lines: () => ["Sign-ins, connects and starts work again. A session whose time it is starts its pod."],
    yes: "switch it on",
    onYes: async (at) => {
      if (await at.call("Switch compute on", put(true, false)) !== null) at.say("Compute is on");
    },
  });
}
