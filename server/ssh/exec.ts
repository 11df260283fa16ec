/** One command over a live SSH connection, and how to end it when its time is over. */
import { Buffer } from "node:buffer";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Client, ClientChannel } from "ssh2";
import { AppError, shown } from "../errors.ts";

export interface ExecResult {
  /** The exit code, or null when a signal ended the command. */
  readonly exitCode: number | null;
  /** The signal's name with `SIG`, or null. */
  readonly signal: string | null;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** True when stdout or stderr had more than `maxOutputBytes`; the rest was read and thrown away. */
  readonly truncated: boolean;
}

export interface CommandOptions {
  /** Sent whole, then end of file. Scripts and values go here: one argument holds 128 KB, and `env` is refused. */
  readonly stdin?: string | Uint8Array | undefined;
  /** Limit for stdout and for stderr, each. Default 1 MiB. */
  readonly maxOutputBytes?: number | undefined;
  /** Gives the command up; `result` then rejects with the signal's reason. The command itself may live on. */
  readonly signal: AbortSignal;
  /** The command tells its process id first, so that `killCommand` can end it. The login shell must be a POSIX one. */
  readonly tellPid?: boolean | undefined;
}

export interface RunningCommand {
  /**
   * The result of a command that ended in sight. Rejects with `pod_command_failed` when it could not be started or
   * when the channel ended without an exit code and without a signal: then nobody knows how it ended.
   */
  readonly result: Promise<ExecResult>;
  /** The remote process id, leader of its process group, once it was told. */
  pid(): number | undefined;
  /** True while the channel may be open on the pod's side. */
  mayBeOpen(): boolean;
}

const DEFAULT_OUTPUT = 1024 * 1024;
/** Room on stderr for the line with the process id, beyond the caller's limit. */
const PID_LINE = 80;

/**
 * Waits before a refused channel is asked for again. sshd counts a closed session for a moment longer than we do, so
 * under load a channel within MaxSessions can be refused. Nothing has run then, so asking again is safe.
 */
export const OPEN_AGAIN_MS: readonly number[] = [20, 40, 80, 160, 320];

/** Collects at most `limit` bytes. */
function collector(limit: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  let cut = false;
  return {
    push(chunk: Buffer) {
      const room = limit - size;
      if (chunk.length > room) cut = true;
      if (room <= 0) return;
      const part = Buffer.from(chunk.subarray(0, room));
      chunks.push(part);
      size += part.length;
    },
    bytes: () => Buffer.concat(chunks),
    wasCut: () => cut,
  };
}

/** Finds and takes out the line `<marker> <pid>`. The command's shell start-up files may have written before it. */
function takePid(bytes: Buffer, marker: string): { pid: number | undefined; rest: Buffer } {
  const start = bytes.indexOf(`${marker} `);
  const end = start < 0 ? -1 : bytes.indexOf("\n", start);
  if (end < 0) return { pid: undefined, rest: bytes };
  const digits = /^[1-9][0-9]{0,9}$/.exec(bytes.subarray(start + marker.length + 1, end).toString("latin1"));
  return {
    pid: digits ? Number(digits[0]) : undefined,
    rest: Buffer.concat([bytes.subarray(0, start), bytes.subarray(end + 1)]),
  };
}

function commandFailed(hint: string, cause?: unknown): AppError {
  return new AppError("pod_command_failed", "The command on the pod failed", { hint, cause });
}

/** Asks the pod to close a channel, unless the connection has ended and ssh2 says so by throwing. */
export function closeChannel(channel: ClientChannel): void {
  try {
    channel.close();
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("Instance unusable"))) throw error;
  }
}

