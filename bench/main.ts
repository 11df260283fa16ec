/**
 * The figures of the README, each measured beside its peer in the same run: `deno task bench [--json] [name …]`.
 * Exit code 0 whether goals are met or not.
 */
import type { Figure } from "./figures.ts";
import { table } from "./figures.ts";
import { benchAdmin } from "./admin.ts";
import { benchConnect } from "./connect.ts";
import { benchKrl } from "./krl.ts";
import { benchManyPods } from "./many_pods.ts";
import { benchFiles } from "./files.ts";
import { benchMemory } from "./memory.ts";
import { benchMePods } from "./me_pods.ts";
import { benchPresence } from "./presence.ts";
import { benchRemoval } from "./removal.ts";
import { benchStart } from "./start.ts";
import { type BenchWorld, createBenchWorld } from "./world.ts";

const BENCHES: Readonly<Record<string, (world: BenchWorld) => Promise<Figure[]>>> = {
  "me-pods": benchMePods,
  connect: benchConnect,
  start: benchStart,
  memory: benchMemory,
  "many-pods": benchManyPods,
  files: benchFiles,
  krl: benchKrl,
  presence: benchPresence,
  removal: benchRemoval,
  admin: benchAdmin,
};

async function main(args: readonly string[]): Promise<number> {
  const wanted = args.filter((arg) => arg !== "--json");
  const names = wanted.length === 0 ? Object.keys(BENCHES) : wanted;
  const unknown = names.find((name) => BENCHES[name] === undefined);
  if (unknown !== undefined) {
    console.error(`There is no bench ${unknown}; there are ${Object.keys(BENCHES).join(", ")}`);
    return 2;
  }
  console.error("Setting up …");
  const world = await createBenchWorld();
  const figures: Figure[] = [];
  try {
    for (const name of names) {
      console.error(`Measuring ${name} …`);
      figures.push(...await BENCHES[name]!(world));
    }
  } finally {
    await world.close();
  }
  const machine = { deno: Deno.version.deno, cores: navigator.hardwareConcurrency, pods: world.pods };
  if (args.includes("--json")) console.log(JSON.stringify({ machine, figures }, null, 2));
  else console.log(`Deno ${machine.deno}, ${machine.cores} cores. ${machine.pods}\n\n${table(figures)}`);
  return 0;
}

Deno.exit(await main(Deno.args));
