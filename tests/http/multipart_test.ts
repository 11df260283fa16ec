import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { AppError } from "../../server/errors.ts";
import { boundaryOf, multipartParts } from "../../server/http/multipart.ts";

/** A body in pieces of `size` bytes. */
function bodyOf(text: string | Uint8Array, size: number): ReadableStream<Uint8Array> {
  const bytes = typeof text === "string" ? Buffer.from(text, "latin1") : text;
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(Uint8Array.from(bytes.subarray(at, at += size)));
    },
  }, { highWaterMark: 0 });
}

type Read = [name: string, filename: string | null, content: string];

async function readAll(body: ReadableStream<Uint8Array>, boundary = "b"): Promise<Read[]> {
  const read: Read[] = [];
  for await (const { name, filename, content } of multipartParts(body, boundary)) {
    const bytes = Buffer.from(await new Response(content as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer());
    read.push([name, filename === null ? null : Buffer.from(filename).toString("latin1"), bytes.toString("latin1")]);
  }
  return read;
}

const field = (headers: string, content: string) => `--b\r\n${headers}\r\n\r\n${content}\r\n`;
Deno.test("multipartParts gives every part whole, whatever pieces the body comes in", async () => {
  const content = "\r\n--x\r\n-\r\n-- b\r\n\0\xff\r\n--";
  const body = "preamble\r\n" + field('Content-Disposition: form-data; name="path"', "/workspace") +
    field('content-disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: x/y', content) +
    field("Content-Disposition: form-data; name=bare; filename=x", "") + "--b--\r\nepilogue";
  for (const size of [1, 2, 3, 5, 7, 64, 100_000]) {
    assert.deepEqual(await readAll(bodyOf(body, size)), [
      ["path", null, "/workspace"],
      ["file", "a.bin", content],
      ["bare", "x", ""],
    ], `pieces of ${size}`);
  }
});

Deno.test("multipartParts reads what browsers and fetch send", async () => {
  const form = new FormData();
  form.append("p", "é\r\nx");
  form.append("file", new Blob([new Uint8Array(300_000)]), 'q"uo\nte\u00e9.txt');
  const request = new Request("http://a/", { method: "POST", body: form });
  const boundary = boundaryOf(request.headers.get("content-type")!)!;
  const [first, second] = await readAll(request.body!, boundary);
  assert.deepEqual(first, ["p", null, Buffer.from("é\r\nx").toString("latin1")]);
  assert.equal(Buffer.from(second![1]!, "latin1").toString(), 'q"uo\nteé.txt');
  assert.equal(second![2].length, 300_000);
});

Deno.test("multipartParts skips what of a part nobody read", async () => {
  const body =
    ["one", "two", "three"].map((name) => field(`Content-Disposition: form-data; name=${name}`, "x".repeat(500))).join(
      "",
    ) + "--b--";
  const names: string[] = [];
  for await (const part of multipartParts(bodyOf(body, 10), "b")) {
    names.push(part.name);
    if (part.name === "two") await part.content.cancel();
  }
  assert.deepEqual(names, ["one", "two", "three"]);
});

Deno.test("multipartParts takes names with escapes of browsers and of curl", async () => {
  const rows: [string, string][] = [
    ['"a%22b"', 'a"b'],
    ['"a\\"b"', 'a"b'],
    ['"a\\\\b"', "a\\b"],
    ['"a\\b"', "a\\b"],
    ['"a%0D%0Ab"', "a\r\nb"],
    ['"100%41"', "100%41"],
    ['"a; name=x"', "a; name=x"],
    ['"\xff\xe9"', "\xff\xe9"],
    ["plain.txt", "plain.txt"],
  ];
  for (const [given, wanted] of rows) {
    const body = field(`Content-Disposition: form-data; name="file"; filename=${given}`, "c") + "--b--";
    assert.deepEqual(await readAll(bodyOf(body, 8)), [["file", wanted, "c"]], given);
  }
});

Deno.test("multipartParts refuses a broken body with 400, and passes on why its source failed", async () => {
  const part = 'Content-Disposition: form-data; name="f"';
  const broken = [
    "",
    "--b",
    "--c\r\n\r\n",
    `--b\r\n${part}\r\n\r\ncontent`,
    `--b\r\n${part}\r\n\r\ncontent\r\n--b`,
    `--b\r\n${part}\r\n`,
    `--bx\r\n${part}\r\n\r\nc\r\n--b--`,
    `--b\r\nX: y\r\n\r\nc\r\n--b--`,
    `--b\r\n${"x".repeat(20_000)}`,
    field(part, "").repeat(101) + "--b--",
  ];
  for (const body of broken) {
    const isRefused = (error: unknown) => error instanceof AppError && error.code === "invalid_request";
    await assert.rejects(readAll(bodyOf(body, 9)), isRefused, body.slice(0, 60));
  }
  const failing = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error("gone")) });
  await assert.rejects(readAll(failing), /gone/);
});

Deno.test("multipartParts gives the rest of the body up when its reader stops", async () => {
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from(field('Content-Disposition: form-data; name="f"', ""))),
    pull: (controller) => controller.enqueue(new Uint8Array(1000)),
    cancel: () => void (cancelled = true),
  });
  for await (const _ of multipartParts(endless, "b")) break;
  assert.ok(cancelled);
});

Deno.test("boundaryOf reads the boundary of a form and of nothing else", () => {
  const rows: [string | undefined, string | null][] = [
    ["multipart/form-data; boundary=abc", "abc"],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b"', "a b"],
    ["multipart/form-data;boundary=a;x=y", "a"],
    ["multipart/form-data", null],
    ["multipart/form-data; boundary=", null],
    ["multipart/mixed; boundary=a", null],
    ["application/json", null],
    [undefined, null],
    [`multipart/form-data; boundary=${"x".repeat(71)}`, null],
  ];
  for (const [given, wanted] of rows) assert.equal(boundaryOf(given), wanted, given);
});
