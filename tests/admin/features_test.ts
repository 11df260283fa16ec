import assert from "node:assert/strict";
import { FEATURES, NOT_YET, TESTS } from "./features.ts";

/** Files whose tests run the program in a terminal of tmux. */
const REAL = /^(?:\w+_)?tmux_test\.ts$|^newcomer_test\.ts$/;

Deno.test("every feature of the admin has a test that does it in a real terminal, or is named as not built yet", async () => {
  const names = new Map<string, string>();
  const ids = FEATURES.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) {
    const test = TESTS[id];
    assert.notEqual(test !== undefined, NOT_YET.has(id), `${id}: either a test, or NOT_YET`);
    if (test === undefined) continue;
    const [file, name] = test;
    const text = names.get(file) ?? await Deno.readTextFile(new URL(file, import.meta.url));
    names.set(file, text);
    assert(text.includes(JSON.stringify(name)), `${id}: ${file} has no test "${name}"`);
  }
  const faked = Object.entries(TESTS).flatMap(([id, [file]]) => REAL.test(file) ? [] : [`${id}: ${file}`]);
  assert.deepEqual(faked, [], "these are not done in a real terminal");
  for (const id of [...Object.keys(TESTS), ...NOT_YET]) assert(ids.includes(id), `${id} is no feature`);
});
