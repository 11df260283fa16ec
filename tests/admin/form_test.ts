/** Forms: their fields, what is drawn of them, and what one does in them. */
import assert from "node:assert/strict";
import { z } from "zod";
import { createRequestSchema } from "../../server/pods/create_request.ts";
import { fieldOf, mistakesIn } from "../../admin/ui/widgets/form/check.ts";
import {
  editAt,
  type Field,
  newForm,
  rowAdded,
  rowRemoved,
  stopsOf,
  turned,
  valuesOf,
  withEdit,
} from "../../admin/ui/widgets/form/fields.ts";
import { formScreen } from "../../admin/ui/widgets/form/screen.ts";
import { drawForm } from "../../admin/ui/widgets/form/view.ts";
import type { Ui } from "../../admin/ui/core/screen.ts";
import { editOf } from "../../admin/ui/text/edit.ts";
import { line, lineWidth, textOf } from "../../admin/ui/text/line.ts";
import { withHost } from "./host.ts";

const FIELDS: readonly Field[] = [
  { name: "name", label: "Name", kind: "text", hint: "Empty for a made-up one." },
  { name: "use_cpu_only", label: "Kind", kind: "switch", on: "CPU", off: "GPU" },
  {
    name: "cloud_type",
    label: "Cloud",
    kind: "choice",
    options: [{ value: "SECURE", label: "Secure" }, { value: "COMMUNITY", label: "Community" }],
  },
  {
    name: "gpu_type_id",
    label: "GPU",
    kind: "suggest",
    when: (values) => values.use_cpu_only !== true,
    suggestions: () => [{ value: "NVIDIA L4", note: "$0.43/hr" }, { value: "NVIDIA A40" }],
  },
  {
    name: "volume_in_gb",
    label: "Volume",
    kind: "number",
    initial: 10,
    unit: "GB",
    when: (values) => values.use_cpu_only !== true,
  },
  { name: "env", label: "Env", kind: "rows", cells: ["name", "value"] },
];
const bodyOf = (values: Record<string, unknown>) => ({
  ...values,
  env: Object.fromEntries((values.env as string[][] | undefined ?? []).map(([name, value]) => [name, value])),
});

Deno.test("valuesOf leaves out what is empty and what is not asked for", () => {
  let state = newForm(FIELDS);
  assert.deepEqual(valuesOf(FIELDS, state), { use_cpu_only: false, cloud_type: "SECURE", volume_in_gb: 10, env: [] });
  state = turned(turned(state, FIELDS[1]!, 1), FIELDS[2]!, -1);
  assert.deepEqual(valuesOf(FIELDS, state), { use_cpu_only: true, cloud_type: "COMMUNITY", env: [] });
  assert.deepEqual(stopsOf(FIELDS, state).map(({ kind }) => kind), ["field", "field", "field", "add", "send"]);
});

Deno.test("a number that is none goes to the schema as it was typed", () => {
  const state = { ...newForm(FIELDS), focus: 4 };
  assert.equal(valuesOf(FIELDS, withEdit(FIELDS, state, editOf("ten"))).volume_in_gb, "ten");
  assert.equal(valuesOf(FIELDS, withEdit(FIELDS, state, editOf("2,5"))).volume_in_gb, 2.5);
  assert.equal(valuesOf(FIELDS, withEdit(FIELDS, state, editOf(" "))).volume_in_gb, undefined);
});

Deno.test("rows are added, typed into and removed", () => {
  const env = FIELDS[5] as Field & { kind: "rows" };
  let state = rowAdded(FIELDS, newForm(FIELDS), env);
  state = withEdit(FIELDS, state, editOf("A"));
  state = withEdit(FIELDS, { ...state, focus: state.focus + 1 }, editOf("1"));
  assert.deepEqual(valuesOf(FIELDS, state).env, [["A", "1"]]);
  assert.notEqual(editAt(FIELDS, state), null);
  assert.deepEqual(valuesOf(FIELDS, rowRemoved(FIELDS, state)).env, []);
});

Deno.test("mistakesIn finds the field of each sentence of the server's own schema", () => {
  const mistakes = mistakesIn(createRequestSchema, { volume_in_gb: 5, env: { "1X": "a" } }, FIELDS);
  assert.deepEqual(mistakes.map(({ field }) => field), ["volume_in_gb", "env"]);
  assert.match(mistakes[0]!.sentence, /volume_in_gb must be 0 or from 10 to 2000/);
  assert.equal(fieldOf("The name is taken, and name it is", FIELDS), "name");
  assert.equal(fieldOf("Nothing of the kind", FIELDS), null);
});

