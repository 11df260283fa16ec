import { type KeyLists, storeFoundKeys } from "../../db/stores/pod_keys.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import type { PodDeps } from "../pods/deps.ts";
import { targetOf } from "../pods/reach.ts";
import { keysInLines, type OrgPublicKeys } from "./env_keys.ts";
import { publicKeysOf } from "./facts.ts";

const LOOK_MS = 10_000;
const MOST_OUTPUT = 256 * 1024;

/** Prints the lines of both files, each behind a word for its file. It changes nothing. */
const SCRIPT = `PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
if [ -f /root/.ssh/authorized_keys ]; then sed 's/^/backend /' /root/.ssh/authorized_keys; fi
if [ -f /etc/ssh/godfather_user_ca.pub ]; then sed 's/^/user_ca /' /etc/ssh/godfather_user_ca.pub; fi
echo end
`;

/** Which of the org's keys the look found; null for an answer that was cut. */
export function parseLook(output: string, keys: OrgPublicKeys): KeyLists | null {
  const lines = output.split("\n");
  if (!lines.includes("end")) return null;
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  return {
    backend: keysInLines(of("backend"), keys.backend),
    user_ca: keysInLines(of("user_ca"), keys.user_ca),
  };
}

/**
 * Asks a running pod which of the org's keys its files have, for a start in which nothing was delivered: that the start
 * began with the env that RunPod shows is likely and not certain. Rejects with the pool's errors.
 */
export async function lookAtFiles(deps: PodDeps, pod: LivePod): Promise<void> {
  const target = targetOf(deps, pod);
  const { stdout } = await deps.ssh.exec(target, "exec /bin/sh -s", {
    stdin: SCRIPT,
    deadlineMs: LOOK_MS,
    maxOutputBytes: MOST_OUTPUT,
  });
  const found = parseLook(new TextDecoder().decode(stdout), publicKeysOf(deps.db, pod.org_id));
  if (found !== null) storeFoundKeys(deps.db, pod.id, target.startKey, found);
}
