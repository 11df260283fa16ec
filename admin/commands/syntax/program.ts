import { Command, Option } from "commander";
import { VERSION } from "../../../server/version.ts";
import { createShell, type GlobalOptions } from "../shell.ts";
import type { Stdio } from "../stdio.ts";
import { addAdminCommands } from "./admin.ts";
import { addFileCommands } from "./file.ts";
import { addKeyCommands } from "./keys.ts";
import { addOrgCommands } from "./org.ts";
import { addPodCommands } from "./pod.ts";
import { addRecordCommands } from "./records.ts";
import { addServerCommands } from "./server.ts";
import { addScheduleCommands } from "./schedule.ts";
import { addSessionCommands } from "./session.ts";
import { addSpendCommand } from "./spend.ts";
import { addSshCommands } from "./ssh.ts";
import { addEventCommands } from "./event.ts";
import { addWebhookCommands } from "./webhook.ts";
import { example, notEmpty, type Run } from "./values.ts";

/** What the command line is read with, and what it left: help and refusals as text, the exit code of the command. */
export interface Invocation {
  readonly stdio: Stdio;
  env(name: string): string | undefined;
  out: string;
  err: string;
  exitCode: number;
}

/**
 * The whole command line: commands, options, help. The work of a command is imported only when that command was chosen,
 * so that a start stays quick. Parsing throws `CommanderError`; help and refusals are put into the invocation.
 */
export function buildProgram(invocation: Invocation): Command {
  const program = new Command("orgpods");
  const run: Run = async (work) => {
    const { stdio, env } = invocation;
    invocation.exitCode = await work(createShell(program.opts<GlobalOptions>(), stdio, env)) ?? 0;
  };
  program
    .description("The compute API of an organization's Discord server: pods on its RunPod account, SSH certificates.")
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void (invocation.out += text),
      writeErr: (text) => void (invocation.err += text),
      // The refusal itself is shown by whoever catches the CommanderError.
      outputError: () => {},
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({ showGlobalOptions: true })
    .version(`orgpods ${VERSION}`, "--version", "print the version")
    .addOption(
      new Option("--data-dir <path>", "the server's data directory").env("ORGPODS_DATA").default("./data").argParser(
        notEmpty,
      ),
    )
    .option("--env-file <path>", "settings file (default: orgpods.env in the data directory)")
    .option(
      "--server <url>",
      "speak to the server at this address instead, with an officer token in ORGPODS_TOKEN, or the one the admin keeps",
    )
    .option("--org <prefix>", "the organization (default: the only one)")
    .option("--token-file <path>", "file with the officer token for --server; nobody else may read it")
    .option("--json", "print the server's JSON answer")
    .addOption(new Option("--allow-test-upstreams", "take other addresses for RunPod and Discord").hideHelp())
    .addHelpText("after", example("orgpods --data-dir /var/lib/orgpods pod list"));
  addServerCommands(program, run);
  addAdminCommands(program, run);
  addOrgCommands(program, run);
  addKeyCommands(program, run);
  addPodCommands(program, run);
  addSessionCommands(program, run);
  addScheduleCommands(program, run);
  addSpendCommand(program, run);
  addFileCommands(program, run);
  addSshCommands(program, run);
  addRecordCommands(program, run);
  addEventCommands(program, run);
  addWebhookCommands(program, run);
  return program;
}
