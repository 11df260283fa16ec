import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { base64url, bytesOf, liesIn, partsOf, pathOf, shownName, splitPath } from "../../server/files/path.ts";
import { AppError } from "../../server/errors.ts";
import { parseMounts } from "../../server/files/mounts.ts";
import { rangeOf } from "../../server/files/range.ts";
import { cell, cellOf, fileForm, needsPods, ok, withFiles } from "./support.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const read = (path: string) => text(pathOf("path", { text: path, base64: undefined }));

Deno.test("pathOf takes the dots out of a path and never leads above the root", () => {
  const rows: readonly [string, string][] = [
    ["/", "/"],
    ["///", "/"],
    ["/a/b", "/a/b"],
    ["/a//b/", "/a/b"],
    ["/a/./b/.", "/a/b"],
    ["/a/../b", "/b"],
    ["/../../etc", "/etc"],
    ["/a/b/../..", "/"],
    ["/...", "/..."],
    ["/a/.. /b", "/a/.. /b"],
    ["/ ", "/ "],
    ["/-rf", "/-rf"],
    ["/a\n/b\u0007", "/a\n/b\u0007"],
    ["/\ufeffa", "/\ufeffa"],
  ];
  for (const [given, wanted] of rows) assert.equal(read(given), wanted, given);
});

const BAD = {
  "an empty text": "",
  "a relative path": "a/b",
  "a dot": ".",
  "a tilde": "~/a",
  "a NUL": "/a\0b",
  "4097 bytes": `/${"a/".repeat(2048)}`,
  "4097 bytes of other letters": `/${"é/".repeat(1365)}é`,
  "half a surrogate pair": "/a\ud800",
  "a backslash": "\\a",
};

Deno.test("pathOf refuses what is no absolute path and names the field", () => {
  const refused = (work: () => unknown, sentence: string) =>
    assert.throws(work, (error) => error instanceof AppError && error.status === 400 && error.message === sentence);
  for (const [what, path] of Object.entries(BAD)) {
    refused(() => pathOf("path", { text: path, base64: undefined }), "path must be an absolute path");
    if (what === "half a surrogate pair") continue;
    const base64 = base64url(bytesOf(path));
    refused(() => pathOf("path", { text: undefined, base64 }), "path_b64 must be base64 of an absolute path");
  }
  const given = { text: undefined, base64: undefined };
  refused(() => pathOf("old_path", given), "old_path must be an absolute path");
  refused(() => pathOf("path", { text: "/a", base64: "L2E" }), "Send path or path_b64, not both");
  for (const base64 of ["L2E*", "L 2E", "=L2E", "\u00e9"]) {
    refused(() => pathOf("path", { text: undefined, base64 }), "path_b64 must be base64 of an absolute path");
  }
  const long = `/${"n".repeat(256)}`;
  refused(() => pathOf("path", { text: long, base64: undefined }), "path must not hold a name longer than 255 bytes");
});

Deno.test("pathOf takes base64 of either alphabet, with and without padding", () => {
  const bytes = Uint8Array.from([0x2f, 0xfb, 0xff, 0xfe]);
  for (const base64 of ["L/v//g==", "L/v//g", "L_v__g", "L_v__g=="]) {
    assert.deepEqual(pathOf("path", { text: undefined, base64 }), bytes, base64);
  }
});

Deno.test("liesIn compares whole names, and splitPath has no name for the root", () => {
  assert.equal(liesIn(bytesOf("/a/b"), bytesOf("/a")), true);
  assert.equal(liesIn(bytesOf("/ab"), bytesOf("/a")), false);
  assert.equal(liesIn(bytesOf("/a"), bytesOf("/a")), false);
  assert.equal(liesIn(bytesOf("/a"), bytesOf("/")), true);
  assert.equal(splitPath(bytesOf("/")), null);
  assert.deepEqual(partsOf(bytesOf("//a///b/")).map(text), ["a", "b"]);
});

