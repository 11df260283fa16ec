import process from "node:process";
import { isStrayBodyError } from "../../client/node_fetch.ts";
import { type Admin, type AdminOptions, createAdmin } from "../core/admin.ts";
import { createKeySource } from "../keys/source.ts";
import { openScreen } from "./screen.ts";
import type { Streams } from "./streams.ts";

/** What the admin gets of the terminal and not of its caller. */
type OfTerminal = "columns" | "rows" | "suspend" | "stop" | "redraw" | "quit" | "onCrash";

/** How a run of the admin ended: with an exit code, and with what went wrong, if anything did. */
export interface Ended {
  readonly exitCode: number;
  readonly error?: unknown;
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";

/**
 * Shows the admin on a terminal until it is left, a signal comes, the terminal is lost or something breaks. Whatever
 * happens, the terminal is given back as it was before `ended` resolves.
 */
export function openOnTerminal(
  options: Omit<AdminOptions, OfTerminal>,
  { stdin, stdout }: Streams = process,
): { readonly admin: Admin; readonly ended: Promise<Ended> } {
  const { promise: ended, resolve } = Promise.withResolvers<Ended>();
  const end = (exitCode: number) => resolve({ exitCode });
  const crash = (error: unknown) => resolve({ exitCode: 1, error });
  const size = () => ({ columns: Math.max(1, stdout.columns ?? 80), rows: Math.max(1, stdout.rows ?? 24) });

  const keys = createKeySource(stdin, { onInput: (input) => admin.input(input), onEnd: () => end(SIGNALS.SIGHUP) });
  let isSuspended = false;
  /** Gives the terminal away and takes it back; what is drawn meanwhile is drawn afterwards. */
  const suspend = async (work: () => Promise<void>) => {
    if (isSuspended) throw new Error("The terminal has been given away already");
    isSuspended = true;
    keys.close();
    stdout.write(PASTE_OFF);
    try {
      await screen.suspend(work);
    } finally {
      isSuspended = false;
      stdout.write(PASTE_ON);
      keys.open();
      // The window may have changed meanwhile. Of that only the job in front is told, by this signal, and the runtime
      // believes the size that it was told last.
      process.kill(process.pid, "SIGWINCH");
      redraw();
    }
  };
  const admin = createAdmin({
    ...options,
    ...size(),
    suspend,
    stop: () => void (isSuspended || suspend(() => untilContinued(stdin)).catch(crash)),
    redraw() {
      if (isSuspended) return;
      if (screen.isPlain) redraw();
      else suspend(() => Promise.resolve()).catch(crash);
    },
    quit: () => end(0),
    onCrash: crash,
  });

  let drawn = size();
  const redraw = () => {
    drawn = size();
    admin.resize(drawn.columns, drawn.rows);
    screen.resize(drawn.columns, drawn.rows);
  };
  // Older runtimes tell of a new size only by the signal, newer ones by both.
  const onResize = () => {
    const { columns, rows } = size();
    if (!isSuspended && (columns !== drawn.columns || rows !== drawn.rows)) redraw();
  };
  const onRejection = (event: PromiseRejectionEvent) => {
    // Whoever reads that answer learns of it.
    if (isStrayBodyError(event.reason)) return;
    event.preventDefault();
    crash(event.reason);
  };
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    crash(event.error);
  };
  // A terminal that is gone cannot be written to: that ends the admin as a hang-up does.
  const onLost = () => end(SIGNALS.SIGHUP);
  const onSignal = Object.entries(SIGNALS).map(([signal, code]) => [signal, () => end(code)] as const);

  for (const [signal, listener] of onSignal) process.on(signal, listener);
  process.on("SIGWINCH", onResize);
  stdout.on("resize", onResize);
  stdout.on("error", onLost);
  globalThis.addEventListener("unhandledrejection", onRejection);
  globalThis.addEventListener("error", onError);
  const screen = openScreen(admin, stdout, crash);
  keys.open();
  stdout.write(PASTE_ON);

  const close = async () => {
    keys.close();
    const isClean = admin.close();
    stdout.write(PASTE_OFF);
    await screen.close();
    process.off("SIGWINCH", onResize);
    stdout.off("resize", onResize);
    stdout.off("error", onLost);
    for (const [signal, listener] of onSignal) process.off(signal, listener);
    globalThis.removeEventListener("unhandledrejection", onRejection);
    globalThis.removeEventListener("error", onError);
    await isClean;
  };
  return {
    admin,
    ended: ended.then(async (how) => {
      await close();
      return how;
    }),
  };
}

/** Stops this process and those of its job, as the terminal's own Ctrl-Z does; goes on when the shell continues it. */
async function untilContinued(stdin: Streams["stdin"]): Promise<void> {
  process.kill(0, "SIGTSTP");
  // While the process is stopped this waits too; where nobody can continue a job, the signal does nothing.
  await new Promise((resolve) => setTimeout(resolve, 100));
  // Continued in the background (`bg`), it is stopped again by this, before it has drawn over the shell.
  stdin.setRawMode(true);
}
