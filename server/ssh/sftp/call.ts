import type { Buffer } from "node:buffer";
import { clearTimeout, setTimeout } from "node:timers";
import type { Answer } from "./answers.ts";
import { SftpError } from "./error.ts";
import type { CallOptions } from "./interface.ts";
import type { Session } from "./session.ts";

const DEADLINE_MS = 15_000;

/** The error of a call whose time is over. */
export function timeoutError(ms: number): SftpError {
  return new SftpError("timeout", `The pod's SFTP server did not answer within ${Math.round(ms)} ms`);
}

/**
 * One request with a deadline and a signal. The time of a call that was given up runs on: when the answer is overdue the
 * session takes no new users, because its server hangs. `undo` gets an answer that nobody waits for any more.
 */
export function call<T>(
  session: Session,
  packet: Buffer,
  read: (answer: Answer) => T,
  options: CallOptions = {},
  undo?: (late: T) => void,
): Promise<T> {
  const { deadlineMs = DEADLINE_MS, signal } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    let waited = true;
    const over = () => {
      waited = false;
      signal?.removeEventListener("abort", giveUp);
    };
    const giveUp = () => (over(), reject(signal?.reason));
    const timer = setTimeout(() => {
      over();
      reject(timeoutError(deadlineMs));
      session.overdue();
    }, deadlineMs);
    signal?.addEventListener("abort", giveUp, { once: true });
    session.send(packet, read).then((value) => {
      clearTimeout(timer);
      if (!waited) return undo?.(value);
      over();
      resolve(value);
    }, (error) => {
      clearTimeout(timer);
      over();
      reject(error);
    });
  });
}
