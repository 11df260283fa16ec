/** A terminal without a terminal, for the admin in the test's own process. */
import { EventEmitter } from "node:events";
import { Writable } from "node:stream";
import type { RawInput } from "../../admin/ui/keys/source.ts";
import type { Streams } from "../../admin/ui/terminal/streams.ts";
import { createEmulator, type Emulator } from "./screen_emulator.ts";

const KEYS: Readonly<Record<string, string>> = {
  enter: "\r",
  esc: "\x1b",
  tab: "\t",
  "shift-tab": "\x1b[Z",
  up: "\x1b[A",
  down: "\x1b[B",
  right: "\x1b[C",
  left: "\x1b[D",
  home: "\x1b[H",
  end: "\x1b[F",
  pageup: "\x1b[5~",
  pagedown: "\x1b[6~",
  delete: "\x1b[3~",
  backspace: "\x7f",
  f1: "\x1bOP",
  space: " ",
};

/** What a terminal sends for a key by its name; a letter is itself. */
export function bytesOfKey(key: string): string {
  const control = /^ctrl-([a-z])$/.exec(key);
  if (control !== null) return String.fromCharCode(control[1]!.charCodeAt(0) - 96);
  return KEYS[key] ?? key;
}

export interface FakeTerminal {
  readonly streams: Streams;
  readonly screen: Emulator;
  readonly isRaw: boolean;
  /** What arrives at once, in one piece. */
  send(bytes: string): void;
  resize(columns: number, rows: number): void;
  /** The terminal is lost: its input ends. */
  hangUp(): void;
  /** Calls `listener` after each piece that the program wrote. */
  onWrite(listener: () => void): void;
}

export function createFakeTerminal(columns: number, rows: number): FakeTerminal {
  const screen = createEmulator(columns, rows);
  const input = new EventEmitter();
  let isRaw = false;
  const listeners: (() => void)[] = [];
  const stdin: RawInput = {
    setRawMode: (next) => void (isRaw = next),
    on: (event, listener) => input.on(event, listener),
    off: (event, listener) => input.off(event, listener),
    resume: () => {},
    pause: () => {},
  };
  const stdout = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        screen.write(String(chunk));
        for (const listener of listeners) listener();
        done();
      },
    }),
    { columns, rows, isTTY: true },
  );
  return {
    streams: { stdin, stdout: stdout as Streams["stdout"] },
    screen,
    get isRaw() {
      return isRaw;
    },
    send: (bytes) => void input.emit("data", bytes),
    resize(nextColumns, nextRows) {
      screen.resize(nextColumns, nextRows);
      stdout.columns = nextColumns;
      stdout.rows = nextRows;
      stdout.emit("resize");
    },
    hangUp: () => void input.emit("end"),
    onWrite: (listener) => void listeners.push(listener),
  };
}
