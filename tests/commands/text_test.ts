import assert from "node:assert/strict";
import { exitCodeOfStatus, refusalOf } from "../../admin/client/refusal.ts";
import { createShell } from "../../admin/commands/shell.ts";
import { facts, plain, plainJson, shortTime, table } from "../../admin/commands/text.ts";

Deno.test("plain escapes whatever could move a cursor or hide", () => {
  assert.equal(plain("a\u001b[2Jb\n\u202ec\u200b\u{e0041}"), "a\\u{1b}[2Jb\\u{a}\\u{202e}c\\u{200b}\\u{e0041}");
  assert.equal(plain("Träger 東京"), "Träger 東京");
});

Deno.test("plainJson gives the same values without what could move a cursor or hide", () => {
  const odd = { name: "a\u009b2Jb\u007f\u202ec\u2028d\u{e0041}e", text: "Träger 東京 \\" };
  const text = plainJson(JSON.stringify(odd, null, 2));
  assert.equal(
    text,
    '{\n  "name": "a\\u009b2Jb\\u007f\\u202ec\\u2028d\\udb40\\udc41e",\n  "text": "Träger 東京 \\\\"\n}',
  );
  assert.deepEqual(JSON.parse(text), odd);
});

Deno.test("with --json every result is printed in that way", async () => {
  let printed = "";
  const stdio = {
    out: (text: string) => Promise.resolve(void (printed += text)),
    err: () => Promise.resolve(),
    outBytes: () => Promise.resolve(true),
    readAll: () => Promise.resolve(null),
    readLine: () => Promise.resolve(null),
    input: () => new Blob([]).stream(),
    ...{ isTerminal: false, outIsTerminal: true, errIsTerminal: true },
  };
  const shell = createShell({ dataDir: "/none", json: true }, stdio, () => undefined);
  await shell.result({ value: {}, text: '{"name":"a\u009bb"}' }, () => "not this");
  await shell.print(JSON.stringify({ file: "c\u202ed" }));
  assert.equal(printed, '{"name":"a\\u009bb"}\n{"file":"c\\u202ed"}\n');
});

Deno.test("table aligns by what the terminal shows", () => {
  const shown = table(["NAME", "N"], [["東京", 1], ["e\u0301", null], ["a\tb", 22]]);
  assert.equal(shown, "NAME     N\n東京     1\ne\u0301        -\na\\u{9}b  22");
  assert.equal(facts([["A", "x"], ["Long", null]]), "A     x\nLong  -");
});

Deno.test("shortTime leaves the fractions out", () => {
  assert.equal(shortTime("2026-09-01T12:00:00.123Z"), "2026-09-01 12:00:00Z");
  assert.equal(shortTime("2026-09-01T12:00:00.123456+00:00"), "2026-09-01 12:00:00Z");
  assert.equal(shortTime(null), null);
});

Deno.test("refusalOf reads the contract's error and falls back to the status", () => {
  const known = refusalOf(400, '{"error":"No.","code":"runpod_no_capacity","pods":[{"id":"x"}],"retry":3}');
  assert.deepEqual([known.message, known.exitCode, known.notes], ["No.", 6, ["retry: 3"]]);
  assert.equal(refusalOf(500, "[]").exitCode, 1);
  const expected = { 400: 2, 401: 4, 403: 4, 404: 3, 409: 5, 418: 2, 424: 6, 429: 6, 500: 1, 502: 6, 503: 6, 504: 6 };
  for (const [status, code] of Object.entries(expected)) assert.equal(exitCodeOfStatus(Number(status)), code, status);
});
