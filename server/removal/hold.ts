import { mayAnybodyBeOn } from "../../db/stores/connections.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { livePods } from "../../db/stores/pods.ts";
import { atMost } from "../at_most.ts";
import { SECOND } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";

const AT_ONCE = 8;
const HOLD_MS = 10 * SECOND;

/**
 * Sees to it that the server is connected to each pod of the org that somebody may be on: a removal must not depend on a
 * login that strangers could keep it from. Where it is connected this costs one command that does nothing. What a pod
 * does makes it not reject.
 */
export async function holdConnections(deps: PodDeps, org: Org): Promise<void> {
  const { db, clock, ssh } = deps;
  const pods = livePods(db, org.id).filter((pod) =>
    pod.status === "RUNNING" && pod.host !== null && pod.port !== null && pod.start_key !== null &&
    mayAnybodyBeOn(db, pod.id, clock.now())
  );
  await atMost(AT_ONCE, pods, async (pod) => {
    try {
      await ssh.exec(targetOf(deps, pod), "true", { deadlineMs: HOLD_MS, maxOutputBytes: 1024 });
    } catch (error) {
      // A pod that cannot be reached is shown elsewhere, and tried again with the next turn.
      if (!(error instanceof AppError)) throw error;
    }
  });
}
