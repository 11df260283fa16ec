/** One page out of a listing that is too long to be kept: only what may be on the page is held. */
import { Buffer } from "node:buffer";
import type { DirectoryEntry } from "../ssh/sftp/mod.ts";

/** An entry with its place in the order: folders first, then by the bytes of the name. */
export interface Sorted {
  readonly isFolder: boolean;
  readonly name: Uint8Array;
}

interface Listed extends Sorted {
  readonly entry: DirectoryEntry;
}

export interface Page {
  readonly shown: readonly Listed[];
  /** Nothing comes after what is shown. */
  readonly isLast: boolean;
}

export interface PageCollector {
  add(entry: DirectoryEntry, isFolder: boolean): void;
  page(): Page;
  /** Entries in memory. */
  readonly held: number;
}

/** How many more than a page are held before the last of them are dropped: sorting for each entry would take too long. */
export const SLACK = 1_000;
/** Of all names of a page: more than those of 10,000 entries, each as long as Linux lets it be. */
const MAX_NAME_BYTES = 3 * 1024 * 1024;

const inOrder = (a: Sorted, b: Sorted) => Number(b.isFolder) - Number(a.isFolder) || Buffer.compare(a.name, b.name);

/** Collects the first `limit` entries behind `after`; null for the first page. */
export function collectPage(limit: number, after: Sorted | null): PageCollector {
  const held: Listed[] = [];
  let isCut = false;
  /** Nothing from here on is on the page. */
  let end: Sorted | undefined;

  /** Keeps what is on the page, with at least one entry, so that there is a next page. */
  const cut = () => {
    held.sort(inOrder);
    let bytes = 0;
    const over = held.findIndex(({ name }, at) => at >= limit || ((bytes += name.length) > MAX_NAME_BYTES && at > 0));
    if (over < 0) return;
    isCut = true;
    end = held[over];
    held.length = over;
  };

  return {
    add(entry, isFolder) {
      const one = { entry, isFolder, name: entry.name };
      if (after !== null && inOrder(one, after) <= 0) return;
      if (end !== undefined && inOrder(one, end) >= 0) return;
      held.push(one);
      if (held.length >= limit + SLACK) cut();
    },
    page() {
      cut();
      return { shown: held, isLast: !isCut };
    },
    get held() {
      return held.length;
    },
  };
}
