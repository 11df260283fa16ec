/** What a hostile server, or one that passes hostile texts on, says to the admin on an officer's own computer. */
import assert from "node:assert/strict";
import { SCREENS } from "../../admin/ui/screens/list.ts";
import { refusalOf } from "../../admin/client/refusal.ts";
import { detailText } from "../../admin/commands/details.ts";
import { widthOf, wrap } from "../../admin/ui/text/cells.ts";
import { fit, line, textOf } from "../../admin/ui/text/line.ts";
import { calendarTime, dayText, localTime } from "../../admin/ui/text/units.ts";
import { startFakeAdmin } from "../support/fake_admin.ts";
import { createRunningPod } from "../support/world.ts";
import { openedBy } from "./screen_params.ts";
import { withWorld } from "./support.ts";

/** Would set the clipboard and the window's title, and move the cursor, by both kinds of control characters. */
const HOSTILE = "x\x1b]52;c;cm0gLXJm\x07\x1b]0;t\x07\x1b[2J\x9b2J\x9d0;t\x9c\u202e\r\n\x08y";
// deno-lint-ignore no-control-regex
const STEERS = /[\x00-\x1f\x7f-\x9f\u202e]/;
/** Texts that only people read; a server that is hostile in these alone looks like a good one otherwise. */
const SHOWN = /name|title|reason|report|hint|error|image|display|why|what|todo|warning|text/;
/** Keys that open things, ask questions and leave them again, on whatever screen. */
const KEYS = "? esc j enter x n esc e esc a esc p x n esc o : esc d esc B n esc D esc f1 esc".split(" ");

/** The same answer with hostile texts: those that people read, or all. */
function poisoned(value: unknown, isAll: boolean, name = ""): unknown {
  if (typeof value === "string") return isAll || SHOWN.test(name) ? value + HOSTILE : value;
  if (Array.isArray(value)) return value.map((item) => poisoned(item, isAll, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poisoned(item, isAll, key)]));
}

for (const screen of SCREENS) {
  Deno.test(`on the screen ${screen.id} hostile texts of the server steer no terminal and end nothing`, () =>
    withWorld(async (world) => {
      const id = await createRunningPod(world, { name: "workshop" });
      for (const isAll of [false, true]) {
        const fake = await startFakeAdmin(world, {
          first: { screen, params: openedBy(screen, { pod: { id, name: HOSTILE }, sessionId: 1, webhookId: 1 }) },
          columns: 120,
          rows: 40,
          intercept: (request) =>
            (async () => {
              const peer = { isOperator: true, account: "test", address: "192.0.2.9" };
              const answer = await world.app.fetch(request, peer);
              return Response.json(poisoned(await answer.json(), isAll), { status: answer.status });
            })(),
        });
        let hasEnded = false;
        fake.ended.then(() => hasEnded = true);
        for (const key of KEYS) {
          await fake.press(key);
          for (const row of fake.admin.frame) assert.doesNotMatch(textOf(row), STEERS);
        }
        assert(!hasEnded);
        assert.deepEqual(await fake.close(), { exitCode: 0 });
      }
    }));
}

Deno.test("a time that is none is said to be none", () => {
  for (const none of ["", "x", HOSTILE, "2026-13-40T00:00Z", "+999999-01-01T00:00Z"]) {
    assert.equal(localTime(none, "UTC", 0), "(no time)");
    assert.equal(calendarTime(none, "UTC", 0), "(no time)");
  }
  for (const none of [NaN, Infinity, 8.7e15]) {
    assert.equal(localTime(none, "UTC", 0), "(no time)");
    assert.equal(dayText(none, "UTC"), "(no time)");
  }
});

Deno.test("wrap and fit take no more of a text than a screen has use for", () => {
  const most = 500_000;
  for (
    const text of ["x".repeat(most), "x ".repeat(most), "\u00e4".repeat(most), "\n".repeat(most), "\x1b".repeat(most)]
  ) {
    const lines = wrap(text, 40);
    assert(lines.length <= 2_000, `${lines.length} lines`);
    for (const one of lines) assert(widthOf(one) <= 40);
    assert.equal(textOf(fit(line(text), 40)).length, 40);
  }
});

Deno.test("a refusal with sentences and notes without end is cut", () => {
  const notes = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`n${n}`, "x".repeat(1_000)]));
  const refusal = refusalOf(409, JSON.stringify({ error: "x".repeat(1e6), hint: "y".repeat(1e6), ...notes }));
  assert.equal(refusal.message.length, 4_000);
  assert(refusal.notes.length <= 20);
  for (const note of refusal.notes) assert(note.length <= 4_000);
});

Deno.test("details of any depth are told as far as somebody reads them", () => {
  let deep: unknown = "bottom";
  for (let n = 0; n < 100_000; n++) deep = n % 2 === 0 ? { a: deep } : [deep];
  assert.equal(detailText({ name: "workshop", deep }), "name: workshop; deep: (a: (a: (a: (a: …))))");
  assert.equal(detailText({ much: 1e18 }), "much: 1000000000000000000");
});
