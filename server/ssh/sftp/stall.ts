import { clearTimeout, setTimeout } from "node:timers";
import { timeoutError } from "./call.ts";
import type { SftpError } from "./error.ts";
import type { CallOptions, TransferOptions } from "./interface.ts";

const STALL_MS = 30_000;

/** Longest time without an answer during a transfer. */
export function stallTime({ stallMs = STALL_MS }: TransferOptions): number {
  return stallMs;
}

/** For the calls before and after the blocks of a transfer. */
export function callOptions({ stallMs, signal }: TransferOptions): CallOptions {
  return { ...(stallMs === undefined ? {} : { deadlineMs: stallMs }), ...(signal ? { signal } : {}) };
}

/** Watches that a transfer moves. */
export interface StallWatch {
  /** The pod owes an answer from now on, or has just given one and owes another. */
  waiting(): void;
  /** The pod owes nothing. */
  stop(): void;
}

/** Calls `onStall` once when the pod owes an answer for `stallMs` without giving one. */
export function watchStall(stallMs: number, onStall: (error: SftpError) => void): StallWatch {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    waiting() {
      clearTimeout(timer);
      timer = setTimeout(() => onStall(timeoutError(stallMs)), stallMs);
    },
    stop: () => clearTimeout(timer),
  };
}
