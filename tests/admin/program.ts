/** The real program in a real terminal, against a demo or a server, and what its tests do again and again. */
import assert from "node:assert/strict";
import type { DemoFacts } from "../../server/demo/start.ts";
import type { Answer, DemoProcess } from "../support/demo_process.ts";
import { eventually } from "../support/world.ts";
import { inTmux, type Tmux, type TmuxOptions } from "../support/tmux.ts";

/** The usual terminal, the smallest window there is a frame for, and a large one. */
export const SIZES = [[80, 24], [40, 12], [200, 50]] as const;

/** Seven hours behind UTC all year, and no colours. */
export const PHOENIX = { TZ: "America/Phoenix", NO_COLOR: "1" };

/** Hours and minutes in Phoenix, as the admin writes them. */
export const inPhoenix = (ms: number) => new Date(ms - 7 * 3_600_000).toISOString().slice(11, 16);

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

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

/** Loads again until the screen shows it: what the server does by itself is on the screen only after its next turn. */
export async function untilFresh(terminal: Tmux, want: string | RegExp): Promise<string> {
  for (let tries = 0; tries < 60; tries++) {
    await terminal.keys("C-r");
    await new Promise((resolve) => setTimeout(resolve, 250));
    const text = await terminal.screen();
    if (typeof want === "string" ? text.includes(want) : want.test(text)) return text;
  }
  return await terminal.until(want);
}

/** Waits until the screen does not show it any more. */
export async function untilGone(terminal: Tmux, what: string): Promise<void> {
  await eventually(async () => !(await terminal.screen()).includes(what), `${what} is gone`, undefined, 30_000);
}

/** Leaves what is open by escape; `what` is shown there and not on the screen below. */
export async function leave(terminal: Tmux, what: string): Promise<void> {
  await terminal.keys("Escape");
  await untilGone(terminal, what);
}

/** Opens the selected pod, and waits for its own screen. */
export async function openPod(terminal: Tmux, name: string): Promise<void> {
  await terminal.keys("Enter");
  await terminal.until(new RegExp(`^ orgpods .*\\n.* > ${name}`));
}

/** Goes down a screen, line by line, until it shows this. */
export async function scrollTo(terminal: Tmux, want: RegExp): Promise<void> {
  for (let line = 0; line < 60 && !want.test(await terminal.screen()); line++) {
    await terminal.keys("Down");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await terminal.until(want);
}

/** Types a command, and waits for what its screen shows. */
export async function command(terminal: Tmux, words: string, want: string | RegExp): Promise<string> {
  await terminal.type(`:${words}`);
  await terminal.until(`:${words}`);
  await terminal.keys("Enter");
  return await terminal.until(want);
}

/** Shows only what contains a text. */
export async function filter(terminal: Tmux, text: string, want: string | RegExp): Promise<string> {
  await terminal.type("/");
  await terminal.until("esc show all");
  await terminal.keys("C-u");
  await terminal.type(text);
  await terminal.keys("Enter");
  return await terminal.until(want);
}
