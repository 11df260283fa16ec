import assert from "node:assert/strict";
import { clean, cut, head, tail, widthOf, wrap } from "../../admin/ui/text/cells.ts";
import { editKey, editOf, editSpans, editText, insert } from "../../admin/ui/text/edit.ts";
import { fit, line, lineWidth, span, textOf } from "../../admin/ui/text/line.ts";
import { ago, duration, localTime, money, rate, shortDuration, size, speed } from "../../admin/ui/text/units.ts";

const NAMES: readonly string[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/admin/names.json", import.meta.url)),
).names;

Deno.test("clean leaves no character that could steer a terminal, and cleaning twice changes nothing", () => {
  for (const name of NAMES) {
    const text = clean(name);
    assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/u, JSON.stringify(name));
    assert.equal(clean(text), text, JSON.stringify(name));
    assert.doesNotMatch(text, /[\p{Mn}\p{Me}]{4}/u);
  }
});

Deno.test("widthOf counts wide characters twice and marks not at all", () => {
  for (
    const [text, width] of [["abc", 3], ["日本", 4], ["e\u0301e\u0302", 2], ["가나", 4], ["ｗ", 2], ["\u{1f600}", 2], [
      "",
      0,
    ]] as const
  ) {
    assert.equal(widthOf(clean(text)), width, text);
  }
});

Deno.test("clean leaves one letter in a cluster, because the drawing library counts clusters", () => {
  const segmenter = new Intl.Segmenter();
  for (const name of [...NAMES, "क्षत्रिय", "ক্ষ", "ทำน้ำ", "ກຳ", "a\u3164b\u115f\uffa0"]) {
    for (const { segment } of segmenter.segment(clean(name))) {
      assert(widthOf(segment) <= 1 || !/\p{L}.*\p{L}/u.test(segment), JSON.stringify([name, segment]));
      assert.doesNotMatch(segment, /^\p{Default_Ignorable_Code_Point}$/u, JSON.stringify(name));
    }
  }
  assert.equal(clean("नमस्ते"), "नमस्·ते");
  const typed = editSpans({ letters: ["स्", "ते"], at: 2 }, 20).map(({ text }) => text).join("");
  assert.equal(typed, "स्·ते ");
});

Deno.test("cut, head and tail keep to the width whatever stands in the text", () => {
  for (const name of NAMES) {
    const text = clean(name);
    for (let width = 0; width < 30; width++) {
      assert(widthOf(cut(text, width)) <= width, `${JSON.stringify(name)} ${width}`);
      assert(widthOf(cut(text, width, "middle")) <= width, `${JSON.stringify(name)} ${width}`);
      assert(widthOf(head(text, width)) <= width);
      assert(widthOf(tail(text, width)) <= width);
    }
  }
  assert.equal(cut("abcdefgh", 5), "abcd…");
  assert.equal(cut("/workspace/users/mo/file.txt", 13, "middle"), "/works…le.txt");
  assert.equal(cut("abc", 3), "abc");
});

Deno.test("wrap breaks at spaces, and words that are too long anywhere", () => {
  assert.deepEqual(wrap("a pod that waits", 6), ["a pod", "that", "waits"]);
  assert.deepEqual(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
  assert.deepEqual(wrap("one\n\ntwo", 10), ["one", "", "two"]);
  for (const part of wrap("日本語のとても長い名前", 5)) assert(widthOf(part) <= 5);
  assert.deepEqual(wrap("日", 1), ["日"]);
});

Deno.test("fit makes a line exactly as wide as asked, with a mark where it was cut", () => {
  for (const name of NAMES) {
    for (const width of [0, 1, 2, 10, 41]) {
      assert.equal(
        lineWidth(fit(line(name, span(name, "bad"), "end"), width)),
        width,
        `${JSON.stringify(name)} ${width}`,
      );
    }
  }
  assert.equal(textOf(fit(line("abc", "def"), 5)), "abcd…");
  assert.equal(textOf(fit(line("abc", "def"), 8)), "abcdef  ");
});

Deno.test("an edit moves, erases and takes pasted lines as one line", () => {
  let edit = insert(editOf("wörk"), "shop\nx");
  assert.equal(editText(edit), "wörkshop x");
  edit = editKey(editKey(edit, "backspace")!, "backspace")!;
  assert.equal(editText(edit), "wörkshop");
  edit = editKey(editKey(edit, "home")!, "delete")!;
  assert.equal(editText(edit), "örkshop");
  assert.equal(editText(editKey(editOf("one two"), "ctrl-w")!), "one ");
  assert.equal(editText(editKey(editOf("one two"), "ctrl-u")!), "");
  assert.equal(editKey(edit, "pagedown"), null);
});

Deno.test("an edit is drawn with its cursor in sight and within its width", () => {
  const edit = editOf("a very long name that does not fit");
  const spans = editSpans(edit, 10);
  assert.equal(lineWidth(spans), 10);
  assert.equal(textOf(spans), "s not fit ");
  assert.equal(textOf(editSpans(editOf("secret"), 10, true)), "****** ");
});

Deno.test("money has two decimals, three under ten cents", () => {
  assert.equal(money(0), "$0.00");
  assert.equal(money(0.056), "$0.056");
  assert.equal(money(1234.5), "$1234.50");
  assert.equal(rate(0.34), "$0.34/hr");
  assert.equal(rate(null), "?");
});

Deno.test("durations, sizes and speeds read as officers write them", () => {
  const minute = 60_000;
  assert.equal(duration(45_000), "45 s");
  assert.equal(duration(125 * minute), "2h 05m");
  assert.equal(duration(3 * 24 * 60 * minute), "3 days");
  assert.equal(shortDuration(125 * minute), "2h");
  assert.equal(ago("2026-11-30T10:00:00+00:00", Date.UTC(2026, 10, 30, 12, 5)), "2h 05m ago");
  assert.equal(size(999), "999 B");
  assert.equal(size(4_200), "4.2 KB");
  assert.equal(size(999_999), "1.0 MB");
  assert.equal(speed(12_400_000), "12.4 MB/s");
});

Deno.test("localTime is in the officer's zone and says as much of the day as is needed", () => {
  const now = Date.UTC(2026, 10, 30, 23, 30);
  assert.equal(localTime("2026-11-30T23:45:00+00:00", "Europe/Berlin", now), "00:45");
  assert.equal(localTime("2026-11-30T22:45:00+00:00", "Europe/Berlin", now), "Mon 30 Nov 23:45");
  assert.equal(localTime("2027-06-01T10:00:00+00:00", "Europe/Berlin", now), "1 Jun 2027 12:00");
});
