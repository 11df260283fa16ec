/** What a walk types and pastes: texts that fields want, and texts that have broken programs elsewhere. */
const NAMES: readonly string[] = JSON.parse(
  Deno.readTextFileSync(new URL("../../vectors/admin/names.json", import.meta.url)),
).names;

/** Odd names that the server takes for a pod. */
export const POD_NAMES: readonly string[] = NAMES
  .map((name) => name.replaceAll("\0", ""))
  .filter((name) => name.trim() !== "" && name.isWellFormed())
  .map((name) => [...name].slice(0, 60).join("").slice(0, 90));

const WANTED = [
  "workshop",
  "mo",
  "y",
  "0",
  "1",
  "20",
  "-3",
  "999999999999",
  "1.5",
  "2026-12-07 18:00",
  "23:59",
  "2026-02-30",
  "Europe/Berlin",
  "UTC",
  "12345 200000000000000002,200000000000000003",
  "https://example.org/hook",
  "rpa_test_0123456789abcdef",
  "plat_nobody",
  "PATH",
  "/workspace",
  "notes.txt",
  "../../x",
  "<b>&amp;",
  "'; drop table pods; --",
];

/** Pasted whole, so controls and line ends in them are text. */
export const PASTES: readonly string[] = [
  ...WANTED,
  ...NAMES,
  "a line\nand another\r\nand\ta third",
  "x".repeat(5_000),
  "\u001b[31m\u001b]0;title\u0007\u0000",
];

/** Typed letter by letter, so short and without what a terminal would send for other keys. */
export const TYPED: readonly string[] = PASTES
  // deno-lint-ignore no-control-regex
  .map((text) => text.replace(/[\x00-\x1f\x7f]/g, "").slice(0, 24))
  .filter((text) => text !== "" && text.isWellFormed());