Deno.test("drawForm keeps the place where one is in sight in every window", () => {
  const fields: Field[] = Array.from(
    { length: 30 },
    (_, at) => ({ name: `f${at}`, label: `Field ${at}`, kind: "text" }),
  );
  for (const [width, height] of [[40, 7], [80, 18], [200, 45]] as const) {
    for (let focus = 0; focus <= fields.length; focus++) {
      const lines = drawForm({
        fields,
        state: { ...newForm(fields), focus },
        mistakes: [],
        send: "Create",
        notes: [line("$1/hr")],
        read: () => assert.fail("Nothing here reads from the server"),
        width,
        height,
      });
      assert(lines.length <= height);
      for (const one of lines) assert(lineWidth(one) <= width);
      const text = lines.map(textOf).join("\n");
      assert.match(
        text,
        focus === fields.length ? /> \[ Create \]/ : new RegExp(`> Field ${focus}\\b`),
        `${height} ${focus}`,
      );
      assert.match(text, /^\$1\/hr/);
    }
  }
});

Deno.test("a choice of one is not offered to be changed", async () => {
  const fields: Field[] = ["one", "two"].map((name, at) => ({
    name,
    label: name,
    kind: "choice",
    options: [{ value: "a", label: "First" }, { value: "b", label: "Second" }].slice(0, at + 1),
  }));
  const open = (ui: Ui) =>
    ui.open(formScreen, { title: "Form", fields, schema: z.unknown(), send: "Send", work: () => Promise.resolve });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until(/> one +First/);
    assert(!admin.offered().includes("←→ change"), admin.offered().join(" "));
    await admin.press("tab");
    await admin.until(/> two +< First >/);
    assert(admin.offered().includes("←→ change"), admin.offered().join(" "));
    await admin.press("right");
    await admin.until("< Second >");
  });
});

Deno.test("a form keeps what was typed when the server refuses, and puts the sentence at the field it names", async () => {
  const sent: unknown[] = [];
  let isRefusing = true;
  const open = (ui: Ui) =>
    ui.open(formScreen, {
      title: "New pod",
      fields: FIELDS,
      schema: createRequestSchema,
      body: bodyOf,
      send: "Create pod",
      work: (body) => async () => {
        sent.push(body);
        await Promise.resolve();
        if (!isRefusing) return {};
        const { Refusal } = await import("../../admin/client/refusal.ts");
        throw new Refusal("name lab is taken by another pod", 5, ["hint: Choose another one"], "conflict", 409);
      },
      done: (_, at) => at.say("The pod is made"),
    });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until("Create pod");
    await admin.type("lab");
    await admin.press("ctrl-s");
    await admin.until("! Name lab is taken by another pod");
    await admin.until("Choose another one");
    isRefusing = false;
    await admin.type("-2");
    await admin.untilGone("is taken");
    await admin.press("ctrl-s");
    await admin.until("The pod is made");
    await admin.until("The host");
    assert.deepEqual(sent.map((body) => (body as { name: string }).name), ["lab", "lab-2"]);
  });
});

Deno.test("a form says what is wrong as one types, goes to the mistake, and sends nothing", async () => {
  let sent = 0;
  const open = (ui: Ui) =>
    ui.open(formScreen, {
      title: "New pod",
      fields: FIELDS,
      schema: createRequestSchema,
      body: bodyOf,
      send: "Create pod",
      work: () => () => Promise.resolve(sent++),
    });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.press("tab", "tab", "tab", "tab", "ctrl-u");
    await admin.type("5");
    await admin.until("! Volume must be 0 or from 10 to 2000");
    await admin.press("tab", "ctrl-s");
    await admin.until(/> Volume +5/);
    assert.equal(sent, 0);
    await admin.press("esc");
    await admin.until("What you typed is lost");
    await admin.press("n");
    await admin.until("! Volume must");
    await admin.press("esc", "y");
    await admin.until("The host");
  }, { columns: 80, rows: 24 });
});

Deno.test("a form takes a proposal from its list, and rows by enter and ctrl-d", async () => {
  const sent: unknown[] = [];
  const open = (ui: Ui) =>
    ui.open(formScreen, {
      title: "F",
      fields: FIELDS,
      body: bodyOf,
      send: "Send it",
      work: (body) => () => Promise.resolve(sent.push(body)),
    });
  await withHost(open, async (admin) => {
    await admin.press("g", "tab", "tab", "right", "tab", "enter");
    await admin.until("NVIDIA A40");
    await admin.type("l4");
    await admin.untilGone("NVIDIA A40");
    await admin.press("enter");
    await admin.until("$0.43/hr");
    await admin.press("tab", "tab", "enter");
    await admin.type("KEY");
    await admin.press("enter");
    await admin.type("value");
    await admin.press("tab", "enter");
    await admin.type("GONE");
    await admin.press("ctrl-d");
    await admin.untilGone("GONE");
    await admin.press("ctrl-s");
    await admin.until("The host");
    assert.deepEqual(sent, [{
      use_cpu_only: false,
      cloud_type: "COMMUNITY",
      gpu_type_id: "NVIDIA L4",
      volume_in_gb: 10,
      env: { KEY: "value" },
    }]);
  });
});
