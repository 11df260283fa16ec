import { AppError } from "../errors.ts";
import { type Attributes, explainFailure, kindOf, SftpError } from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { stateTag } from "./etag.ts";
import { liesIn, splitPath } from "./path.ts";
import { entryPlaceOf, lstatOrMissing, type Place, placeOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import { refuseProtected } from "./protected.ts";
import { occupied, replaceFile, turnOf } from "./replace_file.ts";

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
    if (kindOf(state) === "file") return await moveByCopy(deps, session, { source, state, target, to });
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
    if (kindOf(state) === "file") return await moveByCopy(deps, session, { source, state, target, to });
    throw new AppError("pod_refused", "Only a file can be moved to another file system");
  }
}

/** The source goes only when it is still what was copied; otherwise the copy goes. */
async function moveByCopy(
  deps: FileDeps,
  session: PodSession,
  { source, state, target, to }: {
    readonly source: Place;
    readonly state: Attributes;
    readonly target: Place;
    readonly to: Uint8Array;
  },
): Promise<void> {
  const { size = 0, mode = 0 } = state;
  const content = await contentOf(deps, session, source, size);
  const { transfer: maxBytes } = deps.fileLimits;
  const copied = await replaceFile(deps, session, to, {
    source: content,
    size,
    maxBytes,
    mustBeNew: true,
    mode: mode & 0o777,
  });
  const moved = await deps.turns.take(turnOf(session.pod, source.path), async () => {
    const sftp = await session.as(source.user);
    const now = await lstatOrMissing(sftp, source.path, session.call);
    if (now === undefined || !isSame(state, now)) return false;
    await sftp.removeFile(source.path, session.call);
    return true;
  });
  if (moved) return;
  await deps.turns.take(turnOf(session.pod, target.path), async () => {
    const sftp = await session.as(target.user);
    const copy = await lstatOrMissing(sftp, target.path, session.call);
    // What somebody made of it since then is theirs.
    if (copy !== undefined && stateTag(copy) === copied.etag) await sftp.removeFile(target.path, session.call);
  });
  throw new AppError("changed_meanwhile", "The file was changed while it was moved; it is where it was");
}

/**
 * Reading follows a path to its end, which an entry's place does not allow for: where everybody may put a link in the
 * place of the file, root must not open it.
 */
async function contentOf(deps: FileDeps, session: PodSession, source: Place, size: number) {
  const { path, user } = source.user === null ? await placeOf(session.root, source.path, session.call) : source;
  return (await session.as(user)).readStream(path, { end: size, stallMs: deps.fileTimings.stallMs });
}

/** As far as SFTP tells, which has whole seconds. */
function isSame(before: Attributes, now: Attributes): boolean {
  return before.mode === now.mode && before.size === now.size && before.mtime === now.mtime;
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
