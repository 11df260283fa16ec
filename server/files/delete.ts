import { explainFailure, kindOf } from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { splitPath } from "./path.ts";
import { entryPlaceOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import { refuseProtected } from "./protected.ts";
import { commandFailure, nulEnded, runAs } from "./run_as.ts";

/** Stays on one file system, and enters no link, also none that is put there while it works. */
const REMOVE = "xargs -0 rm -rf --one-file-system --";

/**
 * Deletes a file, a link (never what it leads to) or a folder with all that is in it. Throws `invalid_request` for what is
 * protected, `command_failed` when something of a folder stays, and SftpErrors.
 */
export async function deleteFile(deps: FileDeps, session: PodSession, path: Uint8Array): Promise<void> {
  const place = await entryPlaceOf(session.root, path, session.call);
  await refuseProtected(session, place.path, "deleted");
  const sftp = await session.as(place.user);
  const state = await sftp.lstat(place.path, session.call);
  if (kindOf(state) !== "directory") {
    const folder = splitPath(place.path)?.parent ?? place.path;
    await sftp.removeFile(place.path, session.call).catch(async (error) => {
      throw await explainFailure(sftp, folder, error);
    });
    return;
  }
  // SFTP deletes by whole paths, and any part of one can be swapped for a link between two calls.
  const command = { user: place.user, command: REMOVE, stdin: nulEnded(place.path) };
  const { exitCode, stderr } = await runAs(deps.ssh, session.target, command, deps.fileTimings.commandMs);
  if (exitCode !== 0) throw commandFailure(stderr);
}
