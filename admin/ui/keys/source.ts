import { decode, type Decoded, type Input } from "./decode.ts";

/** A terminal's input as Node's `process.stdin` gives it. */
export interface RawInput {
  setRawMode(isRaw: boolean): unknown;
  on(event: "data" | "end", listener: (data: Uint8Array | string) => void): unknown;
  off(event: "data" | "end", listener: (data: Uint8Array | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

/** The keys of a terminal. */
export interface KeySource {
  /** Takes the terminal into raw mode and begins to read. */
  open(): void;
  /** Gives the terminal back: to a shell, or to an editor. What was not handed over yet is dropped. */
  close(): void;
}

/** How long a lone escape may be the beginning of a longer sequence, in milliseconds. */
export const ESCAPE_MS = 30;
/** How long the rest of a paste is waited for. */
export const PASTE_MS = 1_000;

/**
 * Reads keys of a terminal and hands them over one by one, however they came: a burst such as `jjj` and Enter is four
 * keys, a sequence that is cut between two reads is one, and a bracketed paste comes whole. `onEnd` is called when the
 * input is closed, as a lost terminal does.
 */
export function createKeySource(
  input: RawInput,
  { onInput, onEnd }: { readonly onInput: (input: Input) => void; readonly onEnd: () => void },
): KeySource {
  const decoder = new TextDecoder();
  let rest = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOpen = false;
  const handOver = ({ inputs, rest: left }: Decoded) => {
    rest = left;
    for (const one of inputs) {
      if (!isOpen) return; // A key before it gave the terminal away.
      onInput(one);
    }
  };
  const onData = (data: Uint8Array | string) => {
    clearTimeout(timer);
    handOver(decode(rest + (typeof data === "string" ? data : decoder.decode(data, { stream: true })), false));
    if (rest === "" || !isOpen) return;
    timer = setTimeout(() => handOver(decode(rest, true)), rest.startsWith("\x1b[200~") ? PASTE_MS : ESCAPE_MS);
  };
  return {
    open() {
      if (isOpen) return;
      isOpen = true;
      input.setRawMode(true);
      input.on("data", onData);
      input.on("end", onEnd);
      input.resume();
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(timer);
      rest = "";
      input.off("data", onData);
      input.off("end", onEnd);
      input.pause();
      input.setRawMode(false);
    },
  };
}
