/** What a new officer does by mistake, or looks for at the wrong moment: nothing is lost, and the screen says what is. */
import assert from "node:assert/strict";
import { completions, type Offer } from "../../admin/ui/core/offers.ts";
import { helpLines } from "../../admin/ui/core/help.ts";
import { textOf } from "../../admin/ui/text/line.ts";
import { inLabels } from "../../admin/ui/widgets/form/check.ts";
import type { Field } from "../../admin/ui/widgets/form/fields.ts";
import { podsNow, withPods } from "./support.ts";

const offer = (more: Partial<Offer>): Offer => ({
  keys: [],
  shown: null,
  word: null,
  takes: null,
  label: "",
  about: "",
  isOffered: true,
  isMinor: false,
  run: () => {},
  ...more,
});

Deno.test("helpLines shows the key of what does nothing now, and what two tables share once", () => {
  const move = offer({ keys: ["up"], shown: "↑↓", about: "move" });
  const later = offer({ shown: "s", about: "start the pod", isOffered: false });
  const word = offer({ word: "next-month", about: "the month after", isOffered: false });
  const text = helpLines("What it is for.", [move, move, later, word], 80).map(textOf).join("\n");
  assert.match(text, /^ {2}s {17}start the pod \(not now\)$/m);
  assert.match(text, /^ {2}:next-month +the month after \(not now\)$/m);
  assert.equal(text.match(/move/g)?.length, 1, text);
});

Deno.test("completions begins with the words that have no key, before anything is typed", () => {
  const offers = [
    offer({ keys: ["x"], shown: "x", word: "stop" }),
    offer({ word: "spend" }),
    offer({ word: "events" }),
  ];
  const words = (typed: string) => completions(offers, typed).map(({ word }) => word);
  assert.deepEqual(words(""), ["spend", "events", "stop"]);
  assert.deepEqual(words("s"), ["stop", "spend"]);
});

Deno.test("inLabels says the names of fields as the form does, and leaves other words", () => {
  const fields: Field[] = [
    { kind: "text", name: "start_at", label: "Start" },
    { kind: "text", name: "stop_at", label: "Stop" },
    { kind: "text", name: "name", label: "Name" },
  ];
  assert.equal(inLabels("stop_at must be after start_at", fields), "Stop must be after Start");
  assert.equal(inLabels("name must be the name of a pod", fields), "Name must be the name of a pod");
  assert.equal(inLabels("start_at must be a time, or null", fields), "Start must be a time, or empty");
  assert.equal(inLabels("title must be text", fields), "title must be text");
});

Deno.test("another name than the pod's terminates nothing, and that is said", () =>
  withPods(["workshop", "lab"], {}, async (admin, world) => {
    await admin.until(/^> .*workshop|^> lab/m);
    await admin.press("D");
    await admin.until("press enter to terminate it");
    await admin.type("something else");
    await admin.press("enter");
    await admin.until("! That is another name. Nothing is done yet.");
    await admin.press("ctrl-u");
    await admin.untilGone("That is another name");
    await admin.press("esc");
    await admin.untilGone("press enter to terminate it");
    assert.equal((await podsNow(world)).length, 2);
  }));
