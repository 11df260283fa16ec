import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { until } from "../support/sshd.ts";
import { cellOf, fileForm, type FileScene, needsPods, noTemporaries, ok, withFiles } from "./support.ts";

const MB = 1_000_000;
const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function randomBytes(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += 65536) crypto.getRandomValues(bytes.subarray(at, Math.min(size, at + 65536)));
  return bytes;
}

const down = ({ send }: FileScene, path: string, headers: Record<string, string> = {}) =>
  send("GET", `download?${new URLSearchParams({ path })}`, { headers });

Deno.test(
  "a download has length and ETag, takes ranges and conditions, and says what it has to a range outside",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { volume, send } = scene;
      const bytes = randomBytes(700_000);
      await Deno.writeFile(`${volume}/f`, bytes);
      const path = "/workspace/f";
      const whole = await down(scene, path);
      assert.deepEqual([whole.status, whole.headers.get("content-length")], [200, "700000"]);
      const etag = whole.headers.get("etag")!;
      assert.equal(hashOf(await whole.bytes()), hashOf(bytes));

      const ranges: [string, number, number][] = [
        ["bytes=0-0", 0, 1],
        ["bytes=100-", 100, 700_000],
        ["bytes=-5", 699_995, 700_000],
        ["bytes=261119-261121", 261_119, 261_122],
        ["bytes=0-9999999", 0, 700_000],
      ];
      for (const [range, start, end] of ranges) {
        for (const method of ["GET", "POST"]) {
          const init = method === "GET" ? {} : { body: JSON.stringify({ path }) };
          const route = method === "GET" ? `download?path=${path}` : "download";
          const part = await send(method, route, { headers: { range }, ...init });
          assert.equal(part.status, 206, range);
          assert.equal(part.headers.get("content-range"), `bytes ${start}-${end - 1}/700000`);
          assert.equal(part.headers.get("content-length"), String(end - start));
          assert.equal(hashOf(await part.bytes()), hashOf(bytes.subarray(start, end)), range);
        }
      }
      const outside = await down(scene, path, { range: "bytes=700000-" });
      assert.deepEqual([outside.status, outside.headers.get("content-range")], [416, "bytes */700000"]);
      assert.equal((await outside.json()).code, "range_not_satisfiable");
      for (
        const [headers, status] of [
          [{ range: "bytes=0-1", "if-range": etag }, 206],
          [{ range: "bytes=0-1", "if-range": '"other"' }, 200],
          [{ range: "bytes=0-1,3-4" }, 200],
          [{ "if-none-match": etag }, 304],
          [{ "if-none-match": '"other"' }, 200],
        ] as const
      ) {
        const answer = await down(scene, path, headers);
        assert.equal(answer.status, status, JSON.stringify(headers));
        await answer.body?.cancel();
      }
      const head = await send("HEAD", `download?path=${path}`);
      assert.deepEqual([head.status, head.headers.get("content-length"), (await head.bytes()).length], [
        200,
        "700000",
        0,
      ]);
      await Deno.writeTextFile(`${volume}/empty`, "");
      const empty = await down(scene, "/workspace/empty");
      assert.deepEqual([empty.status, empty.headers.get("content-length"), await empty.text()], [200, "0", ""]);
      assert.equal(
        await cellOf(await down(scene, "/workspace/empty", { range: "bytes=0-" })),
        "416 range_not_satisfiable",
      );
    });
  },
);

Deno.test(
  "uploads by form and by raw body arrive byte for byte and replace the old file at once",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, send, volume } = scene;
      ok(await files("mkdir", { path: "/workspace/in" }));
      for (const size of [0, 1, 65_536, 3 * MB + 7]) {
        const bytes = randomBytes(size);
        const raw = await send("PUT", "upload?path=/workspace/in/raw", { body: bytes });
        assert.deepEqual((await raw.json()).size, size);
        assert.equal(hashOf(await Deno.readFile(`${volume}/in/raw`)), hashOf(bytes));
        const form = await send("POST", "upload", { body: fileForm(bytes, "form", { path: "/workspace/in" }) });
        const { path, etag } = await form.json();
        assert.equal(path, "/workspace/in/form");
        assert.equal(hashOf(await Deno.readFile(`${volume}/in/form`)), hashOf(bytes));
        assert.equal(ok(await files("stat", { path })).json.etag, etag);
        assert.equal(hashOf(await (await down(scene, path)).bytes()), hashOf(bytes));
      }
      await noTemporaries(volume);
    });
  },
);

