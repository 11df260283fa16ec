import { fileURLToPath } from "node:url";
import { type Figure } from "./figures.ts";
import { alternate, median } from "./rounds.ts";
import { startServing } from "./serve.ts";
import type { BenchWorld } from "./world.ts";

const ROUNDS = 15;
const GOAL_MS = 150;

/** From the start of `orgpods serve` to its first answer, over what the runtime takes for an empty program. */
export async function benchStart(world: BenchWorld): Promise<Figure[]> {
  const serve = async () => {
    const serving = await startServing(world);
    await serving.stop();
    return serving.firstAnswerMs;
  };
  await serve();
  await runEmpty();
  const runs = await alternate(ROUNDS, { serve, empty: runEmpty });
  const difference = median(runs.serve.map((ms, round) => ms - runs.empty[round]!));
  const fastest = { serve: Math.min(...runs.serve), empty: Math.min(...runs.empty) };
  const common = { unit: "ms", peer: "an empty program" };
  return [
    {
      ...common,
      figure: "start to first answer",
      value: median(runs.serve),
      peerValue: median(runs.empty),
      compared: { how: "difference", value: difference },
      goal: { text: `at most +${GOAL_MS} ms`, met: difference <= GOAL_MS },
      note: `${ROUNDS} rounds, deno run; a data directory with one org and ${world.podIds.length} pods.`,
    },
    {
      ...common,
      figure: "start, fastest round",
      value: fastest.serve,
      peerValue: fastest.empty,
      compared: { how: "difference", value: fastest.serve - fastest.empty },
    },
  ];
}

async function runEmpty(): Promise<number> {
  const program = fileURLToPath(new URL("empty_program.ts", import.meta.url));
  const begun = performance.now();
  const { success } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-check", program] }).output();
  if (!success) throw new Error("The empty program failed");
  return performance.now() - begun;
}
