import assert from "node:assert/strict";
import { styledLines } from "./pictures/styled_text.ts";
import { svgOf } from "./pictures/svg.ts";

Deno.test("a captured screen becomes pieces with their styles, which last over the ends of lines", () => {
  const [first, second] = styledLines("\x1b[1mq\x1b[0m quit \x1b[32;49m● Run\nning\x1b[39m \x1b[7m> pod\x1b[27m");
  const plain = { colour: null, isBold: false, isDim: false, isInverse: false };
  assert.deepEqual(first, [
    { ...plain, isBold: true, text: "q" },
    { ...plain, text: " quit " },
    { ...plain, colour: 2, text: "● Run" },
  ]);
  assert.deepEqual(second, [
    { ...plain, colour: 2, text: "ning" },
    { ...plain, text: " " },
    { ...plain, isInverse: true, text: "> pod" },
  ]);
  assert.throws(() => styledLines("\x1b[95mx"), /does not know the style 95/);
});

Deno.test("svgOf keeps text as text, each word in its cells, and escapes what XML would read", () => {
  const svg = svgOf(styledLines("  <b> & 日本  x\n\x1b[7m ok \x1b[0m"), 20, "A <title>");
  assert.match(svg, /<title>A &lt;title&gt;<\/title>/);
  assert.match(svg, />&lt;b&gt; &amp; 日本<\/text>/);
  const places = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"[^>]*textLength="([\d.]+)"/g)]
    .map((match) => match.slice(1).map(Number));
  // Cells of 8.4 by 18 in a margin of 14; the wide letters take two.
  assert.deepEqual(places, [[30.8, 27.5, 84], [131.6, 27.5, 8.4], [22.4, 45.5, 16.8]]);
  assert.match(svg, /<rect x="14" y="32" width="33.6" height="18"/);
});

Deno.test("every picture of the README is there, says in words what it shows, and holds its text", async () => {
  const top = new URL("../../", import.meta.url);
  const readme = await Deno.readTextFile(new URL("README.md", top));
  const pictures = [...readme.matchAll(/!\[([^\]]*)\]\((docs\/screens\/[^)]+)\)/g)];
  assert(pictures.length >= 3 && pictures.length <= 5, `${pictures.length}`);
  for (const [, words, file] of pictures) {
    assert(words!.length > 30, file);
    const svg = await Deno.readTextFile(new URL(file!, top));
    assert.match(svg, /^<svg [^]*connected<\/text>|connected {2}\d/);
    assert.match(svg, />quit<\/text>|quit/);
    assert.doesNotMatch(svg, /<image|<script|https?:\/\/(?!www\.w3\.org)/);
  }
});
