import { CommanderError } from "commander";
import { failureOf } from "./admin/commands/failure.ts";
import { processStdio, type Stdio } from "./admin/commands/stdio.ts";
import { buildProgram, type Invocation } from "./admin/commands/syntax/program.ts";

/**
 * Runs one command line and returns its exit code: 0 ok, 1 failure, 2 usage, 3 not found, 4 not allowed, 5 conflict,
 * 6 a remote side failed.
 */
async function main(args: readonly string[], stdio: Stdio): Promise<number> {
  const env = (name: string) => Deno.env.get(name);
  const invocation: Invocation = { stdio, env, out: "", err: "", exitCode: 0 };
  try {
    await buildProgram(invocation).parseAsync(args, { from: "user" });
    return invocation.exitCode;
  } catch (error) {
    await stdio.out(invocation.out);
    await stdio.err(invocation.err);
    if (error instanceof CommanderError) return await usage(error, stdio);
    const { exitCode, lines } = failureOf(error, env("ORGPODS_DEBUG") === "1");
    await stdio.err(`${lines.join("\n")}\n`);
    return exitCode;
  }
}

/** Help and version end well; any other end of parsing is a mistake in the command line. */
async function usage(error: CommanderError, stdio: Stdio): Promise<number> {
  if (error.exitCode === 0) return 0;
  if (error.code !== "commander.help") await stdio.err(`${withoutValues(error)}\n`);
  return 2;
}

/** A secret that was given as an argument by mistake must not be repeated in a log. */
function withoutValues({ code, message }: CommanderError): string {
  if (code === "commander.excessArguments") return message.replace(/(but got \d+): [\s\S]*$/, "$1.");
  if (code === "commander.unknownOption") return message.replace(/^(error: unknown option '[^'=\s]+)=[\s\S]*$/, "$1'");
  return message;
}

if (import.meta.main) Deno.exit(await main(Deno.args, processStdio()));
