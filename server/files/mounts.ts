import { Buffer } from "node:buffer";
import { AppError } from "../errors.ts";
import { bytesOf, liesIn, samePath } from "./path.ts";
import type { PodSession } from "./pod_session.ts";
import { SftpError } from "../ssh/sftp/mod.ts";

const MOUNTS = bytesOf("/proc/self/mountinfo");
const MAX_BYTES = 4 * 1024 * 1024;

/** The mount points of the pod, as its SFTP server sees them. Throws `pod_refused` where the pod does not tell. */
export async function mountPoints(session: PodSession): Promise<Uint8Array[]> {
  try {
    const table = await session.root.readAll(MOUNTS, { maxBytes: MAX_BYTES });
    return parseMounts(table);
  } catch (error) {
    if (!(error instanceof SftpError) || error.kind === "timeout" || error.kind === "lost") throw error;
    throw new AppError("pod_refused", "The pod does not tell what is mounted in it, so nothing is deleted or moved");
  }
}

/** The fifth field of each line; space, tab, newline and backslash stand there as octal numbers. */
export function parseMounts(table: Uint8Array): Uint8Array[] {
  const lines = Buffer.from(table).toString("latin1").split("\n");
  return lines.map((line) => line.split(" ")[4]).filter((field) => field !== undefined).map((field) => {
    const plain = field.replace(/\\([0-7]{3})/g, (_whole, octal) => String.fromCharCode(parseInt(octal, 8)));
    return Uint8Array.from(Buffer.from(plain, "latin1"));
  });
}

/** The mount point at a path or below it, or undefined. */
export function mountAt(mounts: readonly Uint8Array[], path: Uint8Array): Uint8Array | undefined {
  return mounts.find((mount) => samePath(mount, path) || liesIn(mount, path));
}
