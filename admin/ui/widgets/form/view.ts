import type { Ui } from "../../core/screen.ts";
import { wrap } from "../../text/cells.ts";
import { type Edit, editSpans, editText } from "../../text/edit.ts";
import { BLANK, type Line, line, type Span, span } from "../../text/line.ts";
import { inLabels, type Mistake } from "./check.ts";
import { type Field, type FormState, type Stop, stopsOf, valuesOf } from "./fields.ts";

export interface FormLook {
  readonly fields: readonly Field[];
  readonly state: FormState;
  readonly mistakes: readonly Mistake[];
  /** What the button says. */
  readonly send: string;
  /** Lines that are always in sight, above the fields: a price, a warning. */
  readonly notes: readonly Line[];
  /** What is known of the server, for examples and proposals. */
  readonly read: Ui["read"];
  readonly width: number;
  readonly height: number;
}

/** The form in a window; it scrolls so that the place where one is is in sight. */
export function drawForm(look: FormLook): Line[] {
  const { state, height, notes } = look;
  const stops = stopsOf(look.fields, state);
  const focus = Math.min(state.focus, stops.length - 1);
  const blocks = stops.map((stop, at) => stopLines(look, stop, at === focus));
  const fixed = [...refusalLines(look), ...notes].slice(0, Math.max(0, Math.floor(height / 2)));
  const room = Math.max(1, height - fixed.length);
  const before = blocks.slice(0, focus).flat().length;
  const all = blocks.flat();
  const last = before + blocks[focus]!.length;
  const from = Math.max(0, Math.min(all.length - room, Math.max(0, last - room, before - Math.floor(room / 3))));
  const top = Math.min(from, before);
  return [...fixed, ...all.slice(top, top + room)].slice(0, height);
}

/** A refusal that names no field stands above all of them. */
function refusalLines({ state, fields, width }: FormLook): Line[] {
  const { refusal } = state;
  if (refusal === null) return [];
  const texts = refusal.field === null ? [refusal.sentence, ...refusal.notes] : refusal.notes;
  return texts.flatMap((text) => wrap(`! ${inLabels(text, fields)}`, width - 2)).map((text) =>
    line(span(` ${text}`, "bad"))
  );
}

function stopLines(look: FormLook, stop: Stop, isHere: boolean): Line[] {
  const { state, width } = look;
  const labelWidth = width < 60 ? 14 : 20;
  const mark = isHere ? "> " : "  ";
  if (stop.kind === "send") {
    const text = state.isSending ? "Sending …" : `[ ${look.send} ]`;
    return [BLANK, line(span(mark), { text, ...(isHere ? { inverse: true } : {}) })];
  }
  const room = Math.max(6, width - labelWidth - 3);
  const { field } = stop;
  const first = stop.kind === "field" || (stop.kind === "cell" ? stop.row === 0 && stop.cell === 0 : false);
  const isLone = stop.kind === "add" && (state.held[field.name] as readonly unknown[]).length === 0;
  const label = first || isLone ? field.label : "";
  const head = [
    span(mark),
    span(label.slice(0, labelWidth).padEnd(labelWidth), isHere ? "strong" : undefined),
    span(" "),
  ];
  const lines: Line[] = [[...head, ...valueSpans(look, stop, isHere, room)]];
  const below = (text: string, tone: "bad" | "dim") =>
    wrap(text, room).map((part) => line(" ".repeat(labelWidth + 3), span(part, tone)));
  const isLastOfField = stop.kind !== "cell";
  if (isLastOfField) {
    const mistake = mistakeAt(look, field.name);
    if (mistake !== null) lines.push(...below(`! ${inLabels(mistake, look.fields)}`, "bad"));
    else if (isHere && field.hint !== undefined) lines.push(...below(field.hint, "dim"));
  }
  return lines;
}

/** The mistake that is said of a field: the server's refusal, else what the schema says once the field was touched. */
function mistakeAt({ state, mistakes }: FormLook, name: string): string | null {
  if (state.refusal?.field === name) return state.refusal.sentence;
  if (!state.wasTried && !state.touched.includes(name)) return null;
  return mistakes.find(({ field }) => field === name)?.sentence ?? null;
}

function valueSpans(look: FormLook, stop: Exclude<Stop, { kind: "send" }>, isHere: boolean, room: number): Span[] {
  const { state } = look;
  if (stop.kind === "add") return [{ text: "+ add", ...(isHere ? { inverse: true } : { tone: "dim" as const }) }];
  if (stop.kind === "cell") {
    const { field, row, cell } = stop;
    const edit = (state.held[field.name] as readonly (readonly Edit[])[])[row]![cell]!;
    return [span(`${field.cells[cell]} `, "dim"), ...textSpans(edit, isHere, room - field.cells[cell]!.length - 1)];
  }
  const { field } = stop;
  const held = state.held[field.name];
  switch (field.kind) {
    case "switch": {
      const { on, off } = field;
      // Two sides with names of their own are a choice: an empty box before `GPU` would say that it is none.
      if (on !== undefined && off !== undefined && !/^no\b/.test(off)) {
        return choiceSpans(held === true ? on : off, isHere, 2);
      }
      const text = held === true ? `[x] ${on ?? "yes"}` : `[ ] ${off ?? "no"}`;
      return [{ text, ...(isHere ? { inverse: true } : {}) }];
    }
    case "choice": {
      const label = field.options.find(({ value }) => value === held)?.label ?? "";
      return choiceSpans(label, isHere, field.options.length);
    }
    case "rows":
      return [];
    case "text": {
      const isEmpty = (held as Edit).letters.length === 0;
      const example = typeof field.example === "function" ? field.example(look.read) : field.example;
      if (isEmpty && !isHere && example !== undefined) return [span(example, "dim")];
      return textSpans(held as Edit, isHere, room, field.isSecret);
    }
    case "number":
      return [...textSpans(held as Edit, isHere, room), span(field.unit === undefined ? "" : ` ${field.unit}`, "dim")];
    case "suggest": {
      const offered = field.suggestions(look.read, valuesOf(look.fields, state));
      const note = offered.find(({ value }) => value === editText(held as Edit))?.note;
      return [...textSpans(held as Edit, isHere, room), span(note === undefined ? "" : `  ${note}`, "dim")];
    }
  }
}

/** What is chosen, between arrows where there is another one to choose. */
function choiceSpans(label: string, isHere: boolean, options: number): Span[] {
  if (!isHere) return [span(label)];
  return [{ text: options > 1 ? `< ${label} >` : label, inverse: true }];
}

function textSpans(edit: Edit, isHere: boolean, room: number, isSecret = false): Span[] {
  if (isHere) return editSpans(edit, Math.max(4, room), isSecret);
  return [span(isSecret ? "*".repeat(edit.letters.length) : editText(edit))];
}
