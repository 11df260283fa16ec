/** One SFTP channel: requests out, each answer to its request, and an end that every open request hears of. */
import type { Buffer } from "node:buffer";
import { clearTimeout, setTimeout } from "node:timers";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { ClientChannel } from "ssh2";
import { closeChannel } from "../exec.ts";
import { FormatError } from "../format_error.ts";
import { widenWindow } from "../ssh2_window.ts";
import { Reader } from "../wire.ts";
import type { Answer } from "./answers.ts";
import { protocolError, SftpError } from "./error.ts";
import { createPacketReader } from "./packet_reader.ts";
import * as protocol from "./protocol.ts";

/** A retired session ends when nothing was asked for so long; who had it may be between two calls. */
const RETIRED_IDLE_MS = 2_000;
/** With the call that became overdue about as long as a transfer may stall, so that one slow answer cuts no other's off. */
const OVERDUE_MS = 15_000;
/**
 * What the pod may send ahead of us. What is asked for at any time bounds it too, and what was not asked for ends the
 * session.
 */
const WINDOW = 8 * 1024 * 1024;
/** A server that writes more than this to stderr is up to something. */
const MAX_STDERR = 64 * 1024;

export interface Session {
  /** Sends INIT. */
  start(init: Buffer): void;
  /**
   * Sends a request of `request()` or `writeBlock()`. Settles with what `read` makes of the answer, or with the end of
   * the session. A FormatError of `read` ends the session.
   */
  send<T>(packet: Buffer, read: (answer: Answer) => T): Promise<T>;
  /** The answer to INIT: the server's extensions. */
  readonly version: Promise<ReadonlyMap<string, string>>;
  /** Keeps the session from ending as idle until the returned function is called. */
  hold(): () => void;
  /** No new users; the session ends when those it has are done. */
  retire(): void;
  /** An answer is overdue: as `retire`, and the session ends when the pod, with answers due, gives none for `overdueMs`. */
  overdue(): void;
  readonly retired: boolean;
  /** Ends the session; requests without an answer reject with `error`. */
  end(error: SftpError): void;
  readonly ended: SftpError | undefined;
  /** Resolves when `ended` is set. */
  readonly whenEnded: Promise<void>;
  /** Resolves when the channel is closed on both sides. */
  readonly closed: Promise<void>;
  /** Starts the idle time anew. */
  touch(): void;
  readonly pending: number;
  readonly holds: number;
}

interface Pending {
  /** Never throws: reads the answer and settles the request. Returns what ends the session. */
  take(answer: Answer): SftpError | undefined;
  reject(error: SftpError): void;
}

export interface SessionOptions {
  /** Fires when the connection is lost; the reason is the AppError for it. */
  readonly gone: AbortSignal;
  /** The session ends after so long without a request and without a hold. */
  readonly idleMs: number;
  /** See `Session.overdue`; default 15 s. */
  readonly overdueMs?: number;
  /** Called once, when the session takes no new users any more. */
  readonly onRetired?: () => void;
}

