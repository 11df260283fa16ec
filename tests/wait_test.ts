import assert from "node:assert/strict";
import { isOver } from "../server/wait.ts";

Deno.test("isOver is true without a wait, at its end, and when the clock was set back behind its beginning", () => {
  const wait = { from: 1_000, until: 2_000 };
  assert.equal(isOver(undefined, 0), true);
  assert.deepEqual([999, 1_000, 1_999, 2_000].map((now) => isOver(wait, now)), [true, false, false, true]);
});
