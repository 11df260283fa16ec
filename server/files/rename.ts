import { AppError } from "../errors.ts";
import { explainFailure, kindOf, SftpError } from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { liesIn, splitPath } from "./path.ts";
import { entryPlaceOf, lstatOrMissing, type Place } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import { refuseProtected } from "./protected.ts";
import { occupied, replaceFile } from "./replace_file.ts";

/**
 * Renames or moves. Never onto what is there already (`pod_refused`). Between folders of different owners a file is copied
 * and then removed, because nobody but root may touch both, and root must not follow paths there; a folder is refused.
 */
export async function renameFile(
  deps: FileDeps,
  session: PodSession,
  from: Uint8Array,
  to: Uint8Array,
): Promise<void> {
  if (liesIn(to, from)) throw new AppError("invalid_request", "new_path must not lie in old_path");
  const source = await entryPlaceOf(session.root, from, session.call);
  const target = await entryPlaceOf(session.root, to, session.call);
  await refuseProtected(session, source.path, "moved");
  const sftp = await session.as(source.user);
  const state = await sftp.lstat(source.path, session.call);
  const there = await session.as(target.user);
  if (await lstatOrMissing(there, target.path, session.call) !== undefined) throw occupied();

  if (source.user?.uid !== target.user?.uid) {
    if (kindOf(state) === "file") return await moveByCopy(deps, session, source, to);
    const sentence = "Only a file can be moved between folders of different owners";
    throw new AppError("pod_refused", sentence);
  }
  try {
    await sftp.rename(source.path, target.path, session.call);
  } catch (error) {
    const folder = splitPath(target.path)?.parent ?? target.path;
    const explained = await explainFailure(sftp, folder, error);
    const isOtherDisk = explained instanceof SftpError && explained.kind === "failure" &&
      await areApart(session, source, folder);
    if (!isOtherDisk) throw explained;
    if (kindOf(state) === "file") return await moveByCopy(deps, session, source, to);
    throw new AppError("pod_refused", "Only a file can be moved to another file system");
  }
}

async function moveByCopy(deps: FileDeps, session: PodSession, source: Place, to: Uint8Array): Promise<void> {
  const sftp = await session.as(source.user);
  const { size = 0 } = await sftp.lstat(source.path, session.call);
  const { transfer: maxBytes } = deps.fileLimits;
  const content = sftp.readStream(source.path, { end: size, stallMs: deps.fileTimings.stallMs });
  await replaceFile(deps, session, to, { source: content, size, maxBytes, mustBeNew: true });
  await sftp.removeFile(source.path, session.call);
}

/** True when the two lie on different file systems, as far as the pod tells. */
async function areApart(session: PodSession, source: Place, folder: Uint8Array): Promise<boolean> {
  try {
    const sftp = await session.as(source.user);
    const ids = await Promise.all(
      [splitPath(source.path)?.parent ?? source.path, folder].map((path) => sftp.fileSystem(path, session.call)),
    );
    return ids[0]?.id !== ids[1]?.id;
  } catch (error) {
    if (error instanceof SftpError) return false;
    throw error;
  }
}
