import { type Edit, editOf, editText } from "../text/edit.ts";
import type { AnyScreen } from "./screen.ts";

/** One open screen. */
export interface Layer {
  readonly id: number;
  readonly screen: AnyScreen;
  readonly params: unknown;
  readonly state: unknown;
  readonly filter: string;
}

/** What is typed in the line above the footer: a command, or a filter of one layer. */
export type Prompt =
  | { readonly kind: "command"; readonly edit: Edit }
  | { readonly kind: "filter"; readonly edit: Edit; readonly layer: number };

export interface Message {
  readonly text: string;
  readonly tone: "good" | "warn" | "bad";
  readonly until: number;
}

/** All that the screen depends on, beside the server's data and the clock. */
export interface UiState {
  /** From the first screen to the one on top; never empty. */
  readonly layers: readonly Layer[];
  readonly nextId: number;
  readonly columns: number;
  readonly rows: number;
  readonly prompt: Prompt | null;
  /** The last one is shown. */
  readonly messages: readonly Message[];
  /** What the server is being asked to do. */
  readonly busy: readonly string[];
}

export type UiEvent =
  | { readonly kind: "open"; readonly screen: AnyScreen; readonly params: unknown }
  | { readonly kind: "home"; readonly screen: AnyScreen; readonly params: unknown }
  | { readonly kind: "close"; readonly layer: number }
  | { readonly kind: "set"; readonly layer: number; readonly change: (state: unknown) => unknown }
  | { readonly kind: "resize"; readonly columns: number; readonly rows: number }
  | { readonly kind: "prompt"; readonly prompt: Prompt | null }
  | { readonly kind: "filter"; readonly layer: number; readonly text: string }
  | { readonly kind: "say"; readonly message: Message }
  | { readonly kind: "hush"; readonly now: number }
  | { readonly kind: "busy"; readonly what: string }
  | { readonly kind: "done"; readonly what: string };

const MOST_MESSAGES = 20;
/** A chain of screens that is longer is a mistake of the hand; the oldest ones between give way. */
const MOST_LAYERS = 30;

export function initialState(screen: AnyScreen, params: unknown, columns: number, rows: number): UiState {
  const empty: UiState = { layers: [], nextId: 1, columns, rows, prompt: null, messages: [], busy: [] };
  return opened(empty, screen, params);
}

/** What an event makes of the state; the same state when it changes nothing. */
export function reduce(state: UiState, event: UiEvent): UiState {
  switch (event.kind) {
    case "open":
      return opened(state, event.screen, event.params);
    case "home": {
      const [first] = state.layers;
      const isFirst = first?.screen === event.screen;
      const below = { ...state, layers: first === undefined ? [] : [first] };
      return isFirst ? { ...below, prompt: null } : opened(below, event.screen, event.params);
    }
    case "close": {
      const layers = state.layers.filter(({ id }) => id !== event.layer);
      if (layers.length === 0 || layers.length === state.layers.length) return state;
      return { ...state, layers, prompt: state.prompt?.kind === "filter" ? null : state.prompt };
    }
    case "set":
      return changed(state, event.layer, (layer) => ({ ...layer, state: event.change(layer.state) }));
    case "filter":
      return changed(state, event.layer, (layer) => ({ ...layer, filter: event.text }));
    case "resize":
      return { ...state, columns: event.columns, rows: event.rows };
    case "prompt": {
      const { prompt } = event;
      const next = { ...state, prompt };
      return prompt?.kind === "filter"
        ? changed(next, prompt.layer, (layer) => ({ ...layer, filter: editText(prompt.edit) }))
        : next;
    }
    case "say":
      return { ...state, messages: [...state.messages, event.message].slice(-MOST_MESSAGES) };
    case "hush": {
      const messages = state.messages.filter(({ until }) => until > event.now);
      return messages.length === state.messages.length ? state : { ...state, messages };
    }
    case "busy":
      return { ...state, busy: [...state.busy, event.what] };
    case "done": {
      const at = state.busy.indexOf(event.what);
      return at < 0 ? state : { ...state, busy: state.busy.toSpliced(at, 1) };
    }
  }
}

function opened(state: UiState, screen: AnyScreen, params: unknown): UiState {
  const layer = { id: state.nextId, screen, params, state: screen.init(params), filter: "" };
  const layers = [...state.layers, layer];
  if (layers.length > MOST_LAYERS) layers.splice(1, 1);
  return { ...state, layers, nextId: state.nextId + 1, prompt: null };
}

function changed(state: UiState, id: number, change: (layer: Layer) => Layer): UiState {
  const at = state.layers.findIndex((layer) => layer.id === id);
  if (at < 0) return state;
  return { ...state, layers: state.layers.with(at, change(state.layers[at]!)) };
}

export function topOf(state: UiState): Layer {
  return state.layers.at(-1)!;
}

/** The prompt of the filter of the layer on top, with what stands in it already. */
export function filterPrompt(state: UiState): Prompt {
  const { id, filter } = topOf(state);
  return { kind: "filter", edit: editOf(filter), layer: id };
}
