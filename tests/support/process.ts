/** A program in a process of its own: started with this deno, watched by its lines, killed by its id. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Ended {
  readonly code: number;
  readonly signal: Deno.Signal | null;
}

export interface Program {
  readonly pid: number;
  /** What it printed so far. */
  stdout(): string;
  stderr(): string;
  /** The first match in what it printed on either stream, as soon as there is one. Fails when it ends without. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  /** Writes one line to its standard input. */
  send(line: string): Promise<void>;
  /** Ends its standard input. */
  endInput(): Promise<void>;
  kill(signal: Deno.Signal): void;
  /** Resolves when it has ended and all of its output has been read. Fails after `deadlineMs`. */
  ended(deadlineMs?: number): Promise<Ended>;
  /** Kills it if it still runs, and waits until it is gone. */
  close(): Promise<void>;
}

export interface ProgramOptions {
  readonly args?: readonly string[];
  /** Nothing of this process's environment is handed on but what deno itself needs. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Far above what anything here takes: a machine may be very busy. */
const PATIENCE_MS = 60_000;
const HANDED_ON = ["PATH", "HOME", "XDG_CACHE_HOME", "DENO_DIR", "DENO_NO_UPDATE_CHECK", "TMPDIR", "LD_LIBRARY_PATH"];

/** What deno itself needs of this process's environment; what else a machine has set must not decide a test. */
export function ownEnvironment(): Record<string, string> {
  const own = HANDED_ON.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(own);
}

/** Starts `deno run` on a file of this repository, given relative to its top folder. */
export function startProgram(entry: string, options: ProgramOptions = {}): Program {
  const top = fileURLToPath(new URL("../../", import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", join(top, entry), ...options.args ?? []],
    cwd: top,
    clearEnv: true,
    env: { ...ownEnvironment(), ...options.env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const printed = { stdout: "", stderr: "" };
  const watchers = new Set<() => void>();
  const read = async (stream: ReadableStream<Uint8Array>, into: keyof typeof printed) => {
    for await (const text of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
      printed[into] += text;
      for (const look of watchers) look();
    }
  };
  const input = child.stdin.getWriter();
  let inputEnd: Promise<void> | undefined;
  const endInput = () => inputEnd ??= closeInput(input);
  let over = false;
  const end = (async () => {
    const [status] = await Promise.all([child.status, read(child.stdout, "stdout"), read(child.stderr, "stderr")]);
    over = true;
    await endInput();
    for (const look of watchers) look();
    return { code: status.code, signal: status.signal };
  })();

  return {
    pid: child.pid,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    line(pattern) {
      return new Promise((resolve, reject) => {
        const finish = (act: () => void) => {
          clearTimeout(timer);
          watchers.delete(look);
          act();
        };
        const fail = (why: string) =>
          finish(() => reject(new Error(`${why} ${pattern}: ${printed.stdout}\n${printed.stderr}`)));
        const look = () => {
          const found = pattern.exec(printed.stdout) ?? pattern.exec(printed.stderr);
          if (found !== null) finish(() => resolve(found));
          else if (over) fail("The program ended without printing");
        };
        const timer = setTimeout(() => fail("The program did not print"), PATIENCE_MS);
        watchers.add(look);
        look();
      });
    },
    send: (line) => input.write(new TextEncoder().encode(`${line}\n`)),
    endInput,
    kill: (signal) => child.kill(signal),
    async ended(deadlineMs = PATIENCE_MS) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        const say = () => reject(new Error(`The program runs on after ${deadlineMs} ms: ${printed.stderr}`));
        timer = setTimeout(say, deadlineMs);
      });
      try {
        return await Promise.race([end, late]);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      if (!over) child.kill("SIGKILL");
      await end;
    },
  };
}

/** The pipe is broken once the program is gone; that is no news here. */
async function closeInput(input: WritableStreamDefaultWriter<Uint8Array>): Promise<void> {
  try {
    await input.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}

export interface Finished extends Ended {
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end; `input` is all of its standard input. */
export async function runProgram(
  entry: string,
  options: ProgramOptions & { readonly input?: string } = {},
): Promise<Finished> {
  const program = startProgram(entry, options);
  try {
    if (options.input !== undefined) await program.send(options.input);
    await program.endInput();
    const end = await program.ended();
    return { ...end, stdout: program.stdout(), stderr: program.stderr() };
  } finally {
    await program.close();
  }
}
