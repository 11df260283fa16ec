/**
 * Where a path leads and as whom it is touched: root, whoever else owns a part of it, or nobody's user where everybody
 * may swap a part. Root follows a path only as long as nobody else made a part of it or can swap one for a link; from there
 * on the pod's kernel decides for that user.
 */
import { SECOND } from "../clock.ts";
import { DeadlinePassed, limitCall } from "../ssh/deadline.ts";
import { type Attributes, type CallOptions, kindOf, type Sftp, SftpError } from "../ssh/sftp/mod.ts";
import { NOBODY_USER, ownerOf, type PodUser } from "./as_owner.ts";
import { isDot, isDotDot, joinPath, partsOf, pathFrom, splitPath } from "./path.ts";

/** A path as it is handed to the pod. `user` is null for root. */
export interface Place {
  readonly path: Uint8Array;
  readonly user: PodUser | null;
}

const SLASH = 0x2f;
/** As many as the kernel follows. */
const MAX_LINKS = 40;
/** Parts that are asked for at once. */
const AHEAD = 32;
/** Parts that are asked for in one walk: more than a path of 4096 bytes has, and links can multiply them. */
const MAX_LOOKS = 5_000;
/** For a walk whose caller names no time. */
const WALK_MS = 15 * SECOND;

const STICKY = 0o1000;
const OTHERS_WRITE = 0o002;
const GROUP_WRITE = 0o020;

/** A folder on the way that was looked at: no link, and in nobody's hands but root's. */
interface Step {
  readonly part: Uint8Array;
  readonly attributes: Attributes;
}

/**
 * For what is followed to its end: reading, listing, asking. Throws SftpErrors, also `not_found` for what is missing when
 * root looks; in an owner's hands the owner's session will tell. The deadline is that of the whole walk.
 */
export async function placeOf(root: Sftp, path: Uint8Array, options: CallOptions): Promise<Place> {
  const limit = limitCall(options.deadlineMs ?? WALK_MS, options.signal);
  try {
    return await walk(root, path, { ...options, signal: limit.signal });
  } catch (error) {
    if (!(error instanceof DeadlinePassed)) throw error;
    throw new SftpError("timeout", `The path was not followed to its end within ${error.deadlineMs} ms`);
  } finally {
    limit.end();
  }
}

async function walk(root: Sftp, path: Uint8Array, options: CallOptions): Promise<Place> {
  const done: Step[] = [];
  let todo = partsOf(path);
  let links = 0;
  let looks = 0;
  while (todo.length > 0) {
    const seen = await look(root, done, todo, options);
    looks += seen.length;
    if (looks > MAX_LOOKS) throw new SftpError("invalid_path", "The links of the path lead through too many folders");
    for (const { part, attributes } of seen) {
      const [, ...rest] = todo;
      if (isDot(part)) {
        todo = rest;
        continue;
      }
      if (isDotDot(part)) {
        done.pop();
        todo = rest;
        continue;
      }
      if (attributes === undefined) throw new SftpError("not_found", "No such file or directory");
      const user = controllerOf(done, attributes);
      if (user !== null) return { path: pathFrom([...partsIn(done), ...todo]), user };
      if (kindOf(attributes) === "link") {
        if (++links > MAX_LINKS) throw new SftpError("not_found", "No such file or directory");
        const target = await root.readLink(pathFrom([...partsIn(done), part]), options);
        if (target[0] === SLASH) done.length = 0;
        todo = [...partsOf(target), ...rest];
        break;
      }
      done.push({ part, attributes });
      todo = rest;
    }
  }
  return { path: pathFrom(partsIn(done)), user: null };
}

const partsIn = (steps: readonly Step[]) => steps.map(({ part }) => part);

/**
 * For what is done to an entry of a folder and follows nothing: making, renaming, deleting. The folder alone decides,
 * because a swapped entry is then only another entry. For `/` itself, root.
 */
export async function entryPlaceOf(root: Sftp, path: Uint8Array, options: CallOptions): Promise<Place> {
  const split = splitPath(path);
  if (split === null) return { path, user: null };
  const folder = await placeOf(root, split.parent, options);
  return { path: joinPath(folder.path, split.name), user: folder.user };
}

interface Seen {
  readonly part: Uint8Array;
  readonly attributes: Attributes | undefined;
}

/**
 * The next parts, up to the first `..`, as they are; undefined for what is missing. They are asked for at once, so what
 * comes after a link is told of where the link leads: only what stands before one, and the link itself, may be used.
 */
async function look(
  root: Sftp,
  done: readonly Step[],
  todo: readonly Uint8Array[],
  options: CallOptions,
): Promise<Seen[]> {
  const up = todo.slice(0, AHEAD).findIndex(isDotDot);
  const asked = todo.slice(0, up < 0 ? AHEAD : up + 1).map(async (part, at) => ({
    part,
    attributes: isDot(part) || isDotDot(part)
      ? {}
      : await lstatOrMissing(root, pathFrom([...partsIn(done), ...todo.slice(0, at + 1)]), options),
  }));
  return await Promise.all(asked);
}

/** What stands at a path itself, link or not; undefined when nothing does. Throws the other SftpErrors. */
export async function lstatOrMissing(
  sftp: Sftp,
  path: Uint8Array,
  options: CallOptions,
): Promise<Attributes | undefined> {
  try {
    return await sftp.lstat(path, options);
  } catch (error) {
    if (error instanceof SftpError && error.kind === "not_found") return undefined;
    throw error;
  }
}

/** Who can put something else in the place of an entry of a folder, or made it; null when that is root alone. */
function controllerOf(folder: readonly Step[], { uid = 0, gid = 0 }: Attributes): PodUser | null {
  // Whatever folder it lies in now: a link keeps its owner wherever it is moved, and so does what lies in a folder.
  if (uid !== 0) return ownerOf(uid, gid);
  const { mode = 0, gid: group = 0 } = folder.at(-1)?.attributes ?? {};
  const othersWrite = (mode & OTHERS_WRITE) !== 0 || ((mode & GROUP_WRITE) !== 0 && group !== 0);
  // In a folder without the sticky bit everybody who writes in it may rename everything, whoever owns it.
  return othersWrite && (mode & STICKY) === 0 ? NOBODY_USER : null;
}
