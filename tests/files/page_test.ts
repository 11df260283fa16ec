import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { collectPage, SLACK, type Sorted } from "../../server/files/page.ts";

const entryOf = (name: string) => ({ name: new TextEncoder().encode(name), attributes: { mode: 0o100644 } });
const nameOf = ({ name }: Pick<Sorted, "name">) => Buffer.from(name).toString();

/** Numbers from 0 to `count` in an order that looks like none. */
const shuffled = (count: number) => Array.from({ length: count }, (_, at) => (at * 7_919) % count);

Deno.test("collectPage gives each entry on one page, in order, whatever order they come in", () => {
  const entries = shuffled(5_003).map((at) => ({ entry: entryOf(`n${at}`), isFolder: at % 3 === 0 }));
  const expected = entries.toSorted((a, b) =>
    Number(b.isFolder) - Number(a.isFolder) || Buffer.compare(a.entry.name, b.entry.name)
  ).map(({ entry }) => nameOf(entry));
  const paged: string[] = [];
  let after: Sorted | null = null;
  for (let isLast = false; !isLast;) {
    const collector = collectPage(700, after);
    for (const { entry, isFolder } of entries) collector.add(entry, isFolder);
    const page = collector.page();
    paged.push(...page.shown.map(nameOf));
    ({ isLast } = page);
    after = page.shown.at(-1) ?? null;
  }
  assert.deepEqual(paged, expected);
});

Deno.test("collectPage says that a page is the last one when nothing comes after it", () => {
  for (const [count, isLast] of [[0, true], [2, true], [3, false]] as const) {
    const collector = collectPage(2, null);
    for (const at of shuffled(count)) collector.add(entryOf(`n${at}`), false);
    assert.equal(collector.page().isLast, isLast, `${count} entries`);
  }
});

Deno.test("collectPage holds no more than a page and its slack of the longest listing", () => {
  const collector = collectPage(100, null);
  let most = 0;
  for (const at of shuffled(100_000)) {
    collector.add(entryOf(`n${at}`), false);
    most = Math.max(most, collector.held);
  }
  assert(most <= 100 + SLACK, `${most} entries`);
  assert.equal(collector.page().shown.length, 100);
});

Deno.test("collectPage ends a page early when its names are longer than those of any honest folder", () => {
  const collector = collectPage(10_000, null);
  for (const at of shuffled(4_000)) collector.add(entryOf(`${at}`.padEnd(4_096, "n")), false);
  const { shown, isLast } = collector.page();
  assert.deepEqual([shown.length, isLast], [3 * 1024 * 1024 / 4_096, false]);
});
