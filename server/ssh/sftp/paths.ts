import { ensure } from "../format_error.ts";
import { SftpError } from "./error.ts";
import { MAX_PATH } from "./protocol.ts";

const SLASH = 0x2f;
const DOT = 0x2e;

/** Throws `invalid_path` for what must not be sent: a NUL byte ends the whole session of OpenSSH's server. */
export function checkPath(path: Uint8Array): Uint8Array {
  if (path.length === 0) throw new SftpError("invalid_path", "The path is empty");
  if (path.length > MAX_PATH) throw new SftpError("invalid_path", `The path is longer than ${MAX_PATH} bytes`);
  if (path.includes(0)) throw new SftpError("invalid_path", "The path has a NUL byte");
  return path;
}

/** True for `.` and `..`, which every listing has. */
export function isDots(name: Uint8Array): boolean {
  return name[0] === DOT && (name.length === 1 || (name.length === 2 && name[1] === DOT));
}

/**
 * Throws a FormatError for a name that no folder can hold: joined to the folder's path it would lead elsewhere.
 */
export function checkEntryName(name: Uint8Array): void {
  ensure(name.length > 0, "a listing has an empty name");
  ensure(name.length <= MAX_PATH, `a listing has a name of more than ${MAX_PATH} bytes`);
  ensure(!name.includes(SLASH) && !name.includes(0), "a listing has a name with a slash or a NUL byte");
}
