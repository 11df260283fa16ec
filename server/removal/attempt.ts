import { connectionsOf, folderOf } from "../../db/stores/connections.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import type { RemovalRow } from "../../db/stores/removals.ts";
import { SECOND } from "../clock.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";
import type { PodSetup } from "../setup/setup.ts";
import { lowerFirst, whyOf } from "../setup/text.ts";
import { type Outcome, outcomeOf } from "./outcome.ts";
import { type Ended, endScript, parseEnded } from "./script.ts";
import { reckon } from "./take.ts";

const END_MS = 10 * SECOND;
const MOST_OUTPUT = 64 * 1024;

/**
 * One try to carry a removal out: brings the revocation list to the pod, then ends what they have there. Nothing that the
 * pod does makes it reject.
 */
export async function attempt(deps: PodDeps & { readonly setup: PodSetup }, removal: RemovalRow): Promise<Outcome> {
  const { db, clock, setup } = deps;
  const found = podById(db, removal.pod_id);
  const pod = found?.state === "live" ? found as LivePod : null;
  const isUp = pod !== null && pod.status !== "GONE" && pod.status !== "EXITED";
  // The list first: who is ended before it is there comes back.
  if (isUp && pod.host !== null) await setup.ensure(pod, END_MS);
  const listFailure = isUp ? await setup.deliver(pod) : null;
  const now = pod === null ? null : podById(db, pod.id) as LivePod;
  const ended = isUp && now !== null ? await endOn(deps, now, removal) : null;
  return outcomeOf({
    status: pod?.status ?? null,
    listFailure,
    ended,
    worksUntil: now === null ? null : worksUntil(deps, now, removal),
    which: removal.which,
  }, clock.now());
}

async function endOn(deps: PodDeps, pod: LivePod, removal: RemovalRow): Promise<Ended | string> {
  const { db, clock } = deps;
  const folder = folderOf(db, pod.org_id, removal.discord_id);
  if (folder === undefined) return "they have no folder";
  const { spared, letInAt } = reckon(connectionsOf(db, pod.id, removal.discord_id), removal, clock.now());
  // Until all has ended once nothing tells what was there before a new certificate: a process can begin itself anew again
  // and again. The script begins at most END_MS from now: by then nothing they did with it is as old as this.
  const isLetIn = removal.ended_at !== null && letInAt !== null;
  const letInAgo = isLetIn ? (clock.now() - letInAt + END_MS) / SECOND : null;
  try {
    const result = await deps.ssh.exec(targetOf(deps, pod), "exec /bin/sh -s", {
      stdin: endScript({
        folder,
        discordId: removal.discord_id,
        spared,
        wholeAccount: removal.which === "all",
        letInAgo,
        isRecorded: pod.setup_state === "image" && pod.setup_start === pod.start_key,
      }),
      deadlineMs: END_MS,
      maxOutputBytes: MOST_OUTPUT,
    });
    return parseEnded(new TextDecoder().decode(result.stdout));
  } catch (error) {
    return lowerFirst(whyOf(error));
  }
}

/** Until when a certificate that was taken back would work by the pod's clock, in the server's time; null when none was. */
function worksUntil({ db }: PodDeps, pod: LivePod, removal: RemovalRow): number | null {
  const ends = connectionsOf(db, pod.id, removal.discord_id)
    .filter((row) => row.revoked_at !== null && (removal.which === "all" || row.is_admin === 1))
    .map((row) => row.valid_before);
  const aheadMs = pod.setup_start === pod.start_key ? pod.clock_offset_ms ?? 0 : 0;
  return ends.length === 0 ? null : Math.max(...ends) - aheadMs;
}
