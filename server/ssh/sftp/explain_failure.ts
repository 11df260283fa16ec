import { SftpError } from "./error.ts";
import type { Sftp } from "./interface.ts";

/** After a full disk a few blocks are free again or reserved. */
const NEXT_TO_NOTHING = 1024 * 1024;

/**
 * OpenSSH says `failure` for a full disk and for a read-only mount alike. This asks the file system of `path`, which must
 * exist, and returns the clearer error, or the given one when it tells nothing more or cannot be asked.
 */
export async function explainFailure(sftp: Sftp, path: Uint8Array, error: unknown): Promise<unknown> {
  if (!(error instanceof SftpError && error.kind === "failure")) return error;
  try {
    const state = await sftp.fileSystem(path, { deadlineMs: 5_000 });
    const details = { said: error.said, cause: error };
    if (state.readOnly) return new SftpError("permission", "The file system on the pod is read-only", details);
    // Some file systems count no inodes and say 0 for all of them.
    const full = state.free < NEXT_TO_NOTHING || (state.inodes > 0 && state.freeInodes === 0);
    return full ? new SftpError("no_space", "There is no space left on the pod's disk", details) : error;
  } catch (second) {
    if (!(second instanceof SftpError)) throw second;
    return error;
  }
}
