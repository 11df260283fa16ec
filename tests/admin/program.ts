/** The real program in a real terminal, against a demo. */
import type { DemoProcess } from "../support/demo_process.ts";
import { inTmux, type Tmux, type TmuxOptions } from "../support/tmux.ts";

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

/** The program and its arguments, each a word of a command line. */
export function programWords(args: readonly string[]): string[] {
  return [Deno.execPath(), "run", "-A", "--no-check", MAIN, ...args];
}

export async function inAdmin(
  demo: DemoProcess,
  options: Omit<TmuxOptions, "command"> & { readonly args?: readonly string[] },
  use: (terminal: Tmux) => Promise<void>,
): Promise<void> {
  const { args = [], ...rest } = options;
  const command = programWords(["--data-dir", demo.facts.data_dir, "admin", ...args]);
  await inTmux({ ...rest, command }, use);
}

/** The id of the program that runs as a child of the pane's shell. */
export async function childOf(pid: number): Promise<number> {
  const children = (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).trim().split(" ");
  return Number(children[0]);
}
