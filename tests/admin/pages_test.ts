import assert from "node:assert/strict";
import type { Reading, Resource } from "../../admin/ui/core/cache.ts";
import { PAGE, type PageOf, readPages } from "../../admin/ui/data/pages.ts";

interface Row {
  readonly id: number;
}

/** A server with rows, and a cache that loads each page once, when it is read. */
function scene(newest: number) {
  const state = { newest, asked: [] as (number | null)[] };
  const pageOf: PageOf<Row> = (before) => ({ key: String(before), everyMs: null, load: () => Promise.reject() });
  const kept = new Map<string, Row[]>();
  const load = (before: number | null) => {
    const from = Math.min(state.newest, (before ?? Infinity) - 1);
    return Array.from({ length: Math.min(PAGE, Math.max(0, from)) }, (_, at) => ({ id: from - at }));
  };
  const read = <T>({ key }: Resource<T>): Reading<T> => {
    const before = key === "null" ? null : Number(key);
    if (!kept.has(key)) {
      state.asked.push(before);
      kept.set(key, load(before));
    }
    return { value: kept.get(key) as T, at: 0, problem: null, isLoading: false };
  };
  return {
    state,
    pages: (count: number) => readPages({ read }, pageOf, count),
    refreshFirst: () => void kept.set("null", load(null)),
  };
}

const ids = (rows: readonly Row[] | undefined) => rows?.map(({ id }) => id) ?? [];

Deno.test("readPages gives each row once and in order, over pages that overlap", () => {
  const { pages } = scene(733);
  const all = Array.from({ length: 733 }, (_, at) => 733 - at);
  assert.deepEqual(ids(pages(1).reading.value), all.slice(0, PAGE));
  assert.equal(pages(1).hasMore, true);
  const four = ids(pages(9).reading.value);
  assert.deepEqual(four, all);
  assert.equal(pages(9).hasMore, false);
});

Deno.test("readPages leaves no gap when new rows push the first page on, and seldom loads older pages again", () => {
  const { state, pages, refreshFirst } = scene(500);
  pages(3);
  const before = state.asked.length;
  let reloads = 0;
  for (let newest = 501; newest <= 900; newest++) {
    state.newest = newest;
    refreshFirst();
    const shown = ids(pages(3).reading.value);
    assert.equal(shown[0], newest);
    for (const [at, id] of shown.entries()) assert.equal(id, newest - at);
    if (state.asked.length > before + reloads) reloads = state.asked.length - before;
  }
  assert(reloads <= 20, `${reloads} pages were loaded again`);
});

Deno.test("readPages gives the same list for the same pages, so that it is arranged once", () => {
  const { pages } = scene(600);
  assert.equal(pages(2).reading.value, pages(2).reading.value);
});

Deno.test("readPages shows what it has while an older page is loading, and that page's problem when it fails", () => {
  const first = Array.from({ length: PAGE }, (_, at) => ({ id: 1_000 - at }));
  const problem = { sentence: "no" };
  const read = (older: Partial<Reading<unknown>>) => <T>({ key }: Resource<T>): Reading<T> => {
    const nothing = { value: undefined, at: null, problem: null, isLoading: true };
    return (key === "null" ? { ...nothing, value: first, isLoading: false } : { ...nothing, ...older }) as Reading<T>;
  };
  const pageOf: PageOf<Row> = (before) => ({ key: String(before), everyMs: null, load: () => Promise.reject() });
  const loading = readPages({ read: read({}) }, pageOf, 2);
  assert.deepEqual([loading.reading.value?.length, loading.isLoadingMore, loading.hasMore], [PAGE, true, false]);
  const failed = readPages({ read: read({ problem: problem as never }) }, pageOf, 2);
  assert.deepEqual([failed.reading.value?.length, failed.isLoadingMore, failed.reading.problem], [
    PAGE,
    false,
    problem,
  ]);
});