Deno.test("a form may name its folder before the file, after it, in the query, or not at all", needsPods, async () => {
  await withFiles(async ({ files, send, volume }) => {
    for (const name of ["a", "b", "c"]) ok(await files("mkdir", { path: `/workspace/${name}` }));
    const bytes = randomBytes(2 * MB);
    const after = new FormData();
    after.append("file", new Blob([bytes]), "after.bin");
    after.append("path", "/workspace/b");
    const base64 = btoa("/workspace/c");
    const sent: [string, FormData, string][] = [
      ["upload", fileForm(bytes, "before.bin", { path: "/workspace/a" }), "/workspace/a/before.bin"],
      ["upload", after, "/workspace/b/after.bin"],
      ["upload?path=/workspace/c", fileForm(bytes, "query.bin"), "/workspace/c/query.bin"],
      ["upload", fileForm(bytes, "b64.bin", { path_b64: base64 }), "/workspace/c/b64.bin"],
      ["upload", fileForm(bytes, "none.bin"), "/workspace/none.bin"],
      [
        "upload",
        fileForm(bytes, "other.bin", { other: "x".repeat(100_000), path: "/workspace/a" }),
        "/workspace/a/other.bin",
      ],
    ];
    for (const [route, body, path] of sent) {
      const answer = await send("POST", route, { body });
      assert.equal((await answer.json()).path, path, route);
      const local = path.replace("/workspace", volume);
      assert.equal(hashOf(await Deno.readFile(local)), hashOf(bytes), path);
    }
    await noTemporaries(volume);
  });
});

Deno.test("an upload that is no good form is refused with 400 and leaves nothing", needsPods, async () => {
  await withFiles(async ({ send, volume }) => {
    const before = [...Deno.readDirSync(volume)].length;
    const file = (disposition: string) => `--b\r\nContent-Disposition: ${disposition}\r\n\r\ncontent\r\n--b--\r\n`;
    const part = 'form-data; name="file"; filename';
    const rows: [string, string, string][] = [
      [
        "no file",
        '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n',
        "Send the file as multipart field file",
      ],
      ["another field", file('form-data; name="files"; filename="a"'), "Send the file as multipart field file"],
      ["a file without a name", file('form-data; name="file"'), "Send the file as multipart field file"],
      ["an empty name", file(`${part}=""`), "The file needs a plain name"],
      ["a path as name", file(`${part}="../a"`), "The file needs a plain name"],
      ["an absolute name", file(`${part}="/etc/passwd"`), "The file needs a plain name"],
      ["dots", file(`${part}=".."`), "The file needs a plain name"],
      ["a long name", file(`${part}="${"n".repeat(256)}"`), "The file needs a plain name"],
      ["a NUL in the name", file(`${part}="a\0b"`), "The file needs a plain name"],
      [
        "no end",
        `--b\r\nContent-Disposition: ${part}="a"\r\n\r\ncontent`,
        "The multipart body is broken: it ends before its last boundary",
      ],
      ["no boundary in it", "hello", "The multipart body is broken: it ends before its last boundary"],
      ["nothing", "", "The multipart body is broken: it ends before its last boundary"],
      [
        "headers without end",
        `--b\r\nX: ${"x".repeat(20_000)}`,
        "The multipart body is broken: the headers of a part are too long",
      ],
      [
        "a part without disposition",
        "--b\r\nX: y\r\n\r\n1\r\n--b--\r\n",
        "The multipart body is broken: a part has no name",
      ],
    ];
    for (const [what, body, sentence] of rows) {
      const answer = await send("POST", "upload", {
        body,
        headers: { "content-type": "multipart/form-data; boundary=b" },
      });
      assert.deepEqual([answer.status, (await answer.json()).error], [400, sentence], what);
    }
    for (const type of ["application/json", "multipart/form-data", "multipart/mixed; boundary=b", "text/plain"]) {
      const answer = await send("POST", "upload", { body: "x", headers: { "content-type": type } });
      assert.equal((await answer.json()).error, "Send the file as multipart field file", type);
    }
    const two = fileForm("1", "one");
    two.append("file", new Blob(["2"]), "two");
    assert.equal(await cellOf(await send("POST", "upload", { body: two })), "400 invalid_request");
    assert.ok([...Deno.readDirSync(volume)].length <= before + 1);
    await noTemporaries(volume);
  });
});

Deno.test(
  "a body that is shorter or longer than its length, breaks off or stops leaves the old file whole",
  needsPods,
  async () => {
    await withFiles(async ({ files, send, volume }) => {
      const path = "/workspace/f";
      ok(await files("write", { path, content: "old" }));
      const sized = (length: number) =>
        send("PUT", `upload?path=${path}`, { body: "12345", headers: { "content-length": String(length) } });
      assert.equal(await cellOf(await sized(4)), "409 pod_refused");
      assert.equal(await cellOf(await sized(6)), "409 pod_refused");
      const broken = (after: number, end: (controller: ReadableStreamDefaultController<Uint8Array>) => void) => {
        let pulls = 0;
        return new ReadableStream<Uint8Array>({
          pull: (controller) => ++pulls > after ? end(controller) : controller.enqueue(new Uint8Array(300_000)),
        }, { highWaterMark: 0 });
      };
      const gone = () => broken(5, (controller) => controller.error(new Deno.errors.Interrupted("gone")));
      const put = await send("PUT", `upload?path=${path}`, { body: gone() });
      assert.deepEqual([put.status, (await put.json()).error], [400, "The body ended before it was complete"]);
      const never = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) }, { highWaterMark: 0 });
      const stopped = await send("PUT", `upload?path=${path}`, { body: never });
      assert.deepEqual([stopped.status, (await stopped.json()).error], [400, "Nothing of the body came for 1 seconds"]);
      assert.equal(await Deno.readTextFile(`${volume}/f`), "old");
      await noTemporaries(volume);
    }, { fileTimings: { clientMs: 1_000 } });
  },
);

