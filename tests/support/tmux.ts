/** A real terminal for the real program: a tmux server of its own for each test, killed at the end. */
import { ownEnvironment } from "./process.ts";

export interface Tmux {
  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `Up`. */
  keys(...keys: string[]): Promise<void>;
  /** Types a text as it is. */
  type(text: string): Promise<void>;
  paste(text: string): Promise<void>;
  /** Sends bytes as they are, which need not be a key. */
  bytes(bytes: Uint8Array): Promise<void>;
  screen(): Promise<string>;
  /** The screen with its colours, as sequences of the terminal, and with the spaces at the ends of lines. */
  coloured(): Promise<string>;
  /** Waits until the screen shows something; gives the screen. Wait for what only the wanted screen shows. */
  until(want: string | RegExp): Promise<string>;
  /** The same for the screen with its colours. */
  untilColoured(want: RegExp): Promise<void>;
  /** Records what the program sends from now on; the result gives it. */
  record(): Promise<() => Promise<string>>;
  resize(columns: number, rows: number): Promise<void>;
  /** Whether the alternate screen is on, and the cursor shown. */
  flag(name: "alternate_on" | "cursor_flag"): Promise<boolean>;
  /** The process that runs in the pane. */
  pid(): Promise<number>;
  /** What `stty -a` says of the terminal. */
  modes(): Promise<string>;
}

/** Far above what anything here takes: a machine may be very busy. */
const DEADLINE_MS = 60_000;

/** Without the settings of the user and of the machine, in UTF-8; what runs in the pane has the same environment. */
async function tmux(socket: string, args: readonly string[]): Promise<string> {
  const done = await new Deno.Command("tmux", {
    args: ["-u", "-L", socket, "-f", "/dev/null", ...args],
    clearEnv: true,
    env: { ...ownEnvironment(), LANG: "C.UTF-8" },
  }).output();
  if (!done.success) throw new Error(`tmux ${args[0]}: ${new TextDecoder().decode(done.stderr)}`);
  return new TextDecoder().decode(done.stdout);
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

export interface TmuxOptions {
  /** The command and its arguments; each is one word. */
  readonly command: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
  /** Beside `ownEnvironment` of process.ts. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder it runs in; this process's own when left out. */
  readonly folder?: string;
  /** A shell stays in the pane afterwards, for job control; else the exit code is printed as `rc=N`. */
  readonly isShell?: boolean;
}

/** Runs a command in a terminal while `use` drives it. After its end the pane shows `rc=N`. */
export async function inTmux(options: TmuxOptions, use: (terminal: Tmux) => Promise<void>): Promise<void> {
  const socket = `orgpods-test-${Deno.pid}-${crypto.randomUUID().slice(0, 8)}`;
  const run = (...args: string[]) => tmux(socket, args);
  const env = Object.entries({ TERM: "screen-256color", ...options.env }).flatMap((
    [name, value],
  ) => ["-e", `${name}=${value}`]);
  const line = options.command.map(quoted).join(" ");
  const shell = options.isShell ? "PS1='ready> ' exec bash --norc --noprofile -i" : `${line}; echo "rc=$?"; exec cat`;
  const size = ["-x", String(options.columns ?? 80), "-y", String(options.rows ?? 24)];
  const place = options.folder === undefined ? [] : ["-c", options.folder];
  await run("new-session", "-d", "-s", "m", ...size, ...place, ...env, "bash", "-c", shell);
  const screen = () => run("capture-pane", "-p", "-t", "m");
  const coloured = () => run("capture-pane", "-p", "-e", "-N", "-t", "m");
  const records: string[] = [];
  const untilShown = async (look: () => Promise<string>, want: string | RegExp) => {
    for (const until = performance.now() + DEADLINE_MS;;) {
      const text = await look();
      if (typeof want === "string" ? text.includes(want) : want.test(text)) return text;
      if (performance.now() > until) throw new Error(`The terminal never showed ${want}:\n${text}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const terminal: Tmux = {
    keys: async (...keys) => void await run("send-keys", "-t", "m", ...keys),
    type: async (text) => void await run("send-keys", "-t", "m", "-l", text),
    async paste(text) {
      await run("set-buffer", "--", text);
      await run("paste-buffer", "-p", "-t", "m");
    },
    bytes: async (bytes) =>
      void await run("send-keys", "-t", "m", "-H", ...Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"))),
    screen,
    coloured,
    until: (want) => untilShown(screen, want),
    untilColoured: async (want) => void await untilShown(coloured, want),
    async record() {
      const file = await Deno.makeTempFile({ prefix: "orgpods-test-" });
      records.push(file);
      await run("pipe-pane", "-t", "m", `cat > ${quoted(file)}`);
      return () => Deno.readTextFile(file);
    },
    resize: async (columns, rows) =>
      void await run("resize-window", "-t", "m", "-x", String(columns), "-y", String(rows)),
    flag: async (name) => (await run("display", "-p", "-t", "m", `#{${name}}`)).trim() === "1",
    pid: async () => Number((await run("display", "-p", "-t", "m", "#{pane_pid}")).trim()),
    async modes() {
      const tty = (await run("display", "-p", "-t", "m", "#{pane_tty}")).trim();
      const { stdout } = await new Deno.Command("stty", { args: ["-F", tty, "-a"] }).output();
      return new TextDecoder().decode(stdout);
    },
  };
  try {
    if (options.isShell) {
      await terminal.until("ready>");
      await terminal.type(`${line}\n`);
    }
    await use(terminal);
  } finally {
    await tmux(socket, ["kill-server"]);
    for (const file of records) await Deno.remove(file);
  }
}
