import type { Server } from "../tests/support/server_process.ts";
import { onPod, type PeerTarget } from "./file_peers.ts";
import { type Figure } from "./figures.ts";
import { certificateFor, MEMBER_ID, officerCliToken, openConnections } from "./logins.ts";
import { alternate, median } from "./rounds.ts";
import { type BenchWorld, stop } from "./world.ts";

const ROUNDS = 5;
const CONNECTIONS = 5;
const GOAL_MS = 10_000;

/**
 * A member with five connections is removed from a pod: from the officer's request until the last connection has ended.
 * The peer is what an officer would type, which takes no certificate back and looks once.
 */
export async function benchRemoval(world: BenchWorld): Promise<Figure[]> {
  const server = await world.startServer();
  try {
    const podId = world.podIds[0]!;
    const officer = await certificateFor(world, server, await officerCliToken(world, server), podId);
    const round = async (end: () => Promise<void>): Promise<number> => {
      const target = await certificateFor(world, server, world.memberToken, podId);
      const connections = await openConnections(target, CONNECTIONS);
      try {
        const begun = performance.now();
        await end();
        return await connections.allEnded - begun;
      } finally {
        await connections.close();
      }
    };
    const runs = await alternate(ROUNDS, {
      ours: () => round(() => disconnect(world, server, podId)),
      killed: () => round(() => kill(officer)),
    });
    const value = median(runs.ours);
    return [{
      figure: `removal of a member with ${CONNECTIONS} connections`,
      value,
      unit: "ms",
      peer: "`ssh` and `pkill` as root",
      peerValue: median(runs.killed),
      compared: { how: "value", value },
      goal: { text: "under 10 s", met: value < GOAL_MS },
      note: `${ROUNDS} rounds; from the request until the last connection has ended. Ours first brings the list of ` +
        "revoked certificates to the pod; pkill leaves them good.",
    }];
  } finally {
    await stop(server.program);
    await server.close();
  }
}

async function disconnect(world: BenchWorld, server: Server, podId: string): Promise<void> {
  const path = `/api/compute/${world.org}/pods/${podId}/members/${MEMBER_ID}/disconnect`;
  const reply = await server.call("POST", path, { token: world.officerToken, body: {} });
  if (reply.status !== 200 || reply.json.removal?.state !== "done") throw new Error(`Not removed: ${reply.text}`);
}

async function kill(officer: PeerTarget): Promise<void> {
  await onPod(officer, "pkill -KILL -U $(id -u godfather_mo.member)");
}
