import { type Figure, ratioFigure } from "./figures.ts";
import { curl, onPod } from "./file_peers.ts";
import { certificateFor, officerCliToken, openConnections, openMultiplexed } from "./logins.ts";
import { alternate, median, medianRatio } from "./rounds.ts";
import { type BenchWorld, stop } from "./world.ts";

const ROUNDS = 9;
const SESSIONS = 50;
const PS = "ps -e -o pid=,ppid=,ruid=,etimes=,tty=,args=";

/** Who is on a pod with 50 sessions, asked through the API, against `ps` over the real ssh on the same pod. */
export async function benchPresence(world: BenchWorld): Promise<Figure[]> {
  const server = await world.startServer();
  try {
    const podId = world.podIds[1]!;
    const member = await certificateFor(world, server, world.memberToken, podId);
    const officer = await certificateFor(world, server, await officerCliToken(world, server), podId);
    const connections = await openConnections(member, SESSIONS);
    const multiplexed = await openMultiplexed(officer, `${world.folder}/presence-mux`);
    try {
      const url = `${server.url}/api/compute/${world.org}/pods/${podId}/members/connected`;
      const seen = await server.call("GET", new URL(url).pathname, { token: world.officerToken });
      if (seen.json.sessions?.length !== SESSIONS) throw new Error(`Not all of them are seen: ${seen.text}`);
      const timed = async (work: () => Promise<unknown>) => {
        const begun = performance.now();
        await work();
        return performance.now() - begun;
      };
      const runs = await alternate(ROUNDS, {
        ours: () => timed(() => curl(world.officerToken, ["-o", "/dev/null", url])),
        multiplexed: () => timed(() => multiplexed(PS)),
        ssh: () => timed(() => onPod(officer, PS)),
      });
      const figure = (peer: "multiplexed" | "ssh", name: string, note?: string) =>
        ratioFigure(
          {
            figure: `who is on, ${SESSIONS} sessions`,
            value: median(runs.ours),
            unit: "ms",
            peer: name,
            peerValue: median(runs[peer]),
            ...(note === undefined ? {} : { note }),
          },
          medianRatio(runs[peer], runs.ours),
        );
      return [
        figure(
          "multiplexed",
          "`ssh … ps`, logged in",
          `${ROUNDS} rounds; each with the start of its program (ours: curl). Ours walks /proc, runs \`ps\`, and reads a record per connection.`,
        ),
        figure("ssh", "`ssh … ps`, with its login"),
      ];
    } finally {
      await multiplexed("");
      await connections.close();
    }
  } finally {
    await stop(server.program);
    await server.close();
  }
}