/** Speaks SFTP on a channel whose subsystem was just started. */
export function createSession(channel: ClientChannel, options: SessionOptions): Session {
  const { gone, overdueMs = OVERDUE_MS } = options;
  const pending = new Map<number, Pending>();
  const version = Promise.withResolvers<ReadonlyMap<string, string>>();
  // Whoever opens the session awaits it; a session that ends before that has told its end already.
  version.promise.catch(() => {});
  const closed = Promise.withResolvers<void>();
  const whenEnded = Promise.withResolvers<void>();
  let versionCame = false;
  let lastId = 0;
  let holds = 0;
  let retired = false;
  let ended: SftpError | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const touch = () => {
    clearTimeout(idle);
    if (ended || holds > 0 || pending.size > 0) return;
    const finish = () => end(new SftpError("lost", "The SFTP session was closed because it was not used"));
    idle = setTimeout(finish, retired ? Math.min(RETIRED_IDLE_MS, options.idleMs) : options.idleMs);
    idle.unref();
  };

  const retire = () => {
    if (retired) return;
    retired = true;
    options.onRetired?.();
    touch();
  };

  const overdue = () => {
    retire();
    if (ended || pending.size === 0 || patience !== undefined) return;
    const finish = () => end(new SftpError("timeout", "The pod's SFTP server does not answer any more"));
    patience = setTimeout(finish, overdueMs);
    patience.unref();
  };

  /** An answer came: a server that was late is waited for anew as long as it owes others. */
  const answered = () => {
    if (patience === undefined) return;
    clearTimeout(patience);
    patience = undefined;
    if (pending.size > 0) overdue();
  };

  const end = (error: SftpError) => {
    if (ended) return;
    ended = error;
    clearTimeout(idle);
    clearTimeout(patience);
    gone.removeEventListener("abort", lost);
    version.reject(error);
    const open = [...pending.values()];
    pending.clear();
    for (const one of open) one.reject(error);
    retire();
    whenEnded.resolve();
    closeChannel(channel);
  };
  const lost = () => end(new SftpError("lost", "The SSH connection to the pod ended", { cause: gone.reason }));
  const endedByPod = () => end(new SftpError("lost", "The pod's SFTP server ended the session"));

  const takeVersion = (reader: Reader) => {
    if (versionCame) throw new FormatError("it tells its version twice");
    const number = reader.u32();
    if (number !== protocol.VERSION) throw new FormatError(`it speaks version ${number} instead of 3`);
    const extensions = new Map<string, string>();
    while (!reader.atEnd) extensions.set(reader.text("an extension"), latin1(reader.string()));
    versionCame = true;
    version.resolve(extensions);
  };

  const takePacket = (packet: Uint8Array) => {
    if (ended) return;
    // Parts of a plain array are made faster than parts of a Buffer.
    const reader = new Reader(new Uint8Array(packet.buffer, packet.byteOffset + 1, packet.byteLength - 1));
    const type = packet[0]!;
    if (type === protocol.VERSION_ANSWER) return takeVersion(reader);
    if (!versionCame) throw new FormatError("it answers before it told its version");
    const id = reader.u32();
    const request = pending.get(id);
    if (!request) throw new FormatError("it answers a request that was not made or was answered before");
    pending.delete(id);
    const fault = request.take({ type, reader });
    if (fault) return end(fault);
    answered();
    touch();
  };

  const packets = createPacketReader(takePacket);
  const feed = (chunk: Uint8Array) => {
    if (ended) return;
    try {
      packets.feed(chunk);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      end(protocolError(error.message, error));
    }
  };

  let noise = 0;
  channel.on("data", feed);
  widenWindow(channel, WINDOW);
  channel.stderr.on("data", (chunk: Uint8Array) => {
    noise += chunk.length;
    if (noise > MAX_STDERR) end(protocolError(`it writes more than ${MAX_STDERR} bytes of error messages`));
  });
  const broken = (error: Error) => end(new SftpError("lost", "The SFTP channel failed", { cause: error }));
  channel.on("error", broken);
  channel.stderr.on("error", broken);
  channel.on("end", endedByPod);
  channel.on("close", () => {
    endedByPod();
    closed.resolve();
  });
  if (gone.aborted) lost();
  else gone.addEventListener("abort", lost, { once: true });

  return {
    start: (init) => void channel.write(init),
    send(packet, read) {
      return new Promise((resolve, reject) => {
        if (ended) return reject(ended);
        do lastId = (lastId + 1) >>> 0; while (pending.has(lastId));
        packet.writeUInt32BE(lastId, 5);
        clearTimeout(idle);
        pending.set(lastId, {
          reject,
          take(answer) {
            try {
              resolve(read(answer));
              return undefined;
            } catch (error) {
              const fault = error instanceof FormatError ? protocolError(error.message, error) : undefined;
              reject(fault ?? error);
              return fault;
            }
          },
        });
        channel.write(packet);
      });
    },
    version: version.promise,
    hold() {
      holds++;
      clearTimeout(idle);
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        holds--;
        touch();
      };
    },
    retire,
    overdue,
    get retired() {
      return retired;
    },
    end,
    get ended() {
      return ended;
    },
    whenEnded: whenEnded.promise,
    closed: closed.promise,
    touch,
    get pending() {
      return pending.size;
    },
    get holds() {
      return holds;
    },
  };
}

function latin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 80));
}
