/** The one SFTP session of a connection: opened when it is first asked for, shared, closed when it is idle. */
import { clearTimeout, setTimeout } from "node:timers";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Client } from "ssh2";
import { AppError } from "../errors.ts";
import { type Connection, ConnectionRetired, type Lease } from "./connection.ts";
import { DeadlinePassed, limitCall, orAborted } from "./deadline.ts";
import { fileError, openSftp, type Sftp } from "./sftp/mod.ts";
import type { OpenedSftp } from "./sftp/open.ts";

/** Longest time for a channel, the subsystem and its version together. */
const OPEN_MS = 15_000;
/** How long the pod may take to close the channel of a session that has ended. */
const CLOSE_MS = 5_000;

export interface KeptSftp {
  /** Rejects with the signal's reason, `ConnectionRetired` or an AppError. */
  get(signal: AbortSignal): Promise<Sftp>;
  /** The connection takes no new calls: the session ends when those who have it are done. */
  retire(): void;
}

export function keepSftp(connection: Connection, client: Client, idleMs: number): KeptSftp {
  let current: Promise<OpenedSftp> | undefined;
  let retireCurrent = () => {};

  /** Gives the channel back once the pod has closed it too. */
  const giveBack = (lease: Lease, closed: Promise<void>) => {
    const overdue = setTimeout(() => lease.abandon(Promise.resolve()), CLOSE_MS);
    overdue.unref();
    const done = () => {
      clearTimeout(overdue);
      lease.gone.removeEventListener("abort", done);
      lease.release();
    };
    closed.then(done);
    if (lease.gone.aborted) done();
    else lease.gone.addEventListener("abort", done, { once: true });
  };

  const open = async (): Promise<OpenedSftp> => {
    const limit = limitCall(OPEN_MS);
    try {
      const lease = await connection.lease(limit.signal);
      limit.follow(lease.gone);
      const { signal } = limit;
      const opening = openSftp(client, { signal, gone: lease.gone, idleMs, onRetired: () => (current = undefined) });
      try {
        const opened = await opening.opened;
        opened.session.whenEnded.then(() => giveBack(lease, opened.session.closed));
        return opened;
      } catch (error) {
        if (opening.mayBeOpen() && !lease.gone.aborted) lease.abandon(Promise.resolve());
        else lease.release();
        throw error;
      }
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw fileError(error);
      const hint = `Within ${OPEN_MS} ms no SFTP session was opened.`;
      throw new AppError("pod_command_failed", "The command on the pod failed", { cause: error, hint });
    } finally {
      limit.end();
    }
  };

  const begin = (): Promise<OpenedSftp> => {
    const opening = open();
    let retired = false;
    retireCurrent = () => {
      retired = true;
      opening.then(({ session }) => session.retire(), () => {});
    };
    const forget = () => {
      if (current === opening) current = undefined;
    };
    opening.then(() => retired && forget(), forget);
    return opening;
  };

  return {
    async get(signal) {
      signal.throwIfAborted();
      const opening = current ??= begin();
      const { sftp, session } = await orAborted(opening, signal);
      if (session.ended) throw new ConnectionRetired();
      session.touch();
      return sftp;
    },
    retire: () => retireCurrent(),
  };
}
