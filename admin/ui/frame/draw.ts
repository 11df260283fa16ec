import { SECOND } from "../../../server/clock.ts";
import type { Link, Session } from "../client/session.ts";
import type { Cache, Reading, Resource } from "../core/cache.ts";
import type { Call } from "../core/calls.ts";
import type { Offer } from "../core/offers.ts";
import { completions } from "../core/offers.ts";
import { PROMPT_KEYS } from "../core/prompt.ts";
import type { At } from "../core/screen.ts";
import { type Layer, topOf, type UiState } from "../core/state.ts";
import type { Transfer } from "../core/transfers.ts";
import { meResource } from "../data/me.ts";
import { editSpans, editText } from "../text/edit.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, fit, type Line, line, lineWidth, span } from "../text/line.ts";
import { duration } from "../text/units.ts";
import { footerLines, hintsOf } from "./footer.ts";
import { headerLine } from "./header.ts";
import { transferText } from "./transfer_text.ts";
import { assemble, dialogRoom, type Layout, layoutOf, LEAST, overlaid, rowsOf, tooSmall } from "./layout.ts";

/** From then on it is said how long something takes. */
const SLOW_MS = 2 * SECOND;
const OWN_PROCESS = "No server runs: nothing is scheduled until one starts";

export interface DrawParts {
  readonly state: UiState;
  at(layer: Layer): At<unknown, unknown>;
  offers(): Offer[];
  readonly session: Session;
  readonly now: number;
  readonly zone: string;
  readonly isOwnProcess: boolean;
  /** What the views read; filled while they draw. */
  readonly shown: ReadonlyMap<string, Resource<unknown>>;
  readonly cache: Cache;
  readonly transfers: readonly Transfer[];
  readonly calls: readonly Call[];
}

/** The room of a layer's body. In a window that is too small for a frame it is that of the smallest one. */
export function innerSize(state: UiState, layer: Layer): { width: number; height: number } {
  const layout = layoutOf(state.columns, state.rows) ?? layoutOf(LEAST.columns, LEAST.rows)!;
  if (layer.screen.isDialog !== true) return { width: layout.width, height: layout.body };
  const { width, height } = dialogRoom(layout.width, layout.body);
  return { width, height };
}

/** The whole frame of this moment. */
export function drawFrame(parts: DrawParts): Line[] {
  const { state, session, now, zone } = parts;
  const layout = layoutOf(state.columns, state.rows);
  if (layout === null) return tooSmall(state.columns, state.rows);
  const body = drawBody(parts, layout);
  const me = parts.cache.read(meResource).value;
  const header = headerLine({
    org: session.org,
    orgName: me?.org_name ?? null,
    address: session.address,
    isOwnProcess: parts.isOwnProcess,
    link: session.link,
    now,
    zone,
  }, layout.width);
  const offers = parts.offers();
  const help = offers.find(({ word }) => word === "help")?.shown ?? null;
  const hints = state.prompt === null ? hintsOf(offers) : PROMPT_KEYS[state.prompt.kind];
  const said = messageLines(parts, layout, offers);
  return assemble(layout, {
    header,
    title: titleLine(parts, layout.width),
    body: [...rowsOf(body, layout.body - (said.length - 1)), ...said.slice(0, -1)],
    message: said.at(-1)!,
    footer: footerLines(hints, layout.width, layout.footer, help),
  });
}

function drawBody({ state, at }: DrawParts, { width, body }: Layout): readonly Line[] {
  const top = topOf(state);
  if (top.screen.isDialog !== true) return top.screen.view(at(top));
  const below = state.layers.findLast(({ screen }) => screen.isDialog !== true);
  const under = below === undefined ? [] : below.screen.view(at(below));
  return overlaid(under, { title: top.screen.title(at(top)), lines: top.screen.view(at(top)) }, width, body);
}

