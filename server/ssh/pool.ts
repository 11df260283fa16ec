/**
 * SSH connections to pods, shared: one per pod, at most 8 channels on it, the rest wait in order of arrival. Every
 * call settles by its deadline, whatever the pod does.
 */
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Client } from "ssh2";
import { type Clock, SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { describeError, type Log } from "../log.ts";
import { createBackoff } from "./backoff.ts";
import { type Connection, ConnectionRetired, type Lease, openConnection } from "./connection.ts";
import { DeadlinePassed, limitCall, orAborted } from "./deadline.ts";
import { dial, type HostKeyVerifier, type Link, type Login, type PodTarget } from "./dial.ts";
import { dialError, DialFailure } from "./dial_failure.ts";
import { type ExecResult, killCommand, startCommand } from "./exec.ts";
import { keepSftp, type KeptSftp } from "./kept_sftp.ts";
import type { Sftp } from "./sftp/mod.ts";

export type { ExecResult, HostKeyVerifier, PodTarget };

/** How long the second command that ends a first one may take. */
const KILL_MS = 4 * SECOND;
/** A connection can end between two steps of a call that has not begun; so often it is taken to the next one. */
const ATTEMPTS = 3;

export interface PoolOptions {
  readonly verifyHostKey: HostKeyVerifier;
  /**
   * Called after each login: the moment to pin a host key that was seen for the first time. `privateKey` is the one of the
   * target's that was let in.
   */
  readonly onLogin?: (target: PodTarget, fingerprint: string, keyBlob: Uint8Array, privateKey: string) => void;
  /** Decides when a pod that refused us may be tried again. */
  readonly clock: Clock;
  /** Channels per connection, default 8: sshd's MaxSessions is 10. */
  readonly maxChannels?: number;
  /** An unused connection ends after this, default 60 s. */
  readonly idleMs?: number;
  /** Whether the unused connection to a pod stays all the same. */
  readonly isKept?: (podKey: string) => boolean;
  /** An SFTP session without calls and open files ends after this, default 30 s. */
  readonly sftpIdleMs?: number;
  /** Longest time for connect, handshake and login, default 10 s. */
  readonly readyTimeoutMs?: number;
  readonly log: Log;
}

export interface CallOptions {
  /** Milliseconds for the whole call: connecting and waiting for a free channel count. */
  readonly deadlineMs: number;
  /** Gives the call up; it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface ExecOptions extends CallOptions {
  /** Sent whole, then end of file. */
  readonly stdin?: string | Uint8Array;
  /** Limit for stdout and for stderr, each. Default 1 MiB; more is read and thrown away. */
  readonly maxOutputBytes?: number;
  /**
   * Ends the command's process group on the pod when the deadline passes or the call is given up. Default true;
   * needs a POSIX login shell. With false the command lives on until it writes to its closed output.
   */
  readonly killOnDeadline?: boolean;
}

export interface PoolStats {
  /** Open connections, those being made and those that only finish their last calls included. */
  readonly connections: number;
  /** Channels in use. */
  readonly channels: number;
  /** Calls that wait for a free channel. */
  readonly waiting: number;
  /** Pods left alone after a refusal. */
  readonly backingOff: number;
}

/**
 * Every method that takes a target rejects with an `AppError`:
 * - `pod_unreachable`: no login; `details.hint` says why. With `retryAfter` after a refused login or handshake: the
 *   pod is then left alone, 20 s at first, doubled each time, at most 300 s.
 * - `host_key_changed`: the verifier refused the key.
 * - `backend_key_unreadable`: the private key is not one.
 * - `pod_command_failed`: the connection broke, no channel was free or granted, or the deadline passed: it is not
 *   known whether and how the command ended.
 */
export interface SshPool {
  /** Runs a command in root's login shell. Any exit code is a result. */
  exec(target: PodTarget, command: string, options: ExecOptions): Promise<ExecResult>;
  /** A handshake and a login only; a live connection answers at once. */
  connect(target: PodTarget, options: CallOptions): Promise<{ fingerprint: string }>;
  /**
   * The same by a handshake of its own, also when a connection is open: an open one does not show that the pod's host key
   * is another by now.
   */
  handshake(target: PodTarget, options: CallOptions): Promise<{ fingerprint: string }>;
  /**
   * Lends the connection for one channel at a time. `f` must not end the client. Its signal is aborted when the
   * call is over for any other reason; when `f` goes on after that, the connection takes no new calls. Errors of `f`
   * come through as they are.
   */
  withClient<T>(
    target: PodTarget,
    f: (client: Client, signal: AbortSignal) => Promise<T>,
    options: CallOptions,
  ): Promise<T>;
  /**
   * The pod's SFTP session, which all callers share and which holds one channel. Ask for it anew for each operation: it
   * ends by itself when it is not used, and after trouble the next caller gets another one.
   */
  sftp(target: PodTarget, options: CallOptions): Promise<Sftp>;
  /** Ends the pod's connection and the calls on it, and forgets its refusals: it was stopped, or its keys were changed. */
  drop(podKey: string): void;
  /** Ends everything; resolves when all sockets are closed. */
  close(): Promise<void>;
  stats(): PoolStats;
}

/** A connection with the target it was made for. */
interface Entry {
  readonly target: PodTarget;
  readonly connection: Connection;
}

/** What a call holds while it works. */
interface Held {
  readonly client: Client;
  readonly connection: Connection;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** One key in common is enough: while a key is being replaced, the connection of the old one is as good. */
function sameTarget(a: PodTarget, b: PodTarget): boolean {
  const keys = [a.privateKey, a.otherKey];
  return a.startKey === b.startKey && a.host === b.host && a.port === b.port &&
    (keys.includes(b.privateKey) || b.otherKey !== undefined && keys.includes(b.otherKey));
}

export function createPool(options: PoolOptions): SshPool {
  const { verifyHostKey, onLogin, clock, log } = options;
  const { maxChannels = 8, idleMs = 60 * SECOND, sftpIdleMs = 30 * SECOND, readyTimeoutMs = 10 * SECOND } = options;
  const backoff = createBackoff(clock);
  const current = new Map<string, Entry>();
  /** All connections whose socket is not closed yet, with the pod they lead to. */
  const open = new Map<Connection, string>();
  const sessions = new Map<Connection, KeptSftp>();
  const background = new Set<Promise<unknown>>();
  /** Connections that only shake hands. */
  const handshakes = new Set<Link>();
  let closed = false;

  /** The login's outcome in the caller's terms, with the back-off kept. */
  const judged = async (target: PodTarget, link: Link): Promise<Login> => {
    try {
      const login = await link.login;
      backoff.succeeded(target);
      onLogin?.(target, login.fingerprint, login.keyBlob, login.privateKey);
      return login;
    } catch (error) {
      link.destroy();
      if (!(error instanceof DialFailure)) throw error;
      const refusedBefore = backoff.refusedLately(target);
      const retryAfter = error.isRefusal ? backoff.refused(target, error) : undefined;
      if (error.kind !== "ended") {
        log.warn("SSH connection failed", { pod: target.podKey, kind: error.kind, hint: error.hint, retryAfter });
      }
      throw dialError(error, retryAfter, refusedBefore);
    }
  };

  const refuseWhenClosed = () => {
    if (!closed) return;
    throw new AppError("pod_unreachable", "Could not connect to the pod", { hint: "The server is stopping." });
  };

  const refuseDuringBackoff = (target: PodTarget) => {
    const held = backoff.held(target);
    if (held) throw dialError(held.failure, held.retryAfter, true);
  };

  const connectionTo = (target: PodTarget): Connection => {
    refuseWhenClosed();
    const known = current.get(target.podKey);
    if (known && sameTarget(known.target, target)) return known.connection;
    if (known) {
      current.delete(target.podKey);
      known.connection.destroy();
    }
    refuseDuringBackoff(target);
    const link = dial(target, { verifyHostKey, readyTimeoutMs });
    const connection = openConnection(link, judged(target, link), {
      maxChannels,
      idleMs,
      isKept: () => options.isKept?.(target.podKey) === true,
      onRetired: () => {
        if (current.get(target.podKey)?.connection === connection) current.delete(target.podKey);
        sessions.get(connection)?.retire();
      },
    });
    current.set(target.podKey, { target, connection });
    open.set(connection, target.podKey);
    connection.closed.then(() => (open.delete(connection), sessions.delete(connection)));
    return connection;
  };

  const inTime = async (target: PodTarget, login: Promise<Login>, signal: AbortSignal): Promise<Login> => {
    try {
      return await orAborted(login, signal);
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      const hint = `${target.host}:${target.port} did not let us in within this call's ${error.deadlineMs} ms.`;
      throw new AppError("pod_unreachable", "Could not connect to the pod", { cause: error, hint });
    }
  };

  const loggedIn = async (
    target: PodTarget,
    signal: AbortSignal,
  ): Promise<{ connection: Connection; login: Login }> => {
    const connection = connectionTo(target);
    return { connection, login: await inTime(target, connection.ready, signal) };
  };

  /** Runs `step` on the pod's connection, or on its next one when that takes no new calls any more. */
  const onConnection = async <T>(
    target: PodTarget,
    signal: AbortSignal,
    step: (connection: Connection, client: Client) => Promise<T>,
  ): Promise<T> => {
    for (let attempt = 1;; attempt++) {
      const { connection, login } = await loggedIn(target, signal);
      try {
        return await step(connection, login.client);
      } catch (error) {
        if (!(error instanceof ConnectionRetired)) throw error;
        if (attempt < ATTEMPTS) continue;
        const hint = `The connection to ${target.host}:${target.port} ended ${ATTEMPTS} times after the login.`;
        throw new AppError("pod_unreachable", "Could not connect to the pod", { hint });
      }
    }
  };

  /** One call that holds a channel. `work` gives the lease back. */
  const call = async <T>(
    target: PodTarget,
    { deadlineMs, signal }: CallOptions,
    work: (held: Held) => Promise<T>,
  ): Promise<T> => {
    const limit = limitCall(deadlineMs, signal);
    let step = "no channel to the pod was free";
    try {
      return await onConnection(target, limit.signal, async (connection, client) => {
        const lease = await connection.lease(limit.signal);
        step = "the command did not end";
        limit.follow(lease.gone);
        return await work({ client, connection, lease, signal: limit.signal });
      });
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      const hint = `Within this call's ${error.deadlineMs} ms ${step}.`;
      throw new AppError("pod_command_failed", "The command on the pod failed", { cause: error, hint });
    } finally {
      limit.end();
    }
  };

  /** Ends a command that was given up, as far as the pod lets us. */
  const kill = ({ client, connection, lease }: Held, pid: number): Promise<void> => {
    const done = connection.aside(async () => {
      const limit = limitCall(KILL_MS, lease.gone);
      try {
        await killCommand(client, pid, limit.signal);
      } catch (error) {
        log.warn("A command on a pod could not be ended", { pid, error: describeError(error) });
      } finally {
        limit.end();
      }
    });
    background.add(done);
    return done.finally(() => background.delete(done));
  };

  const connect = async (target: PodTarget, { deadlineMs, signal }: CallOptions): Promise<{ fingerprint: string }> => {
    const limit = limitCall(deadlineMs, signal);
    try {
      const { login } = await loggedIn(target, limit.signal);
      return { fingerprint: login.fingerprint };
    } finally {
      limit.end();
    }
  };

  const handshake = async (
    target: PodTarget,
    { deadlineMs, signal }: CallOptions,
  ): Promise<{ fingerprint: string }> => {
    refuseWhenClosed();
    refuseDuringBackoff(target);
    const limit = limitCall(deadlineMs, signal);
    const link = dial(target, { verifyHostKey, readyTimeoutMs });
    handshakes.add(link);
    try {
      const login = await inTime(target, judged(target, link), limit.signal);
      return { fingerprint: login.fingerprint };
    } finally {
      limit.end();
      link.destroy();
      link.closed.then(() => handshakes.delete(link));
    }
  };

  return {
    exec: (target, command, execOptions) =>
      call(target, execOptions, async (held) => {
        const { client, lease, signal } = held;
        const { stdin, maxOutputBytes, killOnDeadline = true } = execOptions;
        const running = startCommand(client, command, { stdin, maxOutputBytes, signal, tellPid: killOnDeadline });
        try {
          return await running.result;
        } finally {
          if (running.mayBeOpen() && !lease.gone.aborted) {
            const pid = running.pid();
            lease.abandon(pid === undefined ? Promise.resolve() : kill(held, pid));
          } else lease.release();
        }
      }),

    connect,

    handshake: (target, options) => {
      const known = current.get(target.podKey);
      return known !== undefined && sameTarget(known.target, target)
        ? handshake(target, options)
        : connect(target, options);
    },

    withClient: (target, f, callOptions) =>
      call(target, callOptions, async ({ client, lease, signal }) => {
        const work = (async () => await f(client, signal))();
        try {
          return await orAborted(work, signal);
        } finally {
          // Given up: what `f` opened may still be open on the pod's side, even when `f` itself has ended.
          if (signal.aborted) lease.abandon(work);
          else lease.release();
        }
      }),

    sftp: async (target, { deadlineMs, signal }) => {
      const limit = limitCall(deadlineMs, signal);
      try {
        return await onConnection(target, limit.signal, async (connection, client) => {
          const kept = sessions.get(connection) ?? keepSftp(connection, client, sftpIdleMs);
          sessions.set(connection, kept);
          return await kept.get(limit.signal);
        });
      } catch (error) {
        if (!(error instanceof DeadlinePassed)) throw error;
        const hint = `Within this call's ${error.deadlineMs} ms no SFTP session was opened.`;
        throw new AppError("pod_command_failed", "The command on the pod failed", { cause: error, hint });
      } finally {
        limit.end();
      }
    },

    drop(podKey) {
      backoff.forget(podKey);
      for (const [connection, key] of open) if (key === podKey) connection.destroy();
    },

    async close() {
      closed = true;
      const ends = [...open.keys(), ...handshakes].map((one) => (one.destroy(), one.closed));
      await Promise.all(ends);
      await Promise.all(background);
    },

    stats() {
      const connections = [...open.keys()];
      const sum = (count: (connection: Connection) => number) => connections.reduce((n, c) => n + count(c), 0);
      return {
        connections: connections.length,
        channels: sum((connection) => connection.channels),
        waiting: sum((connection) => connection.waiting),
        backingOff: backoff.count(),
      };
    },
  };
}
