/** The real program in a real terminal, against a demo or a server. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import type { DemoFacts } from "../../server/demo/start.ts";
import type { Answer, DemoProcess } from "../support/demo_process.ts";
import { inTmux, type Tmux, type TmuxOptions } from "../support/tmux.ts";

/** The usual terminal, the smallest window there is a frame for, and a large one. */
export const SIZES = [[80, 24], [40, 12], [200, 50]] as const;

/** Seven hours behind UTC all year, and no colours. */
export const PHOENIX = { TZ: "America/Phoenix", NO_COLOR: "1" };

/** Hours and minutes in Phoenix, as the admin writes them. */
export const inPhoenix = (ms: number) => new Date(ms - 7 * 3_600_000).toISOString().slice(11, 16);

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

/** The program and its arguments, each a word of a command line. */
export function programWords(args: readonly string[]): string[] {
  return [Deno.execPath(), "run", "-A", "--no-check", MAIN, ...args];
}

/** Runs the admin as the operator of a demo, or of whatever server has this data directory. */
export async function inAdmin(
  { facts }: { readonly facts: Pick<DemoFacts, "data_dir"> },
  options: Omit<TmuxOptions, "command"> & { readonly args?: readonly string[] },
  use: (terminal: Tmux) => Promise<void>,
): Promise<void> {
  const { args = [], ...rest } = options;
  const command = programWords(["--data-dir", facts.data_dir, "admin", ...args]);
  await inTmux({ ...rest, command }, use);
}

/** The environment of somebody whose home is a folder of its own; deno still finds what it has loaded before. */
export async function envAt(home: string): Promise<Record<string, string>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout));
  return { HOME: home, XDG_CONFIG_HOME: `${home}/config`, DENO_DIR: denoDir, NO_COLOR: "1" };
}

/** Calls the API of the demo's org as the operator; fails unless it is taken. */
export async function ask(demo: DemoProcess, method: string, path: string, body?: unknown): Promise<Answer["json"]> {
  const { status, json } = await demo.operator(method, `/api/compute/${demo.facts.org}${path}`, body);
  assert(status < 300, JSON.stringify(json));
  return json;
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
