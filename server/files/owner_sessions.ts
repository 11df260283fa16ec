/** SFTP sessions of a pod that act as one user of it, kept for a moment like root's. */
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { DeadlinePassed, limitCall, orAborted } from "../ssh/deadline.ts";
import type { PodTarget } from "../ssh/dial.ts";
import type { SshPool } from "../ssh/pool.ts";
import { fileError, openSftp, type Sftp, SftpError } from "../ssh/sftp/mod.ts";
import type { OpenedSftp, SftpOpening } from "../ssh/sftp/open.ts";
import { type PodUser, sftpServerAs } from "./as_owner.ts";
import { createPlaces } from "./places.ts";

/** Of the pod's eight channels: the rest is for root's session and for commands, whatever members do to their servers. */
const MOST_CHANNELS = 3;
/** Short: each holds a channel, and there may be many users. */
const IDLE_MS = 2 * SECOND;
/** A user can stop their own SFTP server, which then answers nothing and never ends by itself. */
const OVERDUE_MS = 2 * SECOND;
/** How long a pod may take to close the channel of a session that has ended. */
const CLOSE_MS = 2 * SECOND;
const KILL_MS = 5 * SECOND;
const OPEN_MS = 15 * SECOND;
/** A session that was just found may have ended since. */
const ATTEMPTS = 3;
/** A session lasts as long as it is used, which a long transfer does. */
const NO_DEADLINE_MS = 2 ** 31 - 1;

export interface OwnerSessions {
  /**
   * The session of a user, shared by all who ask. Rejects with the AppErrors of the pool, with `pod_command_failed` where
   * the pod cannot run an SFTP server for the user, or with the signal's reason.
   */
  sftp(target: PodTarget, user: PodUser, options: { deadlineMs: number; signal?: AbortSignal }): Promise<Sftp>;
}

export function createOwnerSessions(pool: Pick<SshPool, "withClient" | "exec">): OwnerSessions {
  const current = new Map<string, Promise<OpenedSftp>>();
  const places = createPlaces(MOST_CHANNELS);

  /** True when the channel of an ended session is closed on the pod's side too, if need be by the end of its server. */
  const isGivenBack = async (target: PodTarget, opening: SftpOpening, gone: AbortSignal): Promise<boolean> => {
    if (await closesInTime(opening.closed, gone)) return true;
    const pid = opening.pid();
    if (pid === undefined || gone.aborted) return false;
    try {
      // Nothing else ends a stopped process.
      await pool.exec(target, `kill -KILL ${pid}`, { deadlineMs: KILL_MS, signal: gone });
    } catch (error) {
      if (!(error instanceof AppError) && error !== gone.reason) throw error;
    }
    return await closesInTime(opening.closed, gone);
  };

  /** Opens a session that holds its channel until it ends. */
  const open = (target: PodTarget, user: PodUser, forget: () => void): Promise<OpenedSftp> => {
    const opened = Promise.withResolvers<OpenedSftp>();
    const stuck = new AbortController();
    const work: Parameters<SshPool["withClient"]>[1] = async (client, gone) => {
      const limit = limitCall(OPEN_MS, gone);
      const marker = `sftp-${crypto.randomUUID()}`;
      const command = { line: sftpServerAs(user, marker), marker };
      const options = { gone, idleMs: IDLE_MS, overdueMs: OVERDUE_MS, onRetired: forget, command };
      const opening = openSftp(client, { ...options, signal: limit.signal });
      try {
        const session = await opening.opened.finally(limit.end);
        opened.resolve(session);
        await session.session.whenEnded;
      } catch (error) {
        opened.reject(error);
      }
      if (!opening.mayBeOpen() || await isGivenBack(target, opening, gone)) return;
      // The connection must take no new calls, because the channel still counts on it.
      stuck.abort(new AppError("pod_command_failed", "The command on the pod failed"));
    };
    const held = places.take(
      target.podKey,
      () => pool.withClient(target, work, { deadlineMs: NO_DEADLINE_MS, signal: stuck.signal }),
    );
    held.catch((error) => opened.reject(error));
    return opened.promise;
  };

  const session = (target: PodTarget, user: PodUser): Promise<OpenedSftp> => {
    const { podKey, startKey, host, port } = target;
    const key = [podKey, startKey, host, port, user.uid, user.gid].join(" ");
    const known = current.get(key);
    if (known !== undefined) return known;
    const forget = () => {
      if (current.get(key) === opening) current.delete(key);
    };
    const opening: Promise<OpenedSftp> = open(target, user, forget);
    current.set(key, opening);
    opening.catch(forget);
    return opening;
  };

  return {
    async sftp(target, user, options) {
      const limit = limitCall(options.deadlineMs, options.signal);
      try {
        for (let attempt = 1;; attempt++) {
          const { sftp, session: live } = await orAborted(session(target, user), limit.signal);
          if (live.ended === undefined && !live.retired) {
            live.touch();
            return sftp;
          }
          if (attempt === ATTEMPTS) throw live.ended ?? new SftpError("lost", "The SFTP session takes no new calls");
        }
      } catch (error) {
        if (!(error instanceof DeadlinePassed)) throw fileError(error);
        const hint = `Within ${error.deadlineMs} ms no SFTP session of the user ${user.uid} was opened.`;
        throw new AppError("pod_command_failed", "The command on the pod failed", { cause: error, hint });
      } finally {
        limit.end();
      }
    },
  };
}

/** Whether the channel closes, or its connection ends, before its time is over. */
async function closesInTime(closed: Promise<void>, gone: AbortSignal): Promise<boolean> {
  const limit = limitCall(CLOSE_MS, gone);
  try {
    await orAborted(closed, limit.signal);
    return true;
  } catch (error) {
    if (!(error instanceof DeadlinePassed) && error !== gone.reason) throw error;
    return false;
  } finally {
    limit.end();
  }
}
