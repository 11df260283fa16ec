/** A file in the making: it has a temporary name beside its own until it is whole. */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { AppError, shown } from "../../server/errors.ts";
import { localFailure, lookAt, refuseExisting } from "../client/local_file.ts";

export interface PartialFile {
  /** Bytes that were there already, from an earlier try. */
  readonly start: number;
  write(bytes: Uint8Array): Promise<void>;
  /** Gives the file its name. Throws `conflict` when that is taken and may not be replaced, or when bytes are not ours. */
  finish(): Promise<void>;
  /** Ends without: keeps what is there for another try (unless nothing is to be kept), or removes it. Gives the bytes kept. */
  giveUp(mayKeep?: boolean): Promise<number>;
}

export interface PartialFileOptions {
  /** Replaces a file of that name. */
  readonly force: boolean;
  /** Marks the version of the content, such as an ETag; without one nothing is kept. */
  readonly version?: string | undefined;
  /** Goes on where an earlier try for the same version ended. */
  readonly resume?: boolean;
  /** Bytes of the whole file, where they are known. */
  readonly size?: number | undefined;
}

/** The longest start of a name that leaves room for the rest of the temporary one, in bytes. */
const MAX_STEM = 200;
const SUFFIX = "orgpods-part";

/** How the temporary names for one version of the content begin: beside the target, so that they can be renamed. */
function partStart(target: string, version: string): string {
  const stem = new TextDecoder().decode(new TextEncoder().encode(basename(target)).subarray(0, MAX_STEM));
  const mark = createHash("sha256").update(version).digest("hex").slice(0, 12);
  return `.${stem.replace(/\ufffd+$/, "")}.${mark}.`;
}

/** The name of what an earlier try left. */
export function partialPath(target: string, version: string): string {
  return join(dirname(target), `${partStart(target, version)}${SUFFIX}`);
}

/**
 * The name while a command writes: with its process id, so that no other command goes on with it at the same time, and so
 * that what a killed one left is known.
 */
function pathInUse(target: string, version: string): string {
  const mine = `${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
  return join(dirname(target), `${partStart(target, version)}${mine}.${SUFFIX}`);
}

interface LeftPart {
  readonly path: string;
  readonly info: Deno.FileInfo;
}

/** What earlier tries left and no running process writes, the longest first. Files of other users are none of ours. */
async function leftParts(target: string, version: string): Promise<LeftPart[]> {
  const start = partStart(target, version);
  const found: LeftPart[] = [];
  try {
    for await (const { name } of Deno.readDir(dirname(target))) {
      const rest = name.startsWith(start)
        ? /^(?:(\d{1,10})-[0-9a-f]{8}\.)?([a-z-]+)$/.exec(name.slice(start.length))
        : null;
      if (rest?.[2] !== SUFFIX || (rest[1] !== undefined && isRunning(Number(rest[1])))) continue;
      const path = join(dirname(target), name);
      const info = await lookAt(path);
      if (info?.isFile && info.uid === Deno.uid() && info.nlink === 1) found.push({ path, info });
    }
  } catch (error) {
    throw localFailure(error, target);
  }
  return found.sort((a, b) => b.info.size - a.info.size);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ESRCH") return false;
    // It runs as somebody else.
    if (code === "EPERM") return true;
    throw error;
  }
}

/** How much an earlier try left of this version; 0 for nothing. */
export async function partialSize(target: string, version: string): Promise<number> {
  return (await leftParts(target, version))[0]?.info.size ?? 0;
}

/** Takes over the longest of what is left, as `path`. Null when there is none. */
async function takeOver(target: string, version: string, path: string): Promise<Deno.FsFile | null> {
  for (const left of await leftParts(target, version)) {
    try {
      // Of two commands that try, one finds nothing to rename.
      await Deno.rename(left.path, path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      throw localFailure(error, target);
    }
    const file = await Deno.open(path, { append: true });
    if (isSame(await file.stat(), left.info)) return file;
    file.close();
    throw inUse(target);
  }
  return null;
}

/** Throws an `AppError` for what this machine refuses; so do the methods. */
export async function createPartialFile(target: string, options: PartialFileOptions): Promise<PartialFile> {
  const { force, version = crypto.randomUUID(), resume = false } = options;
  const isKept = options.version !== undefined;
  await refuseExisting(target, force);
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw localFailure(error, target);
    }
  };
  const path = pathInUse(target, version);
  const taken = resume ? await takeOver(target, version, path) : null;
  const file = taken ?? await attempt(() => Deno.open(path, { write: true, createNew: true }));
  const start = (await file.stat()).size;
  let size = start;
  let isOpen = true;
  let isOurs = true;
  const close = () => {
    if (isOpen) file.close();
    isOpen = false;
  };
  return {
    start,
    write: (bytes) =>
      attempt(async () => {
        for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
        size += bytes.length;
      }),
    async finish() {
      try {
        await attempt(() => file.sync());
        const info = await file.stat();
        isOurs = info.size === size && isSame(info, await lookAt(path));
        if (!isOurs) throw inUse(target);
        if (options.size !== undefined && size !== options.size) {
          throw new AppError("conflict", `${shown(target)} has ${size} of ${options.size} bytes`);
        }
        await refuseExisting(target, force);
        await attempt(() => Deno.rename(path, target));
      } finally {
        close();
      }
      for (const left of isKept ? await leftParts(target, version) : []) await removeIfThere(left.path);
    },
    async giveUp(mayKeep = true) {
      close();
      if (mayKeep && isKept && isOurs && size > 0) {
        await attempt(() => Deno.rename(path, partialPath(target, version)));
        return size;
      }
      await removeIfThere(path);
      return 0;
    },
  };
}

function inUse(target: string): AppError {
  return new AppError("conflict", `Another command is fetching ${shown(target)} at the same time`);
}

function isSame(a: Deno.FileInfo, b: Deno.FileInfo | null): boolean {
  return b !== null && a.ino === b.ino && a.dev === b.dev;
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
