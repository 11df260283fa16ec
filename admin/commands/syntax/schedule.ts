import type { Command } from "commander";
import { example, type Run } from "./values.ts";

/** `schedule …` */
export function addScheduleCommands(program: Command, run: Run): void {
  const schedule = program.command("schedule").description("The job that starts and stops pods for their sessions.")
    .addHelpText("after", example("orgpods schedule status"));
  schedule.command("status").description("Show what it did last, and whether it is paused.")
    .addHelpText("after", example("orgpods schedule status --org robotics"))
    .action(() => run(async (shell) => await (await import("../schedule.ts")).scheduleStatus(shell)));
  schedule.command("resume").description("End a pause, once no other server works on a copy of the database.")
    .addHelpText("after", example("orgpods schedule resume"))
    .action(() => run(async (shell) => await (await import("../schedule.ts")).resumeSchedule(shell)));
}
