import type { At } from "./screen.ts";

/** Whether a screen is open still: after a wait, what was asked for there may not be wanted any more. */
export function isOpen<P, S>(at: At<P, S>): boolean {
  let isThere = false;
  // Of a screen that was closed nothing is changed.
  at.set((state) => {
    isThere = true;
    return state;
  });
  return isThere;
}
