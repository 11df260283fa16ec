/** The real program in a real terminal, against a demo. */
import assert from "node:assert/strict";
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

/** The environment of somebody whose home is a folder of its own; deno still finds what it has loaded before. */
export async function envAt(home: string): Promise<Record<string, string>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout));
  return { HOME: home, XDG_CONFIG_HOME: `${home}/config`, DENO_DIR: denoDir, NO_COLOR: "1" };
}

/** Fails unless the program ended with the code and left its terminal as it was: screen, cursor, echo, line mode. */
export async function checkGivenBack(terminal: Tmux, code: number): Promise<void> {
  await terminal.until(`rc=${code}`);
  assert.equal(await terminal.flag("alternate_on"), false);
  assert.equal(await terminal.flag("cursor_flag"), true);
  const modes = (await terminal.modes()).split(/[\s;]+/);
  for (const mode of ["echo", "icanon", "isig"]) assert(modes.includes(mode), `${mode} is off: ${modes.join(" ")}`);
}

/** The id of the program that runs as a child of the pane's shell. */
export async function childOf(pid: number): Promise<number> {
  const children = (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).trim().split(" ");
  return Number(children[0]);
}
