import assert from "node:assert/strict";
import { playTerm } from "./term.ts";

/** Plays the term of a seed, or of `ORGPODS_TERM_SEED` when that is set, and fails with the rules that did not hold. */
export async function checkTerm(planned: number): Promise<void> {
  const seed = Number(Deno.env.get("ORGPODS_TERM_SEED") ?? planned);
  const { broken, sessions, kills, spend } = await playTerm(seed);
  console.log(`Seed ${seed}:`, JSON.stringify({ sessions, kills, spend }));
  const told = broken.map(({ sentence, story }) => [sentence, ...story].join("\n    "));
  assert.deepEqual(told, [], `The term of seed ${seed} did not hold; play it again with ORGPODS_TERM_SEED=${seed}`);
  assert.ok((sessions["done"] ?? 0) > 200 && kills > 20, "The term was a real one");
}
