/** Lists that are read page by page, newest first: the first page stays fresh while older ones are added to it. */
import type { Reading, Resource } from "../core/cache.ts";
import type { Ui } from "../core/screen.ts";

/** Rows of one page. */
export const PAGE = 200;
/** The second page begins at a multiple of it: rows that are read twice, against how often older pages are read again. */
const STEP = 50;
/** A list of so many pages is long enough for a screen; the shell goes on from there. */
const MOST_PAGES = 50;

interface Row {
  readonly id: number;
}

/** The page that ends before an id; null for the newest one. */
export type PageOf<R> = (before: number | null) => Resource<readonly R[]>;

export interface Pages<R> {
  /** All rows that are known, as one value; the problem of whichever page has one. */
  readonly reading: Reading<readonly R[]>;
  /** True when a further page can be asked for now. */
  readonly hasMore: boolean;
  readonly isLoadingMore: boolean;
}

/** Reads the newest `count` pages of a list. Pages that are not here yet are loaded. */
export function readPages<R extends Row>(ui: Pick<Ui, "read">, pageOf: PageOf<R>, count: number): Pages<R> {
  const first = ui.read(pageOf(null));
  if (first.value === undefined) return { reading: first, hasMore: false, isLoadingMore: false };
  const parts = [first.value];
  let { problem } = first;
  for (let last = parts[0]!; parts.length < count && last.length === PAGE;) {
    const oldest = last.at(-1)!.id;
    const older = ui.read(pageOf(parts.length === 1 ? fixedAbove(oldest) : oldest));
    problem ??= older.problem;
    if (older.value === undefined) {
      const reading = { ...first, value: joined(parts), problem };
      return { reading, hasMore: false, isLoadingMore: older.problem === null };
    }
    parts.push(last = older.value);
  }
  const hasMore = parts.at(-1)!.length === PAGE && count < MOST_PAGES;
  return { reading: { ...first, value: joined(parts), problem }, hasMore, isLoadingMore: false };
}

/**
 * Where the second page begins. The first one moves on with every new row; were the second one asked for by the last id of
 * the first, all older pages would be loaded again each time. A round number above it moves seldom, and leaves no gap.
 */
function fixedAbove(id: number): number {
  return Math.ceil((id + 1) / STEP) * STEP;
}

/** Joined rows by their first page, so that the same pages give the same list. */
const lists = new WeakMap<
  readonly Row[],
  { readonly parts: readonly (readonly Row[])[]; readonly rows: readonly Row[] }
>();

function joined<R extends Row>(parts: readonly (readonly R[])[]): readonly R[] {
  const first = parts[0]!;
  if (parts.length === 1) return first;
  const kept = lists.get(first);
  if (kept !== undefined && kept.parts.length === parts.length && kept.parts.every((part, at) => part === parts[at])) {
    return kept.rows as readonly R[];
  }
  const rows: R[] = [...first];
  for (const part of parts.slice(1)) rows.push(...part.filter(({ id }) => id < rows.at(-1)!.id));
  lists.set(first, { parts, rows });
  return rows;
}
