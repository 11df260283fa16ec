import { type Command, InvalidArgumentError, Option } from "commander";
import type { SettingsFlags } from "../org_settings.ts";
import type { SpendFlags } from "../spend.ts";
import { example, type Run, whole } from "./values.ts";

/** `spend`. */
export function addSpendCommand(program: Command, run: Run): void {
  program.command("spend").description("What was spent in USD, the budget, the balance, and RunPod's own bill.")
    .option(
      "--from <time>",
      "since then: a month such as 2026-11, a day, or a time with its zone (default: this month)",
    )
    .option("--to <time>", "until just before then")
    .option("--group <what>", "pod, month, session or org", "pod")
    .addHelpText("after", example("orgpods spend --from 2026-09 --to 2026-12 --group month"))
    .action((flags: SpendFlags) => run(async (shell) => await (await import("../spend.ts")).showSpend(shell, flags)));
}

/** `org settings`: unlike the rest of `org` for officers too, by the API of one organization. */
export function addOrgSettings(org: Command, run: Run): void {
  org.command("settings").description("Show or change image, budget and time limits; also with --server.")
    .option("--budget <usd>", 'what pods may cost in a calendar month (UTC), or "off"', amountOrOff)
    .addOption(
      new Option("--stop-at-budget <yes|no>", "stop running pods when the budget is spent").argParser(yesOrNo),
    )
    .option("--max-run-hours <hours>", 'longest hours of one run, or "off"', orOff(whole(1, 744)))
    .option("--auto-stop <minutes>", 'minutes idle before a stop, or "off"', orOff(whole(5, 10_080)))
    .option("--idle-gpu <percent>", "GPU use below which a pod is idle", whole(0, 100))
    .option("--idle-cpu <percent>", "CPU use below which a pod is idle", whole(0, 100))
    .option("--balance-low <usd>", 'balance below which an event is raised, or "off"', amountOrOff)
    .option("--image <name>", "image of new pods")
    .option("--no-image", "use the server's default image")
    .option("--min-cuda <version>", "oldest CUDA version the image runs on, such as 12.4")
    .option("--no-min-cuda", "any CUDA version")
    .addHelpText("after", example("orgpods org settings --org robotics --budget 150 --auto-stop 60"))
    .action((flags: SettingsFlags) =>
      run(async (shell) => await (await import("../org_settings.ts")).orgSettings(shell, flags))
    );
}

function orOff(parse: (text: string) => number): (text: string) => number | "off" {
  return (text) => text === "off" ? text : parse(text);
}

const amountOrOff = orOff((text) => {
  const value = /^\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : NaN;
  if (value >= 0.01 && value <= 1_000_000) return value;
  throw new InvalidArgumentError("It must be an amount from 0.01 to 1000000, or off.");
});

function yesOrNo(text: string): boolean {
  if (text === "yes" || text === "no") return text === "yes";
  throw new InvalidArgumentError("It must be yes or no.");
}
