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

/** Types a command after `:`, and carries it out. */
export async function command(terminal: Tmux, words: string): Promise<void> {
  await terminal.keys(":");
  await terminal.until("enter do it");
  await terminal.type(words);
  await terminal.keys("Enter");
}

/** Loads again until the screen shows it: the server works beside. */
export async function untilFresh(terminal: Tmux, want: RegExp): Promise<void> {
  for (let tries = 0; tries < 60; tries++) {
    await terminal.keys("C-r");
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (want.test(await terminal.screen())) return;
  }
  await terminal.until(want);
}

/** Waits until the screen does not show something any more, such as a question: what is typed before goes there. */
export async function untilGone(terminal: Tmux, unwanted: string | RegExp): Promise<void> {
  const isThere = (screen: string) => typeof unwanted === "string" ? screen.includes(unwanted) : unwanted.test(screen);
  await eventually(async () => !isThere(await terminal.screen()), `${unwanted} is gone`, () => {}, 30_000);
}
