/** SFTP sessions of a pod that act as one user of it, kept for a moment like root's. */
import { clearTimeout, setTimeout } from "node:timers";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import { DeadlinePassed, limitCall, orAborted } from "../ssh/deadline.ts";
import type { PodTarget } from "../ssh/dial.ts";
import type { SshPool } from "../ssh/pool.ts";
import { fileError, openSftp, type Sftp } from "../ssh/sftp/mod.ts";
import type { OpenedSftp } from "../ssh/sftp/open.ts";
import { type PodUser, sftpServerAs } from "./as_owner.ts";

/** Short: each holds one of the pod's eight channels, and there may be many users. */
const IDLE_MS = 2 * SECOND;
/** How long a pod may take to close the channel of a session that has ended. */
const CLOSE_MS = 5 * SECOND;
const OPEN_MS = 15 * SECOND;
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

export function createOwnerSessions(pool: Pick<SshPool, "withClient">): OwnerSessions {
  const current = new Map<string, Promise<OpenedSftp>>();

  /** Opens a session that holds its channel until it ends. */
  const open = (target: PodTarget, user: PodUser, forget: () => void): Promise<OpenedSftp> => {
    const opened = Promise.withResolvers<OpenedSftp>();
    const held = pool.withClient(target, async (client, gone) => {
      const limit = limitCall(OPEN_MS, gone);
      try {
        const marker = `sftp-${crypto.randomUUID()}`;
        const command = { line: sftpServerAs(user, marker), marker };
        const options = { signal: limit.signal, gone, idleMs: IDLE_MS, onRetired: forget, command };
        const session = await openSftp(client, options).opened;
        opened.resolve(session);
        await session.session.whenEnded;
        await closedInTime(session.session.closed);
      } finally {
        limit.end();
      }
    }, { deadlineMs: NO_DEADLINE_MS });
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
          if (attempt === ATTEMPTS) throw live.ended;
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

async function closedInTime(closed: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, CLOSE_MS));
  await Promise.race([closed, late]);
  clearTimeout(timer);
}
