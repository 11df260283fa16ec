import type { Clock } from "../../clock.ts";
import type { State } from "./state.ts";

/**
 * The true state and the one that callers see. They differ while a change was made with a delay, as Discord's data is
 * eventually consistent.
 */
export interface Timeline {
  /** The state that the API answers from. */
  visible(): State;
  /** The state with all changes, also those not visible yet. */
  truth(): State;
  /** The state to write a change into; it shows after `delayMs`, never before an earlier change does. */
  edit(delayMs: number): State;
}

export function createTimeline(clock: Clock, botUser: State["users"]): Timeline {
  const versions: { from: number; state: State }[] = [
    { from: -Infinity, state: { intent: false, users: botUser, guilds: new Map() } },
  ];

  const newest = () => versions[versions.length - 1]!;

  function settle(): void {
    while (versions.length > 1 && versions[1]!.from <= clock.now()) versions.shift();
  }

  return {
    visible() {
      settle();
      return versions[0]!.state;
    },
    truth: () => newest().state,
    edit(delayMs) {
      settle();
      const from = Math.max(clock.now() + delayMs, newest().from);
      if (delayMs > 0 && from > newest().from) versions.push({ from, state: structuredClone(newest().state) });
      return newest().state;
    },
  };
}
