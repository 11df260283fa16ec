/** The fields of a form, what stands in them, and the places where one can be. All of it is pure. */
import type { Ui } from "../../core/screen.ts";
import { type Edit, editOf, editText } from "../../text/edit.ts";

interface Common {
  /** The name in the server's body, by which its refusals speak: `volume_in_gb`. */
  readonly name: string;
  readonly label: string;
  /** Said below the field while one is in it. */
  readonly hint?: string;
  /** Whether it is asked for now; what is not asked for is not sent. */
  when?(values: Values): boolean;
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

export type Field =
  | Common & {
    readonly kind: "text";
    readonly initial?: string;
    readonly isSecret?: boolean;
    /** Shown in the empty field; a function may read it from the server. */
    readonly example?: string | ((read: Ui["read"]) => string | undefined);
  }
  /** A number; what is no number is sent to the schema as it is, which says so. An empty one is left out. */
  | Common & { readonly kind: "number"; readonly initial?: number; readonly unit?: string }
  | Common & { readonly kind: "choice"; readonly options: readonly Option[]; readonly initial?: string }
  | Common & { readonly kind: "switch"; readonly initial?: boolean; readonly on?: string; readonly off?: string }
  /** Text with proposals in a list to search; other text is taken too. */
  | Common & {
    readonly kind: "suggest";
    readonly initial?: string;
    /** Asked for every frame, so that it can read from the server; `values` is what stands in the form. */
    suggestions(read: Ui["read"], values: Values): readonly Suggestion[];
  }
  /** A list of rows with one text or more each, such as names and values. */
  | Common & { readonly kind: "rows"; readonly cells: readonly string[]; readonly initial?: readonly string[][] };

export interface Suggestion {
  readonly value: string;
  /** Beside the value in the list: price, availability. */
  readonly note?: string;
}

export type Value = string | number | boolean | readonly (readonly string[])[];
/** What stands in the fields that are asked for; an empty text or number has no entry. */
export type Values = Readonly<Record<string, Value>>;

type Held = Edit | string | boolean | readonly (readonly Edit[])[];

export interface FormState {
  readonly held: Readonly<Record<string, Held>>;
  /** Which of the stops one is at. */
  readonly focus: number;
  /** Fields that were changed; their mistakes are shown. */
  readonly touched: readonly string[];
  /** It was tried to send it: all mistakes are shown. */
  readonly wasTried: boolean;
  readonly isSending: boolean;
  readonly refusal:
    | { readonly sentence: string; readonly notes: readonly string[]; readonly field: string | null }
    | null;
}

export function newForm(fields: readonly Field[]): FormState {
  const held = Object.fromEntries(fields.map((field) => [field.name, initialOf(field)]));
  return { held, focus: 0, touched: [], wasTried: false, isSending: false, refusal: null };
}

function initialOf(field: Field): Held {
  switch (field.kind) {
    case "text":
    case "suggest":
      return editOf(field.initial ?? "");
    case "number":
      return editOf(field.initial === undefined ? "" : String(field.initial));
    case "choice":
      return field.initial ?? field.options[0]?.value ?? "";
    case "switch":
      return field.initial ?? false;
    case "rows":
      return (field.initial ?? []).map((row) => row.map(editOf));
  }
}

export function valuesOf(fields: readonly Field[], state: FormState): Values {
  const all: Record<string, Value> = {};
  for (const field of fields) {
    const value = valueOf(field, state.held[field.name]!);
    if (value !== undefined) all[field.name] = value;
  }
  return Object.fromEntries(
    fields.filter((field) => field.name in all && (field.when?.(all) ?? true)).map(({ name }) => [name, all[name]!]),
  );
}

function valueOf(field: Field, held: Held): Value | undefined {
  switch (field.kind) {
    case "text":
    case "suggest":
      return editText(held as Edit).trim() || undefined;
    case "number": {
      const text = editText(held as Edit).trim();
      if (text === "") return undefined;
      return /^[+-]?\d+(?:[.,]\d+)?$/.test(text) ? Number(text.replace(",", ".")) : text;
    }
    case "rows":
      return (held as readonly (readonly Edit[])[]).map((row) => row.map(editText));
    default:
      return held as string | boolean;
  }
}

/** A place where one can be: a field, a cell of a row, the line that adds a row, or the button that sends. */
export type Stop =
  | { readonly kind: "field"; readonly field: Field }
  | { readonly kind: "cell"; readonly field: Field & { kind: "rows" }; readonly row: number; readonly cell: number }
  | { readonly kind: "add"; readonly field: Field & { kind: "rows" } }
  | { readonly kind: "send" };

/** All places, from the top to the button. */
export function stopsOf(fields: readonly Field[], state: FormState): Stop[] {
  const values = valuesOf(fields, state);
  const asked = fields.filter((field) => field.when?.(values) ?? true);
  return [
    ...asked.flatMap((field): Stop[] => {
      if (field.kind !== "rows") return [{ kind: "field", field }];
      const rows = state.held[field.name] as readonly (readonly Edit[])[];
      const cells = rows.flatMap((row, at) => row.map((_, cell): Stop => ({ kind: "cell", field, row: at, cell })));
      return [...cells, { kind: "add", field }];
    }),
    { kind: "send" },
  ];
}

export function stopAt(fields: readonly Field[], state: FormState): Stop {
  const stops = stopsOf(fields, state);
  return stops[Math.min(state.focus, stops.length - 1)]!;
}

/** The line of text one is in, or null where nothing is typed. */
export function editAt(fields: readonly Field[], state: FormState): Edit | null {
  const stop = stopAt(fields, state);
  if (stop.kind === "cell") {
    return (state.held[stop.field.name] as readonly (readonly Edit[])[])[stop.row]![stop.cell]!;
  }
  if (stop.kind !== "field") return null;
  return ["text", "number", "suggest"].includes(stop.field.kind) ? state.held[stop.field.name] as Edit : null;
}

/** The form with another line of text where one is. */
export function withEdit(fields: readonly Field[], state: FormState, edit: Edit): FormState {
  const stop = stopAt(fields, state);
  if (stop.kind === "cell") {
    const rows = state.held[stop.field.name] as readonly (readonly Edit[])[];
    return withHeld(state, stop.field.name, rows.with(stop.row, rows[stop.row]!.with(stop.cell, edit)));
  }
  return stop.kind === "field" ? withHeld(state, stop.field.name, edit) : state;
}

/** The form with something else in a field; what the server refused there is not said any more. */
export function withHeld(state: FormState, name: string, held: Held): FormState {
  return {
    ...state,
    held: { ...state.held, [name]: held },
    touched: state.touched.includes(name) ? state.touched : [...state.touched, name],
    refusal: state.refusal?.field === name || state.refusal?.field === null ? null : state.refusal,
  };
}

/** The next or the one before of a choice, or the other side of a switch. */
export function turned(state: FormState, field: Field, step: 1 | -1): FormState {
  if (field.kind === "switch") return withHeld(state, field.name, !(state.held[field.name] as boolean));
  if (field.kind !== "choice") return state;
  const at = field.options.findIndex(({ value }) => value === state.held[field.name]);
  const next = field.options[(at + step + field.options.length) % field.options.length];
  return next === undefined ? state : withHeld(state, field.name, next.value);
}

/** Adds an empty row, and goes to it. */
export function rowAdded(fields: readonly Field[], state: FormState, field: Field & { kind: "rows" }): FormState {
  const rows = state.held[field.name] as readonly (readonly Edit[])[];
  const next = withHeld(state, field.name, [...rows, field.cells.map(() => editOf(""))]);
  const focus = stopsOf(fields, next).findIndex((stop) =>
    stop.kind === "cell" && stop.field === field && stop.row === rows.length
  );
  return { ...next, focus };
}

export function rowRemoved(fields: readonly Field[], state: FormState): FormState {
  const stop = stopAt(fields, state);
  if (stop.kind !== "cell") return state;
  const rows = state.held[stop.field.name] as readonly (readonly Edit[])[];
  const next = withHeld(state, stop.field.name, rows.toSpliced(stop.row, 1));
  return { ...next, focus: Math.min(Math.max(0, state.focus - stop.cell), stopsOf(fields, next).length - 1) };
}

/** The form with a text put into a field from outside, as a picker does. */
export function withText(state: FormState, name: string, text: string): FormState {
  return withHeld(state, name, editOf(text));
}