/** Where one is, and at the right how fresh the data are. */
function titleLine({ state, at, shown, cache, now, session }: DrawParts, width: number): Line {
  const pages = state.layers.filter(({ screen }) => screen.isDialog !== true);
  const titles = pages.map((layer) => layer.screen.title(at(layer)));
  const { filter } = pages.at(-1)!;
  const age = freshness(
    [...shown.values()].map((one) => cache.read(one)),
    now,
    session.link,
  );
  const right: Line = age === null ? [] : line(span(`${age} `, "warn"));
  const room = width - lineWidth(right) - 1;
  const here = titles.at(-1)!;
  // Of a long way back only the end is told; in a narrow window nothing of it.
  const ways = [` ${titles.join(" > ")}`, ` … > ${here}`];
  const left = ways.find((way) => lineWidth(line(way)) <= room) ?? ` ${here}`;
  return [
    ...fit(line(span(left, "strong"), filter === "" ? "" : span(`  /${filter}`, "accent")), Math.max(0, room)),
    span(" "),
    ...right,
  ];
}

/** What must be said about the age of what is shown; null while it is as fresh as it should be. */
function freshness(
  readings: readonly Reading<unknown>[],
  now: number,
  link: Link,
): string | null {
  const known = readings.filter(({ at }) => at !== null);
  if (known.some(({ problem }) => problem !== null) || link.kind !== "connected") {
    const oldest = Math.min(...known.map(({ at }) => at!));
    return Number.isFinite(oldest) ? `not fresh: ${duration(now - oldest)} old` : "not loaded";
  }
  const longest = now - Math.min(...readings.map(({ since = now }) => since));
  if (longest >= SLOW_MS) return `loading ${duration(longest)}`;
  if (readings.some(({ at, isLoading, problem }) => at === null && isLoading && problem === null)) return "loading";
  return null;
}

/**
 * The line above the footer: what is typed, else what was said last, else what is under way. A sentence of the server that is
 * longer takes the last rows of the body for its time, unless a dialog is there.
 */
function messageLines(parts: DrawParts, { width, body }: Layout, offers: readonly Offer[]): Line[] {
  const { state } = parts;
  const message = state.messages.at(-1);
  if (state.prompt !== null || message === undefined) return [statusLine(parts, width, offers)];
  const most = topOf(state).screen.isDialog === true ? 1 : 1 + Math.floor(body / 2);
  const text = message.tone === "good" ? message.text : `! ${message.text}`;
  const all = wrap(text, width - 2);
  const rest = all.slice(most - 1).join(" ");
  return [...all.slice(0, most - 1), ...(rest === "" ? [] : [rest])].map((part) =>
    line(span(` ${part}`, message.tone))
  );
}

function statusLine(parts: DrawParts, width: number, offers: readonly Offer[]): Line {
  const { state, session, transfers } = parts;
  const { prompt } = state;
  if (prompt !== null) {
    const mark = prompt.kind === "command" ? ":" : "/";
    const typed = editSpans(prompt.edit, Math.max(8, Math.floor(width / 2)));
    if (prompt.kind === "filter") return [span(` ${mark}`, "accent"), ...typed];
    const found = completions(offers, editText(prompt.edit));
    const words = found.map((one) => `${one.word}${one.takes === null ? "" : ` ${one.takes}`}`).join("  ");
    return [span(` ${mark}`, "accent"), ...typed, span(`  ${words}`, "dim")];
  }
  const moving = transferText(transfers);
  if (moving !== null) return line(span(` ${moving}`, "accent"));
  const doing = state.busy.at(-1);
  if (doing !== undefined) return line(span(` ${doingText(doing, parts)}`, "accent"));
  if (session.link.kind === "lost") return line(span(` ! ${session.link.sentence}`, "bad"));
  const held = heldText(parts);
  if (held !== null) return line(span(` ! ${held}`, "warn"));
  if (parts.isOwnProcess) return line(span(` ! ${OWN_PROCESS}`, "warn"));
  return BLANK;
}

/** What the server is being asked to do; after a moment for how long, and how one stops to wait for it. */
function doingText(what: string, parts: DrawParts): string {
  const call = parts.calls.find((one) => one.what === what);
  const waited = call === undefined ? 0 : parts.now - call.since;
  if (waited < SLOW_MS) return `${what} …`;
  const held = heldText(parts);
  return `${what} … ${duration(waited)}, ctrl-x gives up${held === null ? "" : `. ${held}`}`;
}

/** That the server asked for a pause (429), while it lasts. */
function heldText({ session: { heldUntil }, now }: DrawParts): string | null {
  if (heldUntil === null || heldUntil <= now) return null;
  return `The server asked to wait for ${Math.ceil((heldUntil - now) / SECOND)} s`;
}
