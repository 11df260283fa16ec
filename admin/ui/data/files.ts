/** Files of pods as the screens know them. Paths are bytes: a name on a pod may be any bytes but `/` and NUL. */
import { SECOND } from "../../../server/clock.ts";
import { type Answer, type Api, read } from "../../client/api.ts";
import { Refusal } from "../../client/refusal.ts";
import { base64url, bytesOf, inFolder, lastName, pathFields, shownPath } from "../../commands/pod_path.ts";
import type { Resource } from "../core/cache.ts";
import { size } from "../text/units.ts";

/** The pod whose files are shown; the name is for people. */
export interface PodRef {
  readonly id: string;
  readonly name: string;
}

export const WORKSPACE = new TextEncoder().encode("/workspace");

/** Entries that are loaded at first, and how many the server gives at once. */
export const FIRST_ENTRIES = 1_000;
const MOST_AT_ONCE = 10_000;

function page(api: Api, org: string, id: string, path: Uint8Array, limit: number, cursor: string | null) {
  const query = { ...pathFields(path), limit: String(limit), ...(cursor === null ? {} : { cursor }) };
  return read(api.org.pods[":id"].files.$get({ param: { org, id }, query }));
}

type Page = Awaited<ReturnType<typeof page>>["value"];
export type Entry = Page["files"][number];

/** The beginning of a folder. */
export interface Listing {
  /** Folders first, then by the bytes of the name. */
  readonly entries: readonly Entry[];
  /** How many there are in all. */
  readonly total: number;
  readonly isWhole: boolean;
}

/** Loads `wanted` entries of a folder, page by page. A folder that changes meanwhile may miss what came in. */
async function load(api: Api, org: string, id: string, path: Uint8Array, wanted: number): Promise<Listing> {
  const entries: Entry[] = [];
  let cursor: string | null = null;
  let total: number;
  do {
    const { value }: Answer<Page> = await page(
      api,
      org,
      id,
      path,
      Math.min(MOST_AT_ONCE, wanted - entries.length),
      cursor,
    );
    for (const entry of value.files) entries.push(entry);
    ({ cursor, total } = value);
  } while (cursor !== null && entries.length < wanted);
  return { entries, total: Math.max(total, entries.length), isWhole: cursor === null };
}

/**
 * The first `wanted` entries of a folder. `since` says since when the pod has been running: what was listed before is not
 * there any more on a pod that has been started anew. The longer a list is, the less often it is loaded by itself.
 */
export const listResource = (id: string, path: Uint8Array, wanted: number, since: string | null) => ({
  key: `files ${id} ${since} ${base64url(path)} ${wanted}`,
  everyMs: wanted === FIRST_ENTRIES ? 5 * SECOND : wanted === MOST_AT_ONCE ? 30 * SECOND : null,
  load: (api: Api, org: string) => load(api, org, id, path, wanted),
} satisfies Resource<unknown>);

/** How many entries to load next. */
export function moreThan(wanted: number): number {
  return wanted < MOST_AT_ONCE ? MOST_AT_ONCE : wanted + MOST_AT_ONCE;
}

/** How many were loaded before that many. */
export function fewerThan(wanted: number): number {
  return wanted <= MOST_AT_ONCE ? FIRST_ENTRIES : wanted - MOST_AT_ONCE;
}

export function entryName({ name, name_b64 }: Entry): Uint8Array {
  return bytesOf(name, name_b64);
}

/** The name of an entry for people. */
export function entryText(entry: Entry): string {
  return entry.name_b64 === undefined ? entry.name : shownPath(entryName(entry));
}

export function entryPath(folder: Uint8Array, entry: Entry): Uint8Array {
  return inFolder(folder, entryName(entry));
}

/** What a table calls the entry of a name. */
export function entryKey(name: Uint8Array): string {
  return base64url(name);
}

/** The last name of a path for people; `/` for the top. */
export function nameOf(path: Uint8Array): string {
  const name = lastName(path);
  return name === null ? "/" : shownPath(name);
}

/** The folder that a path lies in; null for `/`. */
export function parentOf(path: Uint8Array): Uint8Array | null {
  const name = lastName(path);
  if (name === null) return null;
  const end = path.lastIndexOf(0x2f, path.length - name.length - 1);
  return path.subarray(0, Math.max(1, end));
}

/** What stands at a path; a link itself. */
export async function stateAt(api: Api, org: string, id: string, path: Uint8Array) {
  return (await read(api.org.pods[":id"].files.stat.$post({ param: { org, id }, json: pathFields(path) }))).value;
}

/** What a folder holds, at any depth. */
export interface Inside {
  readonly folders: number;
  readonly files: number;
  /** Of the files, in bytes. */
  readonly bytes: number;
  /** False when it was too much to be counted to the end, or when a folder could not be read. */
  readonly isAll: boolean;
}

/** Folders that are looked into, and entries that are counted, before a count is given up. */
const MOST_FOLDERS = 200;
const MOST_COUNTED = 20_000;

/**
 * Counts what is in a folder, until it is too much or `isLate`. Links are not followed. Throws when the folder itself cannot
 * be read.
 */
export async function countInside(
  api: Api,
  org: string,
  id: string,
  path: Uint8Array,
  isLate: () => boolean,
): Promise<Inside> {
  const folders = [path];
  const inside = { folders: 0, files: 0, bytes: 0, isAll: true };
  for (let at = 0; at < folders.length; at++) {
    const counted = inside.folders + inside.files;
    if (at >= MOST_FOLDERS || counted >= MOST_COUNTED || isLate()) return { ...inside, isAll: false };
    const { entries, isWhole } = await load(api, org, id, folders[at]!, MOST_COUNTED - counted).catch((error) => {
      // A folder in it may be closed to us, or gone by now.
      if (at === 0 || !(error instanceof Refusal) || ![403, 404, 409].includes(error.status ?? 0)) throw error;
      return { entries: [], isWhole: false };
    });
    inside.isAll &&= isWhole;
    for (const entry of entries) {
      if (entry.type === "directory" && !entry.link) {
        inside.folders++;
        folders.push(entryPath(folders[at]!, entry));
      } else {
        inside.files++;
        inside.bytes += entry.link ? 0 : entry.size;
      }
    }
  }
  return inside;
}

/** `3 folders and 120 files (1.2 GB)`. */
export function insideText({ folders, files, bytes, isAll }: Inside): string {
  const count = (number: number, one: string) => `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
  const parts = [...(folders > 0 ? [count(folders, "folder")] : []), ...(files > 0 ? [count(files, "file")] : [])];
  if (parts.length === 0) return isAll ? "nothing" : "what could not be counted";
  return `${isAll ? "" : "more than "}${parts.join(" and ")} (${size(bytes)})`;
}
