/** Files of this machine that a transfer reads or writes. */
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { AppError, shown } from "../../server/errors.ts";

/** A file in the making: it has a temporary name beside its own until it is whole. */
export interface PartialFile {
  /** Bytes that were there already, from an earlier try. */
  readonly start: number;
  write(bytes: Uint8Array): Promise<void>;
  /** Gives the file its name. Throws `conflict` when that is taken and may not be replaced. */
  finish(): Promise<void>;
  /** Ends without: keeps what is there for another try, or removes it. Returns how many bytes are kept. */
  giveUp(): Promise<number>;
}

export interface PartialFileOptions {
  /** Replaces a file of that name. */
  readonly force: boolean;
  /** Marks the version of the content, such as an ETag; without one nothing is kept. */
  readonly version?: string | undefined;
  /** Goes on where an earlier try for the same version ended. */
  readonly resume?: boolean;
}

/** The longest start of a name that leaves room for the rest of the temporary one, in bytes. */
const MAX_STEM = 200;

/** Refuses a target that is there already. Throws `AppError("conflict")`. */
export async function refuseExisting(path: string, force: boolean): Promise<void> {
  const info = await lookAt(path);
  if (info?.isDirectory) throw new AppError("usage", `${shown(path)} is a folder`);
  if (info !== null && !force) {
    throw new AppError("conflict", `${shown(path)} is there already`, { hint: "Replace it with --force" });
  }
}

/** Whether something is there; links are followed. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw localFailure(error, path);
  }
}

async function lookAt(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw localFailure(error, path);
  }
}

/** The temporary name for one version of the content: beside the target, so that it can be renamed. */
export function partialPath(target: string, version: string): string {
  const stem = new TextDecoder().decode(new TextEncoder().encode(basename(target)).subarray(0, MAX_STEM));
  const mark = createHash("sha256").update(version).digest("hex").slice(0, 12);
  return join(dirname(target), `.${stem.replace(/\ufffd+$/, "")}.${mark}.orgpods-part`);
}

/** How much an earlier try left of this version; 0 for nothing. */
export async function partialSize(target: string, version: string): Promise<number> {
  const info = await lookAt(partialPath(target, version));
  return info?.isFile ? info.size : 0;
}

/** Throws an `AppError` for what this machine refuses; so do the methods. */
export async function createPartialFile(target: string, options: PartialFileOptions): Promise<PartialFile> {
  const { force, version, resume = false } = options;
  await refuseExisting(target, force);
  const path = partialPath(target, version ?? crypto.randomUUID());
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw localFailure(error, target);
    }
  };
  const start = resume ? (await lookAt(path))?.size ?? 0 : 0;
  const file = await attempt(async () => {
    if (start > 0) return await Deno.open(path, { append: true });
    await removeIfThere(path);
    return await Deno.open(path, { write: true, createNew: true });
  });
  let size = start;
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
        if (!isSame(await file.stat(), await lookAt(path))) {
          throw new AppError("conflict", `Another command is fetching ${shown(target)} at the same time`);
        }
        await refuseExisting(target, force);
        await attempt(() => Deno.rename(path, target));
      } finally {
        file.close();
      }
    },
    async giveUp() {
      file.close();
      if (version !== undefined && size > 0) return size;
      await removeIfThere(path);
      return 0;
    },
  };
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

/** A file to be read, with its size. Throws an `AppError` for what is no file or cannot be read. */
export async function openForReading(path: string): Promise<{ readonly file: Deno.FsFile; readonly size: number }> {
  let file: Deno.FsFile | undefined;
  try {
    // A FIFO would be waited for.
    const before = await Deno.stat(path);
    if (!before.isFile) throw new AppError("usage", `${shown(path)} is not a file`);
    file = await Deno.open(path);
    return { file, size: (await file.stat()).size };
  } catch (error) {
    file?.close();
    throw localFailure(error, path);
  }
}

/** What the system says about a path as a sentence; other errors as they are. */
function localFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const reason = error.message.replace(/ \(os error \d+\)[\s\S]*$/, "");
  const sentence = `${shown(path)}: ${reason}`;
  if (error instanceof Deno.errors.NotFound) return new AppError("usage", sentence);
  if (error instanceof Deno.errors.PermissionDenied) return new AppError("permission_denied", sentence);
  if (/os error (28|122)\b/.test(error.message)) return new AppError("disk_full", sentence, { cause: error });
  return /os error \d+/.test(error.message) ? new AppError("usage", sentence, { cause: error }) : error;
}
