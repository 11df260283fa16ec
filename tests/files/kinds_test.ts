/** What is no plain file: the right answer for each route, and nothing hangs. */
import assert from "node:assert/strict";
import { cell, cellOf, fileForm, type FileScene, needsPods, noTemporaries, ok, withFiles } from "./support.ts";

const SET_UP = `cd /workspace && mkdir folder && echo in >folder/in && mkfifo fifo && ln -s fifo to-fifo &&
  ln -s nowhere broken && ln -s loop loop && ln -s folder to-folder && ln -s folder/in to-file && ln -s / out &&
  ln -s a b && ln -s b a && perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Listen => 1, Local => "socket")'`;

interface Expected {
  readonly read: string;
  readonly download: string;
  readonly list: string;
  readonly write: string;
  readonly archive: string;
}
const REFUSED = "409 pod_refused";
const MISSING = "404 file_not_found";
const SPECIAL: Expected = { read: REFUSED, download: REFUSED, list: REFUSED, write: REFUSED, archive: "200" };

const ROWS: Readonly<Record<string, Expected>> = {
  "/workspace/fifo": SPECIAL,
  "/workspace/to-fifo": SPECIAL,
  "/workspace/socket": SPECIAL,
  "/dev/null": SPECIAL,
  "/dev/zero": SPECIAL,
  "/workspace/folder": { read: REFUSED, download: REFUSED, list: "200", write: REFUSED, archive: "200" },
  "/workspace/to-folder": { read: REFUSED, download: REFUSED, list: "200", write: REFUSED, archive: "200" },
  "/workspace/broken": { read: MISSING, download: MISSING, list: MISSING, write: MISSING, archive: MISSING },
  "/workspace/loop": { read: MISSING, download: MISSING, list: MISSING, write: MISSING, archive: MISSING },
  "/workspace/a": { read: MISSING, download: MISSING, list: MISSING, write: MISSING, archive: MISSING },
  "/workspace/loop/x": { read: MISSING, download: MISSING, list: MISSING, write: MISSING, archive: MISSING },
  "/workspace/none": { read: MISSING, download: MISSING, list: MISSING, write: "200", archive: MISSING },
  "/workspace/none/x": { read: MISSING, download: MISSING, list: MISSING, write: MISSING, archive: MISSING },
  "/workspace/folder/in/x": { read: MISSING, download: MISSING, list: MISSING, write: MISSING, archive: MISSING },
  "/proc/self/status": { read: "200", download: "200", list: REFUSED, write: MISSING, archive: "200" },
  "/proc/none": { read: MISSING, download: MISSING, list: MISSING, write: MISSING, archive: MISSING },
  "/proc": { read: REFUSED, download: REFUSED, list: "200", write: REFUSED, archive: "skip" },
  "/": { read: REFUSED, download: REFUSED, list: "200", write: REFUSED, archive: "skip" },
};

async function answersFor({ files, list, send }: FileScene, path: string): Promise<Expected> {
  const body = JSON.stringify({ path });
  return {
    read: cell(await files("read", { path })),
    download: await cellOf(await send("POST", "download", { body })),
    list: cell(await list(path)),
    // Those two hold the whole machine.
    archive: path === "/" || path === "/proc" ? "skip" : await cellOf(await send("POST", "archive", { body })),
    write: cell(await files("write", { path, content: "new" })),
  };
}

Deno.test(
  "FIFOs, sockets, devices, links, folders and files of /proc get their answers and hang nothing",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { exec, files, list, volume } = scene;
      const setUp = await exec(SET_UP);
      assert.equal(setUp.exitCode, 0, new TextDecoder().decode(setUp.stderr));
      for (const [path, wanted] of Object.entries(ROWS)) {
        assert.deepEqual(await answersFor(scene, path), wanted, path);
      }
      const entries = ok(await list("/workspace")).json.files;
      const told = Object.fromEntries(entries.map((e: Record<string, unknown>) => [e.name, [e.type, e.kind, e.link]]));
      assert.deepEqual(told.fifo, ["file", "fifo", undefined]);
      assert.deepEqual(told.socket, ["file", "socket", undefined]);
      assert.deepEqual(told.broken, ["file", "link", true]);
      assert.deepEqual(told.loop, ["file", "link", true]);
      assert.deepEqual(told["to-folder"], ["directory", "link", true]);
      assert.deepEqual(told["to-file"], ["file", "link", true]);
      assert.deepEqual(told.folder, ["directory", undefined, undefined]);
      const state = ok(await files("stat", { path: "/workspace/to-file" })).json;
      assert.deepEqual([state.target, state.link, state.type, state.etag], ["folder/in", true, "file", undefined]);
      await noTemporaries(volume);
    });
  },
);

Deno.test("a write and an upload onto a link go to the file it leads to", needsPods, async () => {
  await withFiles(async ({ exec, files, send, volume }) => {
    await exec(
      `cd /workspace && mkdir d && echo old >d/real && chmod 600 d/real && ln -s d/real link && ln -s d dlink`,
    );
    ok(await files("write", { path: "/workspace/link", content: "new" }));
    assert.equal(await Deno.readTextFile(`${volume}/d/real`), "new");
    assert.equal((await send("PUT", "upload?path=/workspace/link", { body: "newer" })).status, 200);
    assert.equal(await Deno.readTextFile(`${volume}/d/real`), "newer");
    assert.ok((await Deno.lstat(`${volume}/link`)).isSymlink);
    assert.equal((await Deno.stat(`${volume}/d/real`)).mode! & 0o7777, 0o600);
    assert.equal(
      (await send("POST", "upload", { body: fileForm("x", "new.txt", { path: "/workspace/dlink" }) })).status,
      200,
    );
    assert.equal(await Deno.readTextFile(`${volume}/d/new.txt`), "x");
  });
});

Deno.test("a file of /proc comes whole although its size is told as 0", needsPods, async () => {
  await withFiles(async ({ exec, files, send }) => {
    const table = new TextDecoder().decode((await exec("cat /proc/sys/kernel/ostype")).stdout);
    assert.equal(ok(await files("read", { path: "/proc/sys/kernel/ostype" })).json.content, table);
    const down = await send("GET", "download?path=/proc/sys/kernel/ostype");
    assert.deepEqual([down.status, down.headers.get("content-length"), down.headers.get("etag")], [200, null, null]);
    assert.equal(await down.text(), table);
    const head = await send("HEAD", "download?path=/proc/sys/kernel/ostype");
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });
});
