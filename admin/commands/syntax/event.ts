import type { Command } from "commander";
import type { EventFlags } from "../event.ts";
import { example, type Run, whole } from "./values.ts";

/** `event …` */
export function addEventCommands(program: Command, run: Run): void {
  const event = program.command("event").description("What happened: pods, sessions, money, settings.")
    .addHelpText("after", example("orgpods event list"));
  event.command("list").description("List the events of an organization, newest first.")
    .option("--limit <count>", "how many", whole(1, 500), 100)
    .option("--before <id>", "only events older than this one", whole(1, Number.MAX_SAFE_INTEGER))
    .option("--pod <id>", "only those of this pod, by RunPod's id; it may be gone")
    .option("--kind <kind>", "only this kind, such as pod.started")
    .addHelpText("after", example("orgpods event list --kind session.failed --limit 20"))
    .action((flags: EventFlags) => run(async (shell) => await (await import("../event.ts")).listEvents(shell, flags)));
}
