import { clearTimeout, setTimeout } from "node:timers";
import { timeoutError } from "./call.ts";
import type { SftpError } from "./error.ts";

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
