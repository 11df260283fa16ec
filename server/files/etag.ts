/**
 * Two kinds of ETag. `"sha256-…"` names a content and comes from `read`, which has it all. `"<mtime>-<size>"` (hexadecimal)
 * comes from downloads and `stat`, which have not; SFTP tells whole seconds, so it can miss a change within one.
 */
import { createHash } from "node:crypto";
import type { Attributes } from "../ssh/sftp/mod.ts";

export function contentTag(content: Uint8Array): string {
  return `"sha256-${createHash("sha256").update(content).digest("base64url")}"`;
}

export function isContentTag(tag: string): boolean {
  return tag.startsWith('"sha256-');
}

export function stateTag({ mtime = 0, size = 0 }: Attributes): string {
  return `"${mtime.toString(16)}-${size.toString(16)}"`;
}
