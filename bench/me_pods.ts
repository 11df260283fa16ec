import { startProgram } from "../tests/support/process.ts";
import { type Figure, ratioFigure } from "./figures.ts";
import { load, type LoadPlan, type LoadResult, requestText } from "./load.ts";
import { alternate, median, medianRatio } from "./rounds.ts";
import { type BenchWorld, stop } from "./world.ts";

const ROUNDS = 7;

/** `GET /me/pods` of the real server against a bare handler that makes the same reads of the same file. */
export async function benchMePods(world: BenchWorld): Promise<Figure[]> {
  const path = `/api/compute/${world.org}/me/pods`;
  const server = await world.startServer();
  const bare = startProgram("bench/bare_me_pods.ts", { args: [world.dir.database, world.org] });
  try {
    const [, barePort] = await bare.line(/bare on (\d+)/) as unknown as [string, string];
    const bareUrl = `http://127.0.0.1:${barePort}${path}`;
    await refuseDifferentAnswers(server.url + path, bareUrl, world.memberToken);
    const plan = (port: string): LoadPlan => ({
      port: Number(port),
      connections: 16,
      warmUpMs: 500,
      measureMs: 2_000,
      requests: [requestText("GET", path, world.memberToken)],
    });
    // The engine optimizes what runs often; until then the longer program is at a disadvantage.
    await load(plan(new URL(server.url).port), server.program.pid);
    await load(plan(barePort), bare.pid);
    const runs = await alternate(ROUNDS, {
      ours: () => load(plan(new URL(server.url).port), server.program.pid),
      bare: () => load(plan(barePort), bare.pid),
    });
    const rates = (side: LoadResult[]) => side.map((run) => run.perSecond);
    const costs = (side: LoadResult[]) => side.map((run) => run.cpuMicroseconds);
    return [
      ratioFigure(
        {
          figure: "me/pods",
          value: median(rates(runs.ours)),
          unit: "requests/s",
          peer: "bare handler, same reads",
          peerValue: median(rates(runs.bare)),
          note: `${ROUNDS} rounds, 16 connections, ${world.podIds.length} pods in the answer.`,
        },
        medianRatio(rates(runs.ours), rates(runs.bare)),
        0.8,
      ),
      ratioFigure(
        {
          figure: "me/pods, CPU for one",
          value: median(costs(runs.ours)),
          unit: "µs",
          peer: "bare handler, same reads",
          peerValue: median(costs(runs.bare)),
        },
        medianRatio(costs(runs.ours), costs(runs.bare)),
      ),
    ];
  } finally {
    await stop(bare);
    await stop(server.program);
    await server.close();
  }
}

/** The comparison is worth nothing unless both say the same. The states may be read anew in between: then again. */
async function refuseDifferentAnswers(ours: string, bare: string, token: string): Promise<void> {
  const ask = async (url: string) => {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const headers = [...answer.headers].filter(([name]) => name !== "date" && name !== "content-length");
    return JSON.stringify(headers) + await answer.text();
  };
  let pair: string[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    pair = [await ask(ours), await ask(bare)];
    if (pair[0] === pair[1]) return;
  }
  throw new Error(`The bare handler answers otherwise: ${pair.join(" and ")}`);
}
