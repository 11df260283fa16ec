/** What the server said of the last change of a screen: who loses what, and what could not be done. */
import type { Action, At } from "../core/screen.ts";
import type { Person } from "../data/members.ts";
import { wrap } from "../text/cells.ts";
import { type Line, line, span } from "../text/line.ts";
import { pagerScreen } from "../widgets/pager.ts";

/** Rows that it may take of a screen; all of it is behind a key. */
const MOST_SAID = 4;

/** The sentences in lines, as many as there is room for beside a list. */
export function saidLines(said: readonly string[], width: number, height: number): Line[] {
  const told = said.flatMap((text) => wrap(`! ${text}`, width - 2));
  const room = Math.max(1, Math.min(MOST_SAID, height - 5));
  const shown = told.length <= room ? told : [...told.slice(0, room - 1), "! … w shows all of it"];
  return shown.map((text) => line(span(` ${text}`, "warn")));
}

/** The key that shows all of it. */
export function saidAction<P, S extends { readonly said: readonly string[] }>(): Action<P, S> {
  return {
    keys: ["w"],
    label: "what was said",
    about: "all that the server said of the last change",
    when: (at: At<P, S>) => at.state.said.length > 0,
    run: (at) =>
      at.open(pagerScreen, {
        title: "What the server said",
        lines: (width) => at.state.said.flatMap((text) => wrap(text, width).map((part) => line(part))),
      }),
  };
}

/** A sentence of the server that begins with an id, with the name of that person before it. */
export function withName(sentence: string, people: readonly Person[]): string {
  const id = /^\d{5,25}(?=[: ])/.exec(sentence)?.[0];
  const name = people.find((person) => person.id === id)?.name;
  return name === undefined || name === null ? sentence : `${name}: ${sentence}`;
}
