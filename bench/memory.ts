import { startProgram } from "../tests/support/process.ts";
import { type Figure } from "./figures.ts";
import { residentMegabytes } from "./processes.ts";
import { startServing } from "./serve.ts";
import { type BenchWorld, stop } from "./world.ts";

const GOAL_MB = 90;
const SECONDS = 12;

/**
 * Memory of `orgpods serve` after work: for 12 seconds an officer's list makes it read RunPod once a second, which is what
 * the loop does in 12 minutes while a pod runs. Then it is idle for a moment.
 */
export async function benchMemory(world: BenchWorld): Promise<Figure[]> {
  const serving = await startServing(world);
  const bare = startProgram("bench/bare_me_pods.ts", { args: [world.dir.database, world.org] });
  try {
    await bare.line(/bare on/);
    const url = `http://127.0.0.1:${serving.port}/api/compute/${world.org}/pods`;
    for (let second = 0; second < SECONDS; second++) {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${world.officerToken}` } });
      if (!answer.ok) throw new Error(`The list answered ${answer.status}: ${await answer.text()}`);
      await answer.body?.cancel();
      await new Promise((resolve) => setTimeout(resolve, 1_050));
    }
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const ours = residentMegabytes(serving.pid);
    return [{
      figure: "idle memory (RSS)",
      value: ours,
      unit: "MB",
      peer: "bare handler, unused",
      peerValue: residentMegabytes(bare.pid),
      compared: { how: "value", value: ours },
      goal: { text: `under ${GOAL_MB} MB`, met: ours < GOAL_MB },
      note:
        `one org, ${world.podIds.length} pods, after ${SECONDS} reads of RunPod's list; no pod was dialed since the start.`,
    }];
  } finally {
    await stop(bare);
    await serving.stop();
  }
}
