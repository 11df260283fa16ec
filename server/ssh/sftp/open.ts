/** From a live SSH connection to an SFTP session. */
import type { Buffer } from "node:buffer";
import { clearTimeout, setTimeout } from "node:timers";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Client, ClientChannel } from "ssh2";
import { AppError, shown } from "../../errors.ts";
import { orAborted } from "../deadline.ts";
import { closeChannel, OPEN_AGAIN_MS } from "../exec.ts";
import { skipPast } from "../skip_past.ts";
import * as answers from "./answers.ts";
import { call } from "./call.ts";
import { createClient } from "./client.ts";
import { SftpError } from "./error.ts";
import type { Sftp } from "./interface.ts";
import { extended, HEAD, request } from "./packets.ts";
import * as protocol from "./protocol.ts";
import { createSession, type Session } from "./session.ts";

export interface OpenSftpOptions {
  /** Gives the opening up. */
  readonly signal: AbortSignal;
  /** Fires when the connection is lost. */
  readonly gone: AbortSignal;
  /** A session without calls and open handles ends after so long. */
  readonly idleMs: number;
  /** See `Session.overdue`. */
  readonly overdueMs?: number;
  /** Called once, when the session takes no new users any more. */
  readonly onRetired?: () => void;
  /**
   * Runs this instead of the subsystem: a command that writes the line `<marker> <its process id>` and the line `marker`,
   * and becomes an SFTP server.
   */
  readonly command?: { readonly line: string; readonly marker: string };
}

export interface OpenedSftp {
  readonly sftp: Sftp;
  readonly session: Session;
}

export interface SftpOpening {
  /**
   * Rejects with `pod_command_failed` when the pod refuses the channel or has no SFTP, with an `SftpError` when what
   * answers does not speak it, or with the signal's reason.
   */
  readonly opened: Promise<OpenedSftp>;
  /** After a failure: true when the channel may still be open on the pod's side, where it counts (MaxSessions). */
  mayBeOpen(): boolean;
  /** Resolves when the channel is closed on both sides. */
  readonly closed: Promise<void>;
  /** The process id of the command, once it was told. */
  pid(): number | undefined;
}

/** Starts the SFTP subsystem, or the given command, on a channel of its own. Nothing is thrown here. */
export function openSftp(client: Client, options: OpenSftpOptions): SftpOpening {
  const { command } = options;
  const channel = startChannel(client, options.signal, command?.line);
  const closed = Promise.withResolvers<void>();
  let pid: number | undefined;
  const open = async (): Promise<OpenedSftp> => {
    const stream = await channel.opened;
    stream.once("close", () => closed.resolve());
    if (command) pid = pidIn(await pastNoise(stream, command.marker, options.signal), command.marker);
    const session = createSession(stream, options);
    stream.resume();
    try {
      // INIT has the version in the place of an id.
      const init = request(protocol.INIT).subarray(0, HEAD);
      init.writeUInt32BE(protocol.VERSION, HEAD - 4);
      session.start(init);
      const extensions = await orAborted(session.version, options.signal);
      const limits = extensions.has("limits@openssh.com")
        ? await orAborted(call(session, extended("limits@openssh.com"), answers.blockLimits), options.signal)
        : { read: protocol.SAFE_BLOCK, write: protocol.SAFE_BLOCK };
      session.touch();
      return { sftp: createClient(session, extensions, limits), session };
    } catch (error) {
      session.end(error instanceof SftpError ? error : new SftpError("lost", "The SFTP session was not opened"));
      throw error;
    }
  };
  return { opened: open(), mayBeOpen: channel.mayBeOpen, closed: closed.promise, pid: () => pid };
}

function refused(sentence: string, cause: unknown): AppError {
  return new AppError("pod_command_failed", "The command on the pod failed", { cause, hint: sentence });
}

async function pastNoise(stream: ClientChannel, marker: string, signal: AbortSignal): Promise<Buffer> {
  try {
    return await skipPast(stream, marker, signal);
  } catch (error) {
    closeChannel(stream);
    throw error;
  }
}

function pidIn(noise: Buffer, marker: string): number | undefined {
  const digits = new RegExp(`${marker} ([1-9][0-9]{0,9})\\n$`).exec(noise.toString("latin1"))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * `client.subsys` gives the bare channel; `client.sftp` would put ssh2's own SFTP layer on it. There is no fallback to
 * running a server program: where sshd offers no SFTP, its path is unknown and may be a member's.
 */
function startChannel(client: Client, signal: AbortSignal, command: string | undefined) {
  const { promise, resolve, reject } = Promise.withResolvers<ClientChannel>();
  let open = true;
  let again: ReturnType<typeof setTimeout> | undefined;
  let settled = false;
  const settle = (outcome: () => void) => {
    settled = true;
    clearTimeout(again);
    signal.removeEventListener("abort", giveUp);
    outcome();
  };
  const giveUp = () => settle(() => reject(signal.reason));

  const start = (attempt: number) => {
    try {
      const started = (error: Error | undefined, channel: ClientChannel) => {
        if (!error) return settled ? closeChannel(channel) : settle(() => resolve(channel));
        // ssh2 leaves a channel open whose subsystem was refused; a refused channel is gone.
        const noChannel = "reason" in error;
        const wait = noChannel ? OPEN_AGAIN_MS[attempt] : undefined;
        if (settled) return;
        if (wait !== undefined) {
          again = setTimeout(() => start(attempt + 1), wait);
          return;
        }
        open = !noChannel;
        const why = noChannel
          ? "The pod's SSH server opened no further channel (MaxSessions)"
          : "The pod's SSH server offers no SFTP";
        settle(() => reject(refused(`${why}: ${shown(error.message)}.`, error)));
      };
      if (command === undefined) client.subsys("sftp", started);
      else client.exec(command, started);
    } catch (error) {
      settle(() => reject(refused("The SSH connection had ended.", error)));
    }
  };
  if (signal.aborted) {
    open = false;
    giveUp();
  } else {
    signal.addEventListener("abort", giveUp, { once: true });
    start(0);
  }
  return { opened: promise, mayBeOpen: () => open };
}
