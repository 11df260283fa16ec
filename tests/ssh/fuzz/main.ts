/**
 * The long fuzz run: `deno task fuzz --cases N --seed S` gives N inputs of each kind to our parsers and a sample of them
 * to ssh-keygen. Prints what was done and each finding with the seed that makes it again; exit 1 when there is one.
 */
import { parseArgs } from "node:util";
import { withDir } from "../keygen.ts";
import { fuzz } from "./run.ts";

const { values } = parseArgs({
  options: { cases: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
});
const [cases, seed] = [values.cases, values.seed].map((text) => {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  console.error(`--cases and --seed must be whole numbers: ${text}`);
  Deno.exit(2);
}) as [number, number];

let found = 0;
await withDir((dir) => {
  for (const { kind, accepted, compared, findings, ...tally } of fuzz({ cases, seed, dir })) {
    console.log(`${kind}: ${tally.cases} cases, ${accepted} accepted, ${compared} judged by ssh-keygen too`);
    for (const { seed, input, what } of findings) console.log(`\n${kind}, --seed ${seed} --cases 1: ${what}\n${input}`);
    found += findings.length;
  }
});
console.log(`${found} findings, ${Math.round(Deno.memoryUsage().rss / 1e6)} MB of memory in the end`);
if (found > 0) Deno.exitCode = 1;
