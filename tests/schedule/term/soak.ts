/**
 * Plays many terms, one after the other: `deno task soak` (20 seeds), or one with `ORGPODS_TERM_SEED=7 deno task soak`.
 * Prints each seed with its figures and, for each rule that did not hold, the story of the pod.
 */
import { playTerm } from "./term.ts";

const SEEDS = 20;
const only = Deno.env.get("ORGPODS_TERM_SEED");
const seeds = only === undefined ? Array.from({ length: SEEDS }, (_, index) => index + 1) : [Number(only)];

let failures = 0;
for (const seed of seeds) {
  const { broken, turns, kills, sessions, spend } = await playTerm(seed);
  console.log(JSON.stringify({ seed, ok: broken.length === 0, turns, kills, sessions, spend }));
  for (const { sentence, story } of broken) console.log([sentence, ...story].join("\n    "));
  if (broken.length > 0) failures++;
}
console.log(failures === 0 ? "All terms held" : `${failures} of ${seeds.length} terms did not hold`);
Deno.exit(failures === 0 ? 0 : 1);
