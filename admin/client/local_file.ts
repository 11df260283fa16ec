/** Files of this machine that a transfer reads or writes. */
import { AppError, shown } from "../../server/errors.ts";

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

/** What is there, links not followed; null for nothing. */
export async function lookAt(path: string): Promise<Deno.FileInfo | null> {
  try {
    return await Deno.lstat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw localFailure(error, path);
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

/** The end of its stream closes a file as well. */
export function closeOnce(file: Deno.FsFile): void {
  try {
    file.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** What the system says about a path as a sentence; other errors as they are. */
export function localFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const reason = error.message.replace(/ \(os error \d+\)[\s\S]*$/, "");
  const sentence = `${shown(path)}: ${reason}`;
  if (error instanceof Deno.errors.NotFound) return new AppError("usage", sentence);
  if (error instanceof Deno.errors.PermissionDenied) return new AppError("permission_denied", sentence);
  if (/os error (28|122)\b/.test(error.message)) return new AppError("disk_full", sentence, { cause: error });
  return /os error \d+/.test(error.message) ? new AppError("usage", sentence, { cause: error }) : error;
}
