/** Pieces of the scripts that run on pods as root, fed to `/bin/sh` on standard input. */
import { toBase64 } from "../ssh/wire.ts";

/** The first lines of every script. */
export const PREAMBLE = `set -u
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
umask 077
`;

/** A file to be put on a pod. */
export interface RemoteFile {
  /** Absolute, of letters, digits and `._-/` only. */
  readonly path: string;
  readonly mode: number;
  readonly bytes: Uint8Array;
  /** SHA-256 of `bytes`, in hex. */
  readonly sha256: string;
}

/**
 * The shell function `put path mode sha256`, which takes a file in base64 on its standard input. What is there already is
 * not written again; a new file is written beside, compared and renamed over, so a reader finds the old one or
 * the new one and never a part. It prints `same`, `wrote` or `failed` with the path and, for a failure, why, and ends the
 * script with code 9 then.
 */
export const PUT = `put() {
  if [ ! -L "$1" ] && [ -f "$1" ] && [ "$(sha256sum <"$1" 2>/dev/null | cut -c1-64)" = "$3" ]; then
    cat >/dev/null
    chmod "$2" "$1" 2>/dev/null
    echo "same $1"
    return
  fi
  folder=\${1%/*}
  if [ ! -d "$folder" ]; then why=$(umask 022; mkdir -p "$folder" 2>&1) || put_failed "$1" "$why"; fi
  rm -f "$1.orgpods" 2>/dev/null
  why=$( { base64 -d >"$1.orgpods" && chmod "$2" "$1.orgpods"; } 2>&1 ) || put_failed "$1" "$why"
  [ "$(sha256sum <"$1.orgpods" | cut -c1-64)" = "$3" ] || put_failed "$1" "it was not written whole"
  why=$(mv -fT "$1.orgpods" "$1" 2>&1) || put_failed "$1" "$why"
  echo "wrote $1"
}
put_failed() {
  rm -f "$1.orgpods" 2>/dev/null
  echo "failed $1 $2" | tr '\\n' ' ' | cut -c1-300
  echo
  exit 9
}
`;

/** One call of `put`. */
export function putCall(file: RemoteFile): string {
  if (!/^\/[A-Za-z0-9._/-]+$/.test(file.path) || !/^[0-9a-f]{64}$/.test(file.sha256)) {
    throw new TypeError(`${file.path} cannot stand in a script`);
  }
  const text = toBase64(file.bytes).match(/.{1,76}/g)?.join("\n") ?? "";
  return `put ${file.path} ${file.mode.toString(8)} ${file.sha256} <<'END-OF-FILE'\n${text}\nEND-OF-FILE\n`;
}

/** What a script said went wrong, as the end of a sentence; null when it did not say. */
export function failureIn(output: string): string | null {
  const line = output.split("\n").findLast((one) => one.startsWith("failed "));
  if (line === undefined) return null;
  const [, path = "", why = ""] = /^failed (\/[A-Za-z0-9._/-]{1,200})(?: (.*))?$/.exec(line) ?? [];
  if (path === "") return "the commands for it did not run to their end";
  if (/no space left/i.test(why)) return `its disk is full (${path})`;
  if (/read-only file system/i.test(why)) return `its disk is read-only (${path})`;
  return `${path} could not be written`;
}
