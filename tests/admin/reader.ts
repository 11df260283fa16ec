/** Somebody who reads only the screen: presses no key that is not shown at that moment, in the footer or in the help. */
import { footerKeys, type ShownKey, tmuxNames } from "../support/shown_keys.ts";
import type { Tmux } from "../support/tmux.ts";
import { eventually } from "../support/world.ts";

export interface Reader {
  /** Presses a key as it is written on the screen (`enter`, `ctrl-s`, `n`, `↑↓`); fails when the screen does not show it. */
  pressShown(key: string): Promise<void>;
  /** Presses the key beside which the screen says this; fails when it says it of no key. */
  pressFor(label: string | RegExp): Promise<void>;
  /** Goes to a field of a form by the keys that the screen shows. */
  goTo(label: string): Promise<void>;
  /** Types into the field one is in, which must be this one. */
  typeInto(label: string, text: string): Promise<void>;
  /** Moves down a list, by the key that the screen shows, until the marked row is the wanted one. */
  select(row: RegExp): Promise<void>;
}

const MOST_STEPS = 30;

export function readerOf(terminal: Tmux, rows: number): Reader {
  const focus = async () => /^> .*$/m.exec(await terminal.screen())?.[0];

  const send = async (key: string) => {
    const names = tmuxNames(key);
    if (names === null) await terminal.type(key);
    else await terminal.keys(names[0]!);
  };

  /** The key that fits, from the footer; where that has no room for all, from the help, which is left again. */
  const find = async (fits: (shown: ShownKey) => boolean, what: string): Promise<string> => {
    const screen = await terminal.screen();
    const shown = footerKeys(screen, rows);
    const inFooter = shown.find(fits);
    if (inFooter !== undefined) return inFooter.key;
    const more = shown.find(({ label }) => label === "more");
    if (more === undefined) throw new Error(`The screen shows no key ${what}:\n${screen}`);
    await send(more.key);
    await terminal.until("Help: ");
    const key = await findInHelp(fits, what);
    await send("esc");
    await eventually(async () => !(await terminal.screen()).includes("Help: "), "the help is left");
    return key;
  };

  const findInHelp = async (fits: (shown: ShownKey) => boolean, what: string): Promise<string> => {
    for (let page = 0; page < MOST_STEPS; page++) {
      const screen = await terminal.screen();
      const lines = screen.split("\n").map((line) => /^ {2}(\S+(?: \S+)*) {2,}(.+)$/.exec(line));
      const found = lines.flatMap((match): ShownKey[] => {
        const [, names, about] = match ?? [];
        return names === undefined || names === "-" ? [] : names.split(" ").map((key) => ({ key, label: about! }));
      }).find(fits);
      if (found !== undefined) return found.key;
      await send("pagedown");
      await new Promise((resolve) => setTimeout(resolve, 200));
      if (await terminal.screen() === screen) break;
    }
    throw new Error(`Neither the footer nor the help shows a key ${what}:\n${await terminal.screen()}`);
  };

  const pressFor = async (label: string | RegExp) =>
    await send(
      await find(
        (shown) => typeof label === "string" ? shown.label === label : label.test(shown.label),
        `for ${label}`,
      ),
    );

  const step = async (key: string) => {
    const before = await focus();
    await send(await find((shown) => shown.key === key, key));
    await eventually(async () => await focus() !== before, "the next one is marked");
  };

  return {
    pressShown: async (key) => await send(await find((shown) => shown.key === key, key)),
    pressFor,
    async goTo(label) {
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        if ((await focus())?.startsWith(`> ${label}`)) return;
        await step("tab");
      }
      throw new Error(`There is no field ${label}:\n${await terminal.screen()}`);
    },
    async typeInto(label, text) {
      const here = await focus();
      if (!here?.startsWith(`> ${label}`)) throw new Error(`One is not in the field ${label}: ${here}`);
      await terminal.type(text);
      await terminal.until(text);
    },
    async select(row) {
      for (let steps = 0; steps < MOST_STEPS; steps++) {
        if (row.test(await focus() ?? "")) return;
        const before = await focus();
        await send(await find((shown) => shown.key === "↑↓", "↑↓") === "↑↓" ? "down" : "");
        await eventually(async () => await focus() !== before, "the next row is marked");
      }
      throw new Error(`There is no row ${row}:\n${await terminal.screen()}`);
    },
  };
}
