/** One session of an in-process pod: a command or a shell with its streams, signals and exit status. */
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { ServerChannel, Session } from "ssh2";
import { interpretCommand, type PodCommand } from "./pod_command.ts";
import { isGone } from "./process_gone.ts";
import { createTerminalLines, withCarriageReturns } from "./terminal_lines.ts";

/** How commands of one pod are run. */
export interface Runner {
  /** The pod's volume, where commands begin. */
  readonly volume: string;
  environmentFor(command: PodCommand): Record<string, string>;
  /** The account to run as, when the program is root. */
  readonly account: { readonly uid: number; readonly gid: number } | undefined;
}

/** In characters; Linux takes 128 KB, and a character may be four bytes. */
const MAX_COMMAND = 32_000;

/**
 * Goes to the command's folder and becomes the command. The shell makes the folders, not this program: it has no more
 * rights than the command, so a link put in their place leads nowhere new.
 */
const ENTER = `mkdir -p shared users || exit 1
if [ -n "$1" ]; then (umask 077 && mkdir -p "$1") && cd "$1" || exit 1; fi
HOME=$PWD
export HOME
shift
exec /bin/sh "$@"`;

type Start = { accept: () => ServerChannel; requested: string | undefined };

/** Answers the requests of a session. A terminal is imitated; SFTP and forwarding are not there and get refused. */
export function serveSession(session: Session, forced: string | undefined, runner: Runner): void {
  let terminal: string | undefined;
  let child: ChildProcess | undefined;
  session.on("pty", (accept, _reject, info) => {
    terminal = (info as { term?: string }).term ?? "dumb";
    accept?.();
  });
  session.on("window-change", (accept) => accept?.());
  session.on("signal", (accept, _reject, info) => {
    if (child) signalGroup(child, `SIG${info.name}`);
    accept?.();
  });
  const begin = ({ accept, requested }: Start) => {
    const command = interpretCommand(forced, requested);
    child = run(command, runner, terminal);
    connect(accept(), child, command.command === undefined ? terminal : undefined);
  };
  session.on("exec", (accept, reject, info) => {
    // What no process can be given as an argument.
    if (info.command.includes("\0") || info.command.length > MAX_COMMAND) reject?.();
    else begin({ accept, requested: info.command });
  });
  session.on("shell", (accept) => begin({ accept, requested: undefined }));
}

function run(command: PodCommand, runner: Runner, terminal: string | undefined): ChildProcess {
  const rest = command.command === undefined ? ["-i"] : ["-c", command.command];
  return spawn("/bin/sh", ["-c", ENTER, "enter", command.folder, ...rest], {
    cwd: runner.volume,
    env: { ...runner.environmentFor(command), ...(terminal === undefined ? {} : { TERM: terminal }) },
    // A process group of its own, so that all of a command can be signalled.
    detached: true,
    stdio: "pipe",
    ...runner.account,
  });
}

function connect(channel: ServerChannel, child: ChildProcess, terminal: string | undefined): void {
  const { stdin, stdout, stderr } = child;
  if (!stdin || !stdout || !stderr) throw new Error("The command has no streams");
  // The command may end, or the client go, while the other side still writes.
  for (const stream of [stdin, channel, channel.stderr]) stream.on("error", expectHangUp);
  if (terminal === undefined) {
    channel.pipe(stdin);
    stdout.pipe(channel, { end: false });
    stderr.pipe(channel.stderr, { end: false });
  } else {
    const take = createTerminalLines({
      echo: (text) => channel.write(text),
      line: (text) => stdin.write(text),
      interrupt: () => signalGroup(child, "SIGINT"),
      end: () => stdin.end(),
    });
    channel.on("data", (bytes: Buffer) => take(bytes));
    channel.on("end", () => stdin.end());
    for (const output of [stdout, stderr]) {
      output.on("data", (bytes: Buffer) => channel.write(withCarriageReturns(bytes)));
    }
  }
  channel.on("close", () => signalGroup(child, "SIGHUP"));
  child.on("error", (error) => {
    channel.stderr.write(`The command could not be started: ${error.message}\n`);
    channel.exit(126);
    channel.end();
  });
  child.on("close", (code, signal) => {
    if (signal) channel.exit(signal.replace(/^SIG/, ""));
    else channel.exit(code ?? 255);
    channel.end();
  });
}

function expectHangUp(error: Error): void {
  const code = "code" in error ? String(error.code) : "";
  if (!/^(?:EPIPE|ECONNRESET|ERR_STREAM_(?:DESTROYED|WRITE_AFTER_END|PREMATURE_CLOSE))$/.test(code)) throw error;
}

function signalGroup(child: ChildProcess, signal: string): void {
  if (child.pid === undefined) return;
  try {
    Deno.kill(-child.pid, signal as Deno.Signal);
  } catch (error) {
    if (isGone(error)) return;
    // A name that a client made up.
    if (error instanceof TypeError && /signal/i.test(error.message)) return;
    throw error;
  }
}
