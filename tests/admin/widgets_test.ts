import assert from "node:assert/strict";
import { confirmScreen } from "../../admin/ui/widgets/confirm.ts";
import { bar, barLines } from "../../admin/ui/widgets/bars.ts";
import { pagerScreen } from "../../admin/ui/widgets/pager.ts";
import { pickerScreen } from "../../admin/ui/widgets/picker.ts";
import { speedOf, withSample } from "../../admin/ui/core/samples.ts";
import { progressLines, runWithProgress } from "../../admin/ui/widgets/progress.ts";
import type { Ui } from "../../admin/ui/core/screen.ts";
import { line, lineWidth, textOf } from "../../admin/ui/text/line.ts";
import { sentence } from "./support.ts";
import { withHost } from "./host.ts";

Deno.test("bars are never empty for something, never longer than their room", () => {
  assert.equal(bar(0.001, 10), "█░░░░░░░░░");
  assert.equal(bar(7, 3), "███");
  assert.equal(bar(NaN, 3), "░░░");
  const lines = barLines([{ label: "workshop", amount: 10, text: "$10.00" }, {
    label: "日本語".repeat(20),
    amount: 5,
    text: "$5.00",
  }], 50);
  for (const one of lines) assert(lineWidth(one) <= 50, textOf(one));
});

Deno.test("a progress tells its speed from the last seconds, and the time that is left", () => {
  let samples = withSample([], { at: 0, done: 0, total: 100_000_000 });
  assert.equal(speedOf(samples), null);
  for (let second = 1; second <= 10; second++) {
    samples = withSample(samples, { at: second * 1_000, done: second * 5_000_000, total: 100_000_000 });
  }
  assert.equal(speedOf(samples), 5_000_000);
  assert.match(
    progressLines(samples, false, 60).map(textOf).join("\n"),
    /50%[\s\S]*50\.0 MB of 100 MB {3}5\.0 MB\/s {3}10 s left/,
  );
});

Deno.test("confirm does nothing on n and esc, and takes the name as it is shown", async () => {
  let done = 0;
  const name = "evil\u202ename";
  const open = (ui: Ui) =>
    ui.open(confirmScreen, {
      title: "Delete",
      lines: () => [{ text: "All goes", isWarning: true }],
      yes: "delete it",
      name,
      onYes: () => done++,
    });
  await withHost(open, async (admin) => {
    await admin.press("g", "esc", "g");
    await admin.until("! All goes");
    await admin.type("q");
    await admin.press("enter");
    assert.equal(done, 0);
    await admin.press("backspace");
    await admin.type("evil\\u{202e}name");
    await admin.press("enter");
    await admin.until("The host");
    assert.equal(done, 1);
  }, { columns: 40, rows: 12 });
});

Deno.test("confirm keeps its whole question in sight in the smallest window, and its text is scrolled to the end", async () => {
  const open = (ui: Ui) =>
    ui.open(confirmScreen, {
      title: "Switch off",
      lines: () => ["word ".repeat(60), { text: "All of it goes on costing money.", isWarning: true }],
      yes: "switch it off",
      onYes: () => {},
    });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until(sentence("Press y to switch it off, n to leave all as it is."));
    await admin.until("↓ shows the rest");
    assert(!admin.text().includes("costing money"));
    await admin.press("pagedown", "pagedown", "pagedown");
    await admin.until("! All of it goes on costing money.");
    assert(!admin.text().includes("shows the rest"));
    await admin.until(sentence("Press y to switch it off, n to leave all as it is."));
    await admin.press("up");
    await admin.until("↓ shows the rest");
  }, { columns: 40, rows: 12 });
});

