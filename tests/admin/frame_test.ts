import assert from "node:assert/strict";
import { footerLines } from "../../admin/ui/frame/footer.ts";
import { headerLine } from "../../admin/ui/frame/header.ts";
import { layoutOf, overlaid, tooSmall } from "../../admin/ui/frame/layout.ts";
import { line, lineWidth, textOf } from "../../admin/ui/text/line.ts";
import { withPods } from "./support.ts";

const NAMES: readonly string[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/admin/names.json", import.meta.url)),
).names;

/** Every key that opens or changes something, from the list of pods. */
const TOUR = [
  "j",
  "enter",
  "?",
  "esc",
  "x",
  "esc",
  "D",
  "a",
  "esc",
  "K",
  "tab",
  "up",
  "esc",
  "esc",
  "/",
  "q",
  "enter",
  "esc",
  ":",
  "o",
  "tab",
  "esc",
  "?",
  "G",
  "esc",
];
const SIZES = [[40, 12], [80, 24], [200, 50]] as const;

for (const [columns, rows] of SIZES) {
  Deno.test(`no line is wider and no frame taller than ${columns}x${rows}, whatever the pods are called`, async () => {
    const names = NAMES.map((name) => name.replaceAll("\0", "")).filter((name) =>
      name.trim() !== "" && name.isWellFormed()
    )
      .map((name) => [...name].slice(0, 90).join(""));
    const pods = names.slice(0, 12).map((name, at) => ({ name: `${at}${name}`.slice(0, 100) }));
    await withPods(pods, { columns, rows }, async (admin) => {
      await admin.until("> ");
      for (const key of TOUR) {
        await admin.press(key);
        const frame = admin.admin.frame;
        assert.equal(frame.length, rows);
        for (const one of frame) assert.equal(lineWidth(one), columns, textOf(one));
      }
    });
  });
}

Deno.test("a window that is too small says how big it must be, and shows all again when it grows", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    await admin.until("workshop");
    for (const [columns, rows] of [[39, 24], [80, 11], [10, 3], [2, 1], [1, 1], [1, 50]] as const) {
      await admin.resize(columns, rows);
      assert.equal(admin.admin.frame.length, rows);
      for (const one of admin.admin.frame) assert.equal(lineWidth(one), columns);
    }
    await admin.resize(39, 24);
    await admin.until("Needs 40x12");
    await admin.resize(80, 11);
    await admin.until("orgpods needs a window of 40x12; this is 80x11");
    await admin.resize(80, 24);
    await admin.until(/^> workshop/m);
  });
});

Deno.test("a storm of new sizes ends with the right frame", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    await admin.until("workshop");
    for (let at = 0; at < 60; at++) {
      const columns = 1 + (at * 37) % 220;
      const rows = 1 + (at * 13) % 60;
      admin.terminal.resize(columns, rows);
      if (at % 3 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await admin.resize(120, 30);
    const text = await admin.until(/^> workshop/m);
    assert.match(text, /orgpods {2}org/);
    assert.equal(text.split("\n").length, 30);
  });
});

Deno.test("tooSmall fits every window", () => {
  for (let columns = 1; columns < 45; columns++) {
    for (const rows of [1, 2, 3, 20]) {
      const lines = tooSmall(columns, rows);
      assert.equal(lines.length, rows);
      for (const one of lines) assert.equal(lineWidth(one), columns);
    }
  }
  assert.equal(layoutOf(40, 11), null);
  assert.equal(layoutOf(39, 12), null);
  assert.notEqual(layoutOf(40, 12), null);
});

Deno.test("footerLines shows whole keys only, and says that there are more", () => {
  const hints = Array.from({ length: 20 }, (_, at) => [`k${at}`, `label ${at}`] as const);
  for (let width = 20; width < 120; width++) {
    const lines = footerLines(hints, width, 2, "?");
    assert(lines.length <= 2);
    for (const one of lines) assert(lineWidth(one) <= width, `${width}: ${textOf(one)}`);
    assert.match(lines.map(textOf).join(" "), /\? more$/);
  }
  assert.equal(footerLines(hints.slice(0, 2), 40, 1, "?").map(textOf).join(), "k0 label 0  k1 label 1");
});

Deno.test("headerLine always says how it stands with the server", () => {
  const facts = {
    org: "robotics",
    orgName: "The Robotics Society",
    address: "https://pods.example.org",
    isOwnProcess: false,
    link: { kind: "lost", since: 0, sentence: "gone" },
    now: 61_000,
    zone: "UTC",
  } as const;
  for (let width = 24; width < 120; width++) {
    const header = headerLine(facts, width);
    assert.equal(lineWidth(header), width);
    assert.match(textOf(header), /connection lost 1 min/);
  }
  assert.match(textOf(headerLine(facts, 120)), /robotics \(The Robotics Society\) +pods\.example\.org .*00:01 UTC/);
});

Deno.test("overlaid draws a dialog in the middle, and over everything in a small window", () => {
  const below = Array.from({ length: 20 }, (_, at) => line(`row ${at}`));
  const dialog = { title: "Stop", lines: [line("Really?")] };
  const wide = overlaid(below, dialog, 80, 20).map(textOf).join("\n");
  assert.match(wide, /row 0/);
  assert.match(wide, /┌─ Stop ─+┐/);
  const small = overlaid(below, dialog, 40, 8).map(textOf).join("\n");
  assert.doesNotMatch(small, /row/);
  assert.match(small, /-- Stop/);
});