Deno.test("shownName keeps a byte order mark and gives base64 for what is not UTF-8", () => {
  assert.deepEqual(shownName(bytesOf("\ufeffa")), { text: "\ufeffa" });
  assert.deepEqual(shownName(Uint8Array.of(0x61, 0xff)), { text: "a\ufffd", b64: "Yf8" });
});

Deno.test("parseMounts reads mount points with spaces, newlines and bytes", () => {
  const table = Buffer.from(
    "36 35 98:0 / / rw - ext4 /dev/a rw\n37 36 0:5 / /a\\040b\\012c\\134 rw shared:1 - tmpfs t rw\n",
    "latin1",
  );
  assert.deepEqual(parseMounts(table).map(text), ["/", "/a b\nc\\"]);
  assert.deepEqual(parseMounts(Buffer.from("1 2 3 / /\xff rw\n", "latin1")), [Uint8Array.of(0x2f, 0xff)]);
});

Deno.test("rangeOf gives one range as the RFC has it and ignores what is none", () => {
  const rows: readonly [string | undefined, ReturnType<typeof rangeOf>][] = [
    [undefined, null],
    ["bytes=0-0", { start: 0, end: 1 }],
    ["bytes=2-", { start: 2, end: 10 }],
    ["bytes=2-99", { start: 2, end: 10 }],
    ["bytes=-3", { start: 7, end: 10 }],
    ["bytes=-99", { start: 0, end: 10 }],
    ["bytes=9-9", { start: 9, end: 10 }],
    ["bytes=10-", "unsatisfiable"],
    ["bytes=10-12", "unsatisfiable"],
    ["bytes=-0", "unsatisfiable"],
    ["bytes=5-4", null],
    ["bytes=-", null],
    ["bytes=0-1,3-4", null],
    ["lines=0-1", null],
    ["bytes=a-b", null],
    ["bytes=0x1-2", null],
    ["bytes=99999999999999999999-", null],
  ];
  for (const [header, wanted] of rows) assert.deepEqual(rangeOf(header, 10), wanted, header);
  assert.equal(rangeOf("bytes=0-", 0), "unsatisfiable");
});

Deno.test("every route refuses a bad path with 400, and the pod lives on", needsPods, async () => {
  await withFiles(async ({ files, list, send, world, url }) => {
    for (const [what, path] of Object.entries(BAD)) {
      const bodies: [string, unknown][] = [
        ...["read", "download", "mkdir", "delete", "stat", "archive"].map((r): [string, unknown] => [r, { path }]),
        ["write", { path, content: "x" }],
        ["rename", { old_path: path, new_path: "/workspace/x" }],
        ["rename", { old_path: "/workspace/x", new_path: path }],
      ];
      for (const [route, body] of bodies) {
        assert.equal(cell(await files(route, body)), "400 invalid_request", `${route}: ${what}`);
      }
      if (what === "half a surrogate pair") continue; // A query string cannot hold one.
      assert.equal(cell(await list(path)), "400 invalid_request", what);
      const query = new URLSearchParams({ path });
      assert.equal(await cellOf(await send("GET", `download?${query}`)), "400 invalid_request", what);
      assert.equal(await cellOf(await send("PUT", `upload?${query}`, { body: "x" })), "400 invalid_request", what);
      if (what === "a NUL") continue;
      const form = await send("POST", "upload", { body: fileForm("x", "x", { path }) });
      assert.equal(await cellOf(form), "400 invalid_request", what);
    }
    // As long as a path can be.
    const deep = `/workspace/${"d/".repeat(2042)}`.slice(0, 4095);
    assert.equal(cell(await files("stat", { path: deep })), "404 file_not_found");
    assert.equal(cell(await list(deep)), "404 file_not_found");
    assert.equal(cell(await files("write", { path: deep, content: "" })), "404 file_not_found");
    for (const query of ["limit=0", "limit=10001", "limit=x", "cursor=x", "cursor=", "cursor=f%00"]) {
      assert.equal(cell(await world.call("GET", `${url}?${query}`, { as: "officer" })), "400 invalid_request", query);
    }
    assert.equal(ok(await world.call("GET", url, { as: "officer" })).json.path, "/workspace");
  });
});
