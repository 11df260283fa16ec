/** Commands on a pod for the file manager: short ones to their end, long ones as a stream. */
import { Buffer } from "node:buffer";
import { clearTimeout, setTimeout } from "node:timers";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Client, ClientChannel } from "ssh2";
import { AppError, shown } from "../errors.ts";
import { limitCall, orAborted } from "../ssh/deadline.ts";
import type { PodTarget } from "../ssh/dial.ts";
import { closeChannel } from "../ssh/exec.ts";
import type { SshPool } from "../ssh/pool.ts";
import { skipPast } from "../ssh/skip_past.ts";
import { type PodUser, scriptAs } from "./as_owner.ts";

/** A fixed command, as whom, and what it reads from its standard input (paths go there, never into the command). */
export interface CommandAs {
  readonly user: PodUser | null;
  readonly command: string;
  readonly stdin: Uint8Array;
}

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_ERRORS = 300;
/** Of a stream's errors so much is kept: login scripts may have written before the command. */
const MAX_STDERR = 64 * 1024;
/** A stream lives as long as it moves. */
const NO_DEADLINE_MS = 2 ** 31 - 1;

function failed(hint: string): AppError {
  return new AppError("pod_command_failed", "The command on the pod failed", { hint });
}

/** NUL-ended texts for `xargs -0`. */
export function nulEnded(...texts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(texts.flatMap((text) => [text, Uint8Array.of(0)])));
}

/** Runs a command to its end. Rejects with `pod_command_failed` when it is not known how it ended. */
export async function runAs(
  pool: Pick<SshPool, "exec">,
  target: PodTarget,
  { user, command, stdin }: CommandAs,
  deadlineMs: number,
): Promise<CommandResult> {
  const marker = `run-${crypto.randomUUID()}`;
  const result = await pool.exec(target, scriptAs(user, command, marker), { deadlineMs, stdin });
  if (result.exitCode === null) throw failed(`The signal ${result.signal} ended the command on the pod.`);
  const text = (bytes: Uint8Array) => after(marker, new TextDecoder().decode(bytes));
  return { exitCode: result.exitCode, stdout: text(result.stdout), stderr: text(result.stderr) };
}

/** What the command itself wrote: what comes after the line that begins it. */
function after(marker: string, text: string): string {
  const at = text.indexOf(`${marker}\n`);
  return at < 0 ? text : text.slice(at + marker.length + 1);
}

/** The first 300 characters of a command's errors, fit to be shown; the contract's sentence where it said nothing. */
export function commandFailure(stderr: string): AppError {
  const said = Array.from(stderr.trim().slice(0, MAX_ERRORS), (character) => shown(character)).join("");
  return new AppError("command_failed", said || "The command failed");
}

/**
 * Starts a command and gives its output as it comes, as fast as it is taken. Rejects with `command_failed` when it ends
 * with an error before it has written anything; later the stream fails with that. The stream fails with
 * `pod_command_failed` when the connection breaks, or when nothing came for `stallMs` although it was waited for.
 */
export async function streamAs(
  pool: Pick<SshPool, "withClient">,
  target: PodTarget,
  { user, command, stdin }: CommandAs,
  stallMs: number,
): Promise<ReadableStream<Uint8Array>> {
  const started = Promise.withResolvers<ReadableStream<Uint8Array>>();
  const held = pool.withClient(target, async (client, gone) => {
    const limit = limitCall(stallMs, gone);
    let channel: ClientChannel | undefined;
    try {
      const marker = `run-${crypto.randomUUID()}`;
      channel = await orAborted(openChannel(client, scriptAs(user, command, marker)), limit.signal);
      const output = watchOutput(channel, gone, marker, stallMs);
      channel.end(Buffer.from(stdin));
      await skipPast(channel, marker, limit.signal);
      limit.end();
      started.resolve(await output.begin());
      await output.over;
    } finally {
      limit.end();
      if (channel) closeChannel(channel);
    }
  }, { deadlineMs: NO_DEADLINE_MS });
  held.catch((error) => started.reject(error));
  return await started.promise;
}

function openChannel(client: Client, line: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(line, (error, channel) => {
      if (error) reject(failed(`The pod's SSH server did not run the command: ${shown(error.message)}.`));
      else resolve(channel);
    });
  });
}

/** A channel's output as a stream. `over` resolves when the stream has ended, failed or been cancelled. */
function watchOutput(channel: ClientChannel, gone: AbortSignal, marker: string, stallMs: number) {
  const over = Promise.withResolvers<void>();
  const exit = Promise.withResolvers<number | null>();
  let stderr = "";
  let exitCode: number | null = null;
  channel.stderr.on("data", (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR) stderr += chunk.toString("utf8");
  });
  channel.on("exit", (code: number | null) => (exitCode = code));
  channel.on("close", () => exit.resolve(exitCode));
  // A broken channel closes too, without an exit code.
  channel.on("error", () => {});
  channel.stderr.on("error", () => {});

  const chunks = channel[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const brokenOff = () => failed("The channel ended without an exit code: how the command ended is unknown.");

  /** The next piece, or undefined when the command has ended well. */
  const next = async (): Promise<Buffer | undefined> => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(failed(`The command on the pod wrote nothing for ${stallMs} ms.`)), stallMs);
    });
    try {
      const { value, done } = await Promise.race([orAborted(chunks.next(), gone), late]);
      if (!done) return value;
      const code = await Promise.race([orAborted(exit.promise, gone), late]);
      if (code === null) throw brokenOff();
      if (code !== 0) throw commandFailure(after(marker, stderr));
      return undefined;
    } catch (error) {
      throw error instanceof AppError ? error : brokenOff();
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    over: over.promise,
    /** Waits for the first piece or the end. */
    async begin(): Promise<ReadableStream<Uint8Array>> {
      let first: Promise<Buffer | undefined> | undefined = Promise.resolve(await next());
      return new ReadableStream<Uint8Array>({
        async pull(controller) {
          try {
            const piece = await (first ?? next());
            first = undefined;
            if (piece !== undefined) return controller.enqueue(piece);
            controller.close();
            over.resolve();
          } catch (error) {
            over.resolve();
            throw error;
          }
        },
        cancel: () => over.resolve(),
      }, { highWaterMark: 0 });
    },
  };
}
