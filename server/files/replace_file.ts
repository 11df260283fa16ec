/** New content for a file: written to a temporary name beside it, checked, and renamed over it. */
import type { LivePod } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import {
  type Attributes,
  type CallOptions,
  explainFailure,
  kindOf,
  type Sftp,
  SftpError,
  type SftpFile,
} from "../ssh/sftp/mod.ts";
import type { PodUser } from "./as_owner.ts";
import type { FileDeps } from "./deps.ts";
import { contentTag, isContentTag, stateTag } from "./etag.ts";
import { base64url, splitPath } from "./path.ts";
import { entryPlaceOf, lstatOrMissing, type Place, placeOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import type { LeftOver } from "./temporaries.ts";

export interface NewContent {
  readonly source: ReadableStream<Uint8Array>;
  /** A longer source is `too_large`. */
  readonly maxBytes: number;
  /** The bytes the source must have. */
  readonly size?: number | undefined;
  /** The ETag of what is to be replaced; another state is `changed_meanwhile`. */
  readonly ifMatch?: string | undefined;
  /** Refuses to replace anything. */
  readonly mustBeNew?: boolean;
  /** Permission bits of a new file, default 0644 without what the pod's umask takes. */
  readonly mode?: number;
}

interface Target {
  readonly path: Uint8Array;
  readonly folder: Uint8Array;
  readonly user: PodUser | null;
  readonly sftp: Sftp;
  /** What is there now; undefined for a new file. */
  readonly state: Attributes | undefined;
}

/**
 * Writes a file and returns its size; the old one stays whole until the new one is complete on the pod. Mode and owner are
 * kept; a link is followed and its target replaced. Throws `pod_refused` for what is no regular file,
 * `changed_meanwhile`, SftpErrors, and the source's own errors. What a failure leaves behind is removed then or later.
 */
export async function replaceFile(
  deps: FileDeps,
  session: PodSession,
  path: Uint8Array,
  content: NewContent,
): Promise<{ readonly size: number; readonly etag: string }> {
  try {
    await removeLeftOvers(deps, session);
    const target = await targetOf(session, path);
    if (content.mustBeNew && target.state !== undefined) throw occupied();
    await checkMatch(deps, session, target, content.ifMatch);
    await deps.temporaries.sweep(
      { podId: session.pod.id, startKey: session.target.startKey, folder: target.folder },
      target.sftp,
    );
    return await writeBeside(deps, session, target, content);
  } catch (error) {
    // Nobody reads the rest of it any more; that it may have failed itself is why we are here.
    if (!content.source.locked) await content.source.cancel(error).catch(() => {});
    throw error;
  }
}

/** The name of the turn of a file, in which a change of it comes to its end. */
export function turnOf(pod: LivePod, path: Uint8Array): string {
  return `${pod.id} ${base64url(path)}`;
}

export function occupied(): AppError {
  return new AppError("pod_refused", "There is already something at this path");
}

async function targetOf(session: PodSession, path: Uint8Array): Promise<Target> {
  const first = await entryPlaceOf(session.root, path, session.call);
  const sftp = await session.as(first.user);
  const state = await lstatOrMissing(sftp, first.path, session.call);
  if (state === undefined || kindOf(state) !== "link") return writable(first, sftp, state);
  const place = await placeOf(session.root, path, session.call);
  const owner = await session.as(place.user);
  const real = await owner.realPath(place.path, session.call);
  return writable({ path: real, user: place.user }, owner, await owner.lstat(real, session.call));
}

function writable(place: Place, sftp: Sftp, state: Attributes | undefined): Target {
  const split = splitPath(place.path);
  const kind = state === undefined ? "file" : kindOf(state);
  if (split === null || kind === "directory") throw new AppError("pod_refused", "The path is a directory");
  if (kind !== "file") throw new AppError("pod_refused", `The path is not a regular file but a ${kind}`);
  return { path: place.path, folder: split.parent, user: place.user, sftp, state };
}

/** Compares what is there with an ETag of either kind. */
async function checkMatch(
  deps: FileDeps,
  session: PodSession,
  { sftp, path }: Target,
  ifMatch: string | undefined,
): Promise<void> {
  if (ifMatch === undefined) return;
  const changed = new AppError("changed_meanwhile", "The file was changed or removed meanwhile; read it again");
  try {
    const transfer = { maxBytes: deps.fileLimits.text, stallMs: deps.fileTimings.callMs };
    const now = isContentTag(ifMatch)
      ? contentTag(await sftp.readAll(path, transfer))
      : stateTag(await sftp.stat(path, session.call));
    if (now !== ifMatch) throw changed;
  } catch (error) {
    if (error instanceof SftpError && (error.kind === "not_found" || error.kind === "too_large")) throw changed;
    throw error;
  }
}

async function writeBeside(
  deps: FileDeps,
  session: PodSession,
  target: Target,
  content: NewContent,
): Promise<{ size: number; etag: string }> {
  const { sftp, path, folder, user } = target;
  const { temporaries, fileTimings } = deps;
  const podId = session.pod.id;
  const temporary = temporaries.take(podId, folder);
  try {
    const { source, maxBytes, size, mode } = content;
    const isPlain = target.state === undefined && mode === undefined;
    const file = await sftp.open(temporary, "create", { ...session.call, mode: isPlain ? 0o644 : 0o600 });
    await setAttributes(file, target, mode, session.call);
    const written = await sftp.writeFrom(file, source, {
      stallMs: fileTimings.stallMs,
      sync: true,
      maxBytes,
      ...(size === undefined ? {} : { size }),
    });
    const etag = stateTag(await sftp.lstat(temporary, session.call));
    // Between the look and the rename no other write of ours may come to its end.
    await deps.turns.take(turnOf(session.pod, path), async () => {
      await checkMatch(deps, session, target, content.ifMatch);
      // A rename that finds something there is refused as well, but the pod does not say why.
      if (content.mustBeNew && await lstatOrMissing(sftp, path, session.call) !== undefined) throw occupied();
      await renameOver(sftp, temporary, path, content.mustBeNew ?? false, session.call);
    });
    return { size: written, etag };
  } catch (error) {
    const explained = await explainFailure(sftp, folder, error);
    await removeOrLeave(deps, podId, sftp, { path: temporary, user, tries: 0 });
    throw explained;
  } finally {
    temporaries.done(podId, temporary);
  }
}

/** Gives the new file owner and mode of the old one, or the mode asked for. Only root can give files away. */
async function setAttributes(
  file: SftpFile,
  { state, user }: Target,
  newMode: number | undefined,
  call: CallOptions,
): Promise<void> {
  const mode = state === undefined ? newMode : state.mode;
  if (mode === undefined) return;
  try {
    const { uid, gid } = await file.stat(call);
    if (
      state !== undefined &&
      (state.uid !== uid || state.gid !== gid) && user === null && state.uid !== undefined && state.gid !== undefined
    ) {
      await file.setStat({ owner: { uid: state.uid, gid: state.gid } }, call);
    }
    // The kernel takes set-uid and set-gid off what is written to, and so do we.
    await file.setStat({ mode: mode & 0o777 }, call);
  } catch (error) {
    file.close(call).catch(() => {});
    throw error;
  }
}

/**
 * Renames in one step. Where the pod's server cannot, the old file steps aside first and comes back when the second step
 * fails. A target that must be new is never replaced.
 */
export async function renameOver(
  sftp: Sftp,
  from: Uint8Array,
  to: Uint8Array,
  mustBeNew: boolean,
  call: CallOptions,
): Promise<void> {
  if (mustBeNew) return await sftp.rename(from, to, call);
  try {
    return await sftp.replace(from, to, call);
  } catch (error) {
    if (!(error instanceof SftpError && error.kind === "unsupported")) throw error;
  }
  if (await lstatOrMissing(sftp, to, call) === undefined) return await sftp.rename(from, to, call);
  const aside = Uint8Array.from([...from, ...new TextEncoder().encode("-old")]);
  await sftp.rename(to, aside, call);
  try {
    await sftp.rename(from, to, call);
  } catch (error) {
    await sftp.rename(aside, to, call);
    throw error;
  }
  await sftp.removeFile(aside, call);
}

/** How long an answer waits for the removal of what a failure left. */
const REMOVAL_MS = 5_000;

async function removeOrLeave(
  deps: FileDeps,
  podId: string,
  sftp: Sftp,
  left: LeftOver,
): Promise<void> {
  try {
    await sftp.removeFile(left.path, { deadlineMs: REMOVAL_MS });
  } catch (error) {
    if (!(error instanceof SftpError)) throw error;
    if (error.kind !== "not_found") deps.temporaries.leave(podId, left);
  }
}

/** Removes what earlier failures left on the pod, as far as that can be done now. */
export async function removeLeftOvers(deps: FileDeps, session: PodSession): Promise<void> {
  for (const left of deps.temporaries.leftOn(session.pod.id)) {
    try {
      await removeOrLeave(deps, session.pod.id, await session.as(left.user), left);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      deps.temporaries.leave(session.pod.id, left);
    }
  }
}
