import { SECOND } from "../../server/clock.ts";
import { Refusal } from "../client/refusal.ts";
import type { Shell } from "../commands/shell.ts";

/** Milliseconds until it is said that one waits, and until nobody waits any more. */
export interface FirstWait {
  readonly sayMs: number;
  readonly mostMs: number;
}

const WAIT: FirstWait = { sayMs: SECOND, mostMs: 30 * SECOND };

/**
 * Waits for a server before there is a screen that could show it. Throws `Refusal` when it takes too long; what still comes
 * then is dropped.
 */
export async function firstAnswer<T>(
  shell: Pick<Shell, "say">,
  server: string,
  work: Promise<T>,
  { sayMs, mostMs }: FirstWait = WAIT,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const say = setTimeout(() => shell.say(`Waiting for ${server} to answer; Ctrl-C gives up.`).catch(reject), sayMs);
  const giveUp = setTimeout(
    () => reject(new Refusal(`${server} did not answer within ${mostMs / SECOND} s`, 6)),
    mostMs,
  );
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(say);
    clearTimeout(giveUp);
  }
}