Deno.test(
  "a file that grows is sent as long as it was, one that shrinks ends the answer, a sparse one comes whole",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { volume, world } = scene;
      await Deno.writeFile(`${volume}/grows`, new Uint8Array(5 * MB));
      const grows = await down(scene, "/workspace/grows");
      await Deno.writeFile(`${volume}/grows`, new Uint8Array(MB), { append: true });
      assert.equal((await grows.bytes()).length, 5 * MB);
      await Deno.writeFile(`${volume}/shrinks`, new Uint8Array(30 * MB));
      const shrinks = await down(scene, "/workspace/shrinks");
      const reader = shrinks.body!.getReader();
      await reader.read();
      await Deno.truncate(`${volume}/shrinks`, MB);
      await assert.rejects(async () => {
        while (!(await reader.read()).done);
      }, /shorter than it was/);
      assert.ok(world.logLines.some((line) => line.includes("A transfer from a pod broke off")));
      await Deno.writeTextFile(`${volume}/sparse`, "");
      await Deno.truncate(`${volume}/sparse`, 50 * MB);
      let length = 0;
      for await (const chunk of (await down(scene, "/workspace/sparse")).body!) length += chunk.length;
      assert.equal(length, 50 * MB);
    });
  },
);

Deno.test(
  "a client that goes away from a download or an archive frees the pod, and the next call works",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { volume, send, files, exec } = scene;
      await Deno.mkdir(`${volume}/d`);
      await Deno.writeFile(`${volume}/d/big`, randomBytes(30 * MB));
      for (let turn = 0; turn < 12; turn++) {
        const answer = await down(scene, "/workspace/d/big");
        const reader = answer.body!.getReader();
        await reader.read();
        await reader.cancel();
        const archive = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/d" }) });
        await archive.body!.cancel();
      }
      ok(await files("stat", { path: "/workspace/d" }));
      await until(async () => (await exec("pgrep -f '[-]czf'")).exitCode === 1, "no tar is left on the pod");
    });
  },
);

Deno.test("an archive holds links as links, other kinds by name, and unpacks to the same tree", needsPods, async () => {
  await withFiles(async ({ exec, send, volume, files }) => {
    await exec(`cd /workspace && mkdir -p t/sub && echo one >t/one && ln -s /etc/passwd t/link && mkfifo t/fifo &&
      printf x >t/sub/'a b' && chmod 600 t/one && ln -s t to-t`);
    const target = await Deno.makeTempDir();
    try {
      for (const [path, top] of [["/workspace/t", "t"], ["/workspace/to-t", "t"]] as const) {
        const answer = await send("POST", "archive", { body: JSON.stringify({ path }) });
        assert.equal(answer.headers.get("content-type"), "application/gzip");
        const tar = new Deno.Command("tar", { args: ["-xz", "-C", target], stdin: "piped", stderr: "piped" }).spawn();
        const status = tar.output();
        await answer.body!.pipeTo(tar.stdin);
        assert.equal((await status).code, 0);
        assert.equal(await Deno.readLink(`${target}/${top}/link`), "/etc/passwd");
        assert.equal(await Deno.readTextFile(`${target}/${top}/sub/a b`), "x");
        assert.ok((await Deno.lstat(`${target}/${top}/fifo`)).isFifo);
        await Deno.remove(`${target}/${top}`, { recursive: true });
      }
    } finally {
      await Deno.remove(target, { recursive: true });
    }
    const one = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/t/one" }) });
    assert.match(one.headers.get("content-disposition")!, /one\.tar\.gz/);
    await one.body?.cancel();
    await exec(
      "mv /usr/local/bin /usr/local/bin2; mkdir /usr/local/bin; printf '#!/bin/sh\\nexit 3\\n' >/usr/local/bin/tar; chmod +x /usr/local/bin/tar",
    );
    const failing = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/t" }) });
    assert.equal(await cellOf(failing), "409 command_failed");
    ok(await files("delete", { path: "/workspace/t" }));
    assert.ok(await Deno.lstat(`${volume}/to-t`));
  });
});
