import type { Answer } from "../client/api.ts";
import type { Stdio } from "./stdio.ts";
import { plain, plainJson, plainLines } from "./text.ts";

/** The options that every command takes. */
export interface GlobalOptions {
  readonly dataDir: string;
  readonly envFile?: string;
  readonly server?: string;
  readonly org?: string;
  readonly tokenFile?: string;
  readonly json?: boolean;
  readonly allowTestUpstreams?: boolean;
}

/** What a command has of the world: its global options, the standard streams, the environment. */
export interface Shell {
  readonly options: GlobalOptions;
  readonly stdio: Stdio;
  env(name: string): string | undefined;
  /** Talk, on standard error. */
  say(line: string): Promise<void>;
  /** A result that is text of our own, on standard output; with `--json` it must be JSON. */
  print(text: string): Promise<void>;
  /**
   * A result that came from the server: the server's own JSON with `--json`, else what `show` makes of it. Warnings of
   * the answer go to standard error either way.
   */
  result<T>(answer: Answer<T>, show: (value: T) => string): Promise<void>;
}

export function createShell(options: GlobalOptions, stdio: Stdio, env: (name: string) => string | undefined): Shell {
  const say = (line: string) => stdio.err(`${plain(line)}\n`);
  const print = (text: string) =>
    text === "" ? Promise.resolve() : stdio.out(`${options.json ? plainJson(text) : plainLines(text)}\n`);
  return {
    options,
    stdio,
    env,
    say,
    print,
    async result(answer, show) {
      for (const warning of warningsOf(answer.value)) await say(`warning: ${warning}`);
      await print(options.json ? answer.text : show(answer.value));
    },
  };
}

function warningsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null || !("warnings" in value) || !Array.isArray(value.warnings)) {
    return [];
  }
  return value.warnings.map(String);
}
