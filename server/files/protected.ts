import type { LivePod } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import { mountAt, mountPoints } from "./mounts.ts";
import { bytesOf, partsOf, samePath, shownName } from "./path.ts";
import type { PodSession } from "./pod_session.ts";

/** What is never deleted or moved (contract section 9), besides every mount point. */
const PROTECTED = ["/", "/workspace", "/workspace/users", "/workspace/shared"].map(bytesOf);
const TOP = new Set(
  "root home etc usr bin sbin lib lib32 lib64 libx32 var boot dev proc sys run opt srv tmp mnt media".split(" "),
);

/**
 * Throws `invalid_request` for a path that must stay: the fixed ones, the pod's own volume, a mount point, and whatever
 * holds one. `verb` goes into the sentence.
 */
export async function refuseProtected(session: PodSession, path: Uint8Array, verb: "deleted" | "moved"): Promise<void> {
  const refusal = (why = "") => new AppError("invalid_request", `That directory cannot be ${verb}${why}`);
  const [top = new Uint8Array(), ...rest] = partsOf(path);
  if (PROTECTED.some((one) => samePath(one, path)) || (rest.length === 0 && TOP.has(shownName(top).text))) {
    throw refusal();
  }
  const volume = volumeOf(session.pod);
  if (volume !== null && samePath(bytesOf(volume), path)) throw refusal();
  const mount = mountAt(await mountPoints(session), path);
  if (mount !== undefined) throw refusal(samePath(mount, path) ? "" : ": another file system is mounted in it");
}

function volumeOf(pod: LivePod): string | null {
  const { volume_mount_path: path } = JSON.parse(pod.config) as { volume_mount_path?: unknown };
  return typeof path === "string" ? path.replace(/\/+$/, "") : null;
}
