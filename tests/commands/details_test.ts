import assert from "node:assert/strict";
import { whoText } from "../../admin/commands/audit.ts";
import { detailText } from "../../admin/commands/details.ts";
import { failureOf } from "../../admin/commands/failure.ts";
import { flagTime, wallSpan, withWallTimes } from "../../admin/commands/session_times.ts";
import { Refusal } from "../../admin/client/refusal.ts";
import { usdText } from "../../server/spend/usd_text.ts";

Deno.test("detailText shows names and values as people read them, without what is empty", () => {
  const sessions = [
    { id: 7, start_at: "2026-09-04T01:00:00+00:00", stop_at: "2026-09-04T03:00:00+00:00" },
    { id: 8, start_at: "2026-09-11T01:00:00+00:00", stop_at: "2026-09-11T03:00:00+00:00" },
  ];
  assert.equal(
    detailText({ sessions: sessions.slice(0, 1), title: null, over_budget: false }),
    "sessions: 7 (2026-09-04 01:00:00Z to 2026-09-04 03:00:00Z); over budget: no",
  );
  assert.equal(
    detailText({ changed: { monthly_budget_usd: 150, podImage: null } }),
    "changed: (monthly budget usd: 150)",
  );
  assert.equal(detailText({ changed: ["a", "b"], minutes: 30, before: {}, none: [] }), "changed: a, b; minutes: 30");
  assert.equal(detailText({ last_seen: 1_790_000_000_000 }), "last seen: 2026-09-21 14:13:20Z");
  assert.equal(detailText({}), "");
  const long = detailText({ sessions, text: "\u{1f600}".repeat(90) });
  assert.equal(Array.from(long).length, 100);
  assert.match(long, /…$/);
});

Deno.test("whoText names people, the operator and the server, and shows an id only without a name", () => {
  const who = (actor_kind: string, actor_id: string | null, actor_name: string | null) =>
    whoText({ actor_kind, actor_id, actor_name });
  assert.equal(who("local", "root", null), "the server's operator");
  assert.equal(who("server", "schedule", "the session schedule"), "the session schedule");
  assert.equal(who("server", "reconcile", null), "the server");
  assert.equal(who("external", null, null), "somebody outside orgpods");
  assert.equal(who("stranger", null, null), "somebody unknown");
  assert.equal(who("stranger", "200000000000000001", null), "somebody refused (200000000000000001)");
  assert.equal(who("officer", "200000000000000001", "Ada"), "Ada");
  assert.equal(who("member", "200000000000000001", null), "200000000000000001");
});

Deno.test("failureOf says the flags in place of the API's fields", () => {
  const lines = (message: string, notes: string[] = []) => failureOf(new Refusal(message, 5, notes), false).lines;
  assert.deepEqual(lines('The budget is spent; send "over_budget": true to go on all the same'), [
    "error: The budget is spent; add --over-budget to go on all the same",
  ]);
  assert.deepEqual(lines("repeat.count must be a whole number from 1 to 100", ["hint: change stop_at"]), [
    "error: --count must be a whole number from 1 to 100",
    "hint: change --stop",
  ]);
  assert.deepEqual(lines("Unknown field: restart_at"), ["error: Unknown field: restart_at"]);
});

Deno.test("times of sentences, spans and flags are on the wall of the zone that was asked for", () => {
  const iso = "2026-09-04T01:00:00+00:00";
  assert.equal(
    withWallTimes(`Tried again until ${iso}. Or not`, "America/Phoenix"),
    "Tried again until Thu 2026-09-03 18:00 MST. Or not",
  );
  assert.equal(flagTime(iso, "America/Phoenix"), "2026-09-03T18:00-07:00");
  assert.equal(flagTime(iso, "UTC"), "2026-09-04T01:00Z");
  assert.equal(
    wallSpan(iso, "2026-09-04T03:00:00+00:00", "UTC"),
    "Fri 2026-09-04 01:00 UTC to Fri 2026-09-04 03:00 UTC",
  );
  assert.match(wallSpan(iso, iso, "America/Phoenix"), / MST, America\/Phoenix$/);
});

Deno.test("usdText has four decimals below one USD", () => {
  assert.deepEqual([0, 0.0012, 0.5, 1, 12.345, -0.5].map(usdText), [
    "0.00",
    "0.0012",
    "0.5000",
    "1.00",
    "12.35",
    "-0.5000",
  ]);
});
