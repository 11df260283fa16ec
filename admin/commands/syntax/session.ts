import { type Command, Option } from "commander";
import type { AddFlags, EditFlags, ListFlags } from "../session.ts";
import { example, type Run, whole } from "./values.ts";

const STATES = ["scheduled", "starting", "running", "done", "missed", "failed"];
const ZONE = "zone of times without an offset, such as America/Phoenix (default: this machine's)";

const onGpuTaken = () =>
  new Option("--on-gpu-taken <what>", "when the host's GPU is taken: wait, or a fresh pod in its place").choices([
    "wait",
    "fresh_pod",
  ]);

/** `session …` */
export function addSessionCommands(program: Command, run: Run): void {
  const session = program.command("session").description("Times when a pod must run.")
    .addHelpText("after", example("orgpods session list"));

  session.command("list [pod-id]").description(
    "List the last sessions of a pod, or the next ones of the organization; by start.",
  )
    .option("--limit <count>", "how many", whole(1, 500), 100)
    .option("--before <id>", "of one pod: only those before this session", whole(1, Number.MAX_SAFE_INTEGER))
    .addOption(new Option("--state <state>", "only those in this state").choices(STATES))
    .option("--from <time>", "only those that end later: a time, a day or a month (default: a day ago)")
    .option("--to <time>", "only those that begin earlier, likewise")
    .option("--time-zone <name>", "zone of the times shown and typed (default: this machine's)")
    .addHelpText("after", example("orgpods session list k7x2m9 --time-zone America/Phoenix"))
    .action((pod: string | undefined, flags: ListFlags) =>
      run(async (shell) => await (await import("../session.ts")).listSessions(shell, pod, flags))
    );

  session.command("add <pod-id>").description("Add a session, or a weekly series of them, and print their numbers.")
    .requiredOption("--start <time>", 'start: 18:00, "tomorrow 18:00", "2026-09-03 18:00" or 2026-09-03T18:00-07:00')
    .requiredOption("--stop <time>", "stop, likewise; a time alone is the first one after the start")
    .option("--title <text>", "what it is for")
    .option("--weekly <weeks>", "again every so many weeks, at the same local time", whole(1, 52))
    .option("--count <count>", "how many sessions the series has", whole(1, 100))
    .option("--time-zone <name>", ZONE)
    .option("--over-budget", "start the pod although the month's budget is spent")
    .addOption(onGpuTaken())
    .addHelpText(
      "after",
      example(
        'orgpods session add k7x2m9 --start "2026-09-03 18:00" --stop "2026-09-03 20:00" --time-zone America/Phoenix ' +
          "--weekly 1 --count 8",
      ),
    )
    .action((pod: string, flags: AddFlags) =>
      run(async (shell) => await (await import("../session.ts")).addSession(shell, pod, flags))
    );

  session.command("edit <pod-id> <session>").description("Change a session that is not over.")
    .option("--start <time>", 'start: 18:00, "tomorrow 18:00", "2026-09-03 18:00" or 2026-09-03T18:00-07:00')
    .option("--stop <time>", "stop, likewise; a time alone is the first one after the start")
    .option("--title <text>", 'what it is for; "" for no title')
    .option("--time-zone <name>", ZONE)
    .option("--over-budget", "start the pod although the month's budget is spent")
    .option("--no-over-budget", "keep to the budget")
    .addOption(onGpuTaken())
    .addHelpText("after", example("orgpods session edit k7x2m9 12 --stop 21:00"))
    .action((pod: string, id: string, flags: EditFlags) =>
      run(async (shell) => await (await import("../session.ts")).editSession(shell, pod, id, flags))
    );

  session.command("extend <pod-id> <session>").description(
    "Put the stop of a session that has begun off, by up to 2 hours.",
  )
    .requiredOption("--minutes <count>", "by how much", whole(1, 120))
    .addHelpText("after", example("orgpods session extend k7x2m9 12 --minutes 30"))
    .action((pod: string, id: string, flags: { minutes: number }) =>
      run(async (shell) => await (await import("../session.ts")).extendSession(shell, pod, id, flags))
    );

  session.command("remove <pod-id> <session>").description(
    "Remove a session; one that runs ends now, and its pod is stopped.",
  )
    .option("--series", "with all sessions of its series from this one on that are not over")
    .addHelpText("after", example("orgpods session remove k7x2m9 12"))
    .action((pod: string, id: string, flags: { series?: boolean }) =>
      run(async (shell) => await (await import("../session.ts")).removeSession(shell, pod, id, flags))
    );
}
