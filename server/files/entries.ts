/** Folders and single files as officers see them. */
import { Buffer } from "node:buffer";
import { AppError } from "../errors.ts";
import {
  type Attributes,
  type DirectoryEntry,
  type FileKind,
  kindOf,
  type Sftp,
  SftpError,
  type SftpErrorKind,
} from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { stateTag } from "./etag.ts";
import { collectPage, type Sorted } from "./page.ts";
import { base64url, joinPath, pathFields, shownName, splitPath } from "./path.ts";
import { entryPlaceOf, placeOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";

/** What something is, in the words of the contract; `kind` says it for what is neither. */
interface EntryView {
  /** Of what a link leads to; a broken link is a `file`. */
  readonly type: "directory" | "file";
  readonly kind?: Exclude<FileKind, "file" | "directory">;
  readonly link?: true;
  /** Bytes; of a link itself, the length of its target's name. */
  readonly size: number;
  /** Seconds since 1970. */
  readonly modified: number;
  /** Three octal digits. */
  readonly permissions: string;
  readonly uid: number;
  readonly gid: number;
}

export interface FileEntry extends EntryView {
  /** With U+FFFD where the bytes are not UTF-8; then `name_b64` has them. */
  readonly name: string;
  readonly name_b64?: string;
}

export interface FileList {
  readonly path: string;
  readonly path_b64?: string;
  readonly files: FileEntry[];
  /** For the next page; null on the last one. */
  readonly cursor: string | null;
  readonly total: number;
}

export interface FileState extends EntryView {
  readonly path: string;
  readonly path_b64?: string;
  /** Where a link leads, as it is written there. */
  readonly target?: string;
  readonly target_b64?: string;
  /** Of a regular file, as a download has it. */
  readonly etag?: string;
}

/** Links whose targets are asked for in one listing; further ones count as files. */
const MAX_LINKS = 1_000;

/**
 * One page of a folder, directories first, then by the bytes of the name. Each page lists the folder anew; the cursor is
 * the last entry of the page before, so nothing is kept between two pages, and of a listing only what may be on the page.
 * Throws SftpErrors.
 */
export async function listFolder(
  deps: FileDeps,
  session: PodSession,
  path: Uint8Array,
  page: { readonly limit: number; readonly cursor: string | undefined },
): Promise<FileList> {
  const place = await placeOf(session.root, path, session.call);
  const sftp = await session.as(place.user);
  const state = await sftp.stat(place.path, session.call);
  if (kindOf(state) !== "directory") throw new AppError("pod_refused", "The path is not a directory");
  const collector = collectPage(page.limit, page.cursor === undefined ? null : cursorOf(page.cursor));
  const links: DirectoryEntry[] = [];
  let total = 0;
  for await (const part of sftp.list(place.path, { deadlineMs: deps.fileTimings.listMs })) {
    total += part.length;
    for (const entry of part) {
      if (isLink(entry) && links.length < MAX_LINKS) links.push(entry);
      else collector.add(entry, kindOf(entry.attributes) === "directory");
    }
  }
  const folders = await linkedFolders(sftp, place.path, links, session);
  for (const link of links) collector.add(link, folders.has(link.name));
  const { shown, isLast } = collector.page();
  const last = shown.at(-1);
  return {
    ...pathFields(path),
    files: shown.map(({ entry, isFolder }) => ({ ...nameFields(entry.name), ...viewOf(entry.attributes, isFolder) })),
    cursor: last === undefined || isLast ? null : `${last.isFolder ? "d" : "f"}${base64url(last.name)}`,
    total,
  };
}

function cursorOf(text: string): Sorted {
  return { isFolder: text.startsWith("d"), name: Uint8Array.from(Buffer.from(text.slice(1), "base64url")) };
}

function nameFields(name: Uint8Array): { name: string; name_b64?: string } {
  const { text, b64 } = shownName(name);
  return b64 === undefined ? { name: text } : { name: text, name_b64: b64 };
}

const isLink = ({ attributes }: DirectoryEntry) => kindOf(attributes) === "link";
/** The names of those links among the entries that lead to folders. Some may be broken, or lead where we may not look. */
async function linkedFolders(
  sftp: Sftp,
  folder: Uint8Array,
  entries: readonly DirectoryEntry[],
  session: PodSession,
): Promise<ReadonlySet<Uint8Array>> {
  const found = new Set<Uint8Array>();
  const ask = async ({ name }: DirectoryEntry) => {
    const state = await unless(
      ["not_found", "permission", "failure", "invalid", "invalid_path"],
      () => sftp.stat(joinPath(folder, name), session.call),
    );
    if (state !== undefined && kindOf(state) === "directory") found.add(name);
  };
  await Promise.all(entries.filter(isLink).map(ask));
  return found;
}

async function unless<T>(kinds: readonly SftpErrorKind[], call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof SftpError && kinds.includes(error.kind)) return undefined;
    throw error;
  }
}

function viewOf(attributes: Attributes, isFolder: boolean): EntryView {
  const kind = kindOf(attributes);
  return {
    type: isFolder ? "directory" : "file",
    ...(kind === "file" || kind === "directory" ? {} : { kind }),
    ...(kind === "link" ? { link: true as const } : {}),
    size: attributes.size ?? 0,
    modified: attributes.mtime ?? 0,
    permissions: ((attributes.mode ?? 0) & 0o777).toString(8).padStart(3, "0"),
    uid: attributes.uid ?? 0,
    gid: attributes.gid ?? 0,
  };
}

/** One file, folder or link; a link is not followed but for its `type`. Throws SftpErrors. */
export async function statFile(session: PodSession, path: Uint8Array): Promise<FileState> {
  const place = await entryPlaceOf(session.root, path, session.call);
  const sftp = await session.as(place.user);
  const state = await sftp.lstat(place.path, session.call);
  const kind = kindOf(state);
  const target = kind === "link" ? shownName(await sftp.readLink(place.path, session.call)) : null;
  const name = splitPath(place.path)?.name ?? new Uint8Array();
  const parent = splitPath(place.path)?.parent ?? place.path;
  const folders = await linkedFolders(sftp, parent, [{ name, attributes: state }], session);
  return {
    ...pathFields(path),
    ...viewOf(state, kind === "directory" || folders.has(name)),
    ...(target === null ? {} : { target: target.text }),
    ...(target?.b64 === undefined ? {} : { target_b64: target.b64 }),
    ...(kind === "file" ? { etag: stateTag(state) } : {}),
  };
}