Deno.test("confirm keeps what is lost and the line one types into in sight, however long the name is", async () => {
  const name = "漢".repeat(100);
  let done = 0;
  const open = (ui: Ui) =>
    ui.open(confirmScreen, {
      title: "Terminate",
      lines: () => [{ text: "ALL files go.", isWarning: true }],
      yes: "terminate it",
      name,
      onYes: () => void done++,
    });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until("! ALL files go.");
    await admin.until(sentence("Type its name and press enter to terminate it:"));
    await admin.until(/^ >$/m);
    await admin.press("down");
    await admin.until("漢漢");
    await admin.paste(`${name}x`);
    await admin.until(/^ > .*漢x *$/m);
    await admin.press("enter");
    await admin.until("! That is another name. Nothing");
    await admin.press("backspace", "enter");
    await admin.untilGone("Type its name");
    assert.equal(done, 1);
  }, { columns: 40, rows: 12 });
});

Deno.test("picker shows the marked row in full where its column cuts it", async () => {
  const long = "NVIDIA RTX PRO 6000 Blackwell Server Edition";
  const rows = ["NVIDIA L4", long, `${long} MIG 1g.24gb`].map((text) => ({ key: text, text, note: "$1.00/hr" }));
  const open = (ui: Ui) => ui.open(pickerScreen, { title: "GPU type", rows: () => rows, onPick: () => {} });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until("NVIDIA L4");
    assert.doesNotMatch(admin.text(), /marked:/);
    await admin.press("down", "down");
    await admin.until(`marked: ${long} MIG 1g.24gb`);
  }, { columns: 80, rows: 24 });
});

Deno.test("picker searches as one types and takes what is no entry where that is allowed", async () => {
  const picked: string[] = [];
  const open = (ui: Ui) =>
    ui.open(pickerScreen, {
      title: "Who",
      rows: () => Array.from({ length: 10_000 }, (_, at) => ({ key: String(at), text: `Person ${at}` })),
      takesText: (text) => /^\d{5,25}$/.test(text),
      onPick: (key) => picked.push(key),
    });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until("Person 0");
    await admin.type("777");
    await admin.press("down", "enter");
    await admin.press("g");
    await admin.paste("200000000000000001");
    await admin.until("as typed");
    await admin.press("enter");
    assert.deepEqual(picked, ["1777", "200000000000000001"]);
  });
});

Deno.test("pager scrolls a long text and no further", async () => {
  const open = (ui: Ui) =>
    ui.open(pagerScreen, { title: "Text", lines: () => Array.from({ length: 100 }, (_, at) => line(`line ${at}.`)) });
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until("line 0.");
    await admin.press("G", "down");
    await admin.until("line 99.");
    await admin.press("k");
    await admin.untilGone("line 99.");
    await admin.press("g");
    await admin.until("line 0.");
  });
});

Deno.test("what is said has as many rows as it needs, half of the body at most, and one below a dialog", async () => {
  const long = (words: number) => Array.from({ length: words }, (_, at) => `w${at}`).join(" ");
  let words = 20;
  const open = (ui: Ui) => {
    ui.say(long(words), "bad");
    if (words === 1_000) ui.open(confirmScreen, { title: "Sure", lines: () => ["Yes?"], yes: "go", onYes: () => {} });
  };
  await withHost(open, async (admin) => {
    await admin.press("g");
    await admin.until(/! w0 w1 [^]* w18\s+w19/);
    words = 200;
    await admin.press("g");
    await admin.until(/! w0 w1 [^]*…/);
    assert.match(admin.text(), /The host/);
    words = 1_000;
    await admin.press("g");
    await admin.until("! w0");
    await admin.until(sentence("Press y to go, n to leave all as it is."));
    assert.equal(admin.text().match(/\bw\d/g)!.length < 20, true);
  }, { columns: 40, rows: 12 });
});

Deno.test("a progress shows how far it is, is cancelled by esc, and says so", async () => {
  const begun = Promise.withResolvers<void>();
  const run = (ui: Ui) =>
    runWithProgress(ui, {
      title: "Upload big.bin",
      work: (report, signal) => {
        report({ done: 25, total: 100 });
        begun.resolve();
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
      },
    });
  await withHost(run, async (admin) => {
    await admin.press("g");
    await begun.promise;
    await admin.until("25 B of 100 B");
    assert.match(admin.text(), /25%/);
    await admin.press("esc");
    await admin.until("Upload big.bin: cancelled");
    await admin.until("The host");
  });
});
