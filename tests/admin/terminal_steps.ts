/** What is done again and again with the admin in a real terminal. */
import type { Tmux } from "../support/tmux.ts";
import { eventually } from "../support/world.ts";

const focus = async (terminal: Tmux) => /^> .*$/m.exec(await terminal.screen())?.[0];

/** Goes down (or up) in a form until its field is the one with the mark. What was typed must be on the screen before. */
export async function goTo(terminal: Tmux, label: string, key: "Down" | "Up" = "Down"): Promise<void> {
  for (let step = 0; step < 30; step++) {
    const before = await focus(terminal);
    if (before?.startsWith(`> ${label}`)) return;
    await terminal.keys(key);
    await eventually(async () => await focus(terminal) !== before, "the next field is marked");
  }
  throw new Error(`There is no field ${label}:\n${await terminal.screen()}`);
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

/** Waits until the screen does not show something any more, such as a question: what is typed before goes there. */
export async function untilGone(terminal: Tmux, unwanted: string | RegExp): Promise<void> {
  const isThere = (screen: string) => typeof unwanted === "string" ? screen.includes(unwanted) : unwanted.test(screen);
  await eventually(async () => !isThere(await terminal.screen()), `${unwanted} is gone`);
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

/** Types a command after `:`, carries it out, and waits for what its screen shows. */
export async function command(terminal: Tmux, words: string, want?: string | RegExp): Promise<string> {
  await terminal.keys(":");
  await terminal.until("enter do it");
  await terminal.type(words);
  await terminal.keys("Enter");
  return want === undefined ? await terminal.screen() : await terminal.until(want);
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