/** Starts `command` in root's login shell. Nothing is thrown here: what goes wrong is told by `result`. */
export function startCommand(client: Client, command: string, options: CommandOptions): RunningCommand {
  const limit = options.maxOutputBytes ?? DEFAULT_OUTPUT;
  const marker = options.tellPid ? `pid-${crypto.randomUUID()}` : undefined;
  const stdout = collector(limit);
  const stderr = collector(limit + (marker ? PID_LINE : 0));
  const { promise, resolve, reject } = Promise.withResolvers<ExecResult>();
  let channel: ClientChannel | undefined;
  let open = true;
  let settled = false;
  let again: ReturnType<typeof setTimeout> | undefined;

  const settle = (outcome: () => void) => {
    if (settled) return;
    settled = true;
    clearTimeout(again);
    options.signal.removeEventListener("abort", giveUp);
    outcome();
  };
  const giveUp = () => {
    settle(() => reject(options.signal.reason));
    if (channel) closeChannel(channel);
  };

  const finish = (code: number | null | undefined, signal: string | undefined) => {
    if (code === undefined && signal === undefined) {
      return settle(() =>
        reject(commandFailed("The channel ended without an exit code: how the command ended is unknown."))
      );
    }
    const errors = marker ? takePid(stderr.bytes(), marker).rest : stderr.bytes();
    settle(() =>
      resolve({
        exitCode: code ?? null,
        signal: signal === undefined ? null : shown(signal),
        stdout: stdout.bytes(),
        stderr: errors.subarray(0, limit),
        truncated: stdout.wasCut() || stderr.wasCut() || errors.length > limit,
      })
    );
  };

  const attach = (stream: ClientChannel) => {
    channel = stream;
    let code: number | null | undefined;
    let signal: string | undefined;
    let ends = 2;
    const ended = () => {
      if (--ends > 0) return;
      open = false;
      finish(code, signal);
    };
    stream.on("exit", (exitCode: number | null, exitSignal?: string) => {
      code = exitCode;
      signal = exitSignal;
    });
    const fail = (error: Error) => settle(() => reject(commandFailed(shown(error.message), error)));
    stream.on("error", fail);
    stream.stderr.on("error", fail);
    stream.on("data", (chunk: Buffer) => settled || stdout.push(chunk));
    stream.stderr.on("data", (chunk: Buffer) => settled || stderr.push(chunk));
    stream.once("close", ended);
    stream.stderr.once("close", ended);
    if (settled) return closeChannel(stream);
    stream.end(options.stdin === undefined ? undefined : Buffer.from(options.stdin));
  };

  const start = (attempt: number) => {
    const line = marker ? `printf '%s %s\\n' ${marker} "$$" >&2\n${command}` : command;
    try {
      client.exec(line, (error, stream) => {
        if (!error) return attach(stream);
        // Only a refused channel is known to be gone: ssh2 leaves it open when the request for the command is refused.
        const refused = "reason" in error;
        const wait = refused ? OPEN_AGAIN_MS[attempt] : undefined;
        if (wait !== undefined && !settled) {
          again = setTimeout(() => start(attempt + 1), wait);
          return;
        }
        open = !refused;
        const why = refused
          ? "The pod's SSH server opened no further channel (MaxSessions)"
          : "The pod's SSH server did not run the command";
        settle(() => reject(commandFailed(`${why}: ${shown(error.message)}.`, error)));
      });
    } catch (error) {
      settle(() => reject(commandFailed("The SSH connection had ended.", error)));
    }
  };

  if (options.signal.aborted) {
    open = false;
    settle(() => reject(options.signal.reason));
  } else {
    options.signal.addEventListener("abort", giveUp, { once: true });
    start(0);
  }
  return {
    result: promise,
    pid: () => marker === undefined ? undefined : takePid(stderr.bytes(), marker).pid,
    mayBeOpen: () => open,
  };
}

/**
 * Ends the process group of a command by a second one: TERM, half a second, KILL. Neither closing the channel nor
 * SSH's own signal request does that for root on every OpenSSH. sshd makes each command the leader of its session.
 * A group that has ended already is fine.
 */
export async function killCommand(client: Client, pid: number, signal: AbortSignal): Promise<void> {
  const script = `kill -TERM -- -${pid} 2>/dev/null || exit 0; sleep 0.5; kill -KILL -- -${pid} 2>/dev/null; exit 0`;
  await startCommand(client, script, { signal }).result;
}
