/** Every odd name of the vectors through every file route, byte for byte. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { oddNames } from "../support/sftp.ts";
import { cellOf, fileForm, type FileScene, needsPods, noTemporaries, ok, pathOf, withFiles } from "./support.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const all = oddNames.map(({ name }) => hex(name)).sort();

/** The names in a folder of this machine as the kernel has them. */
async function namesOnDisk(folder: string): Promise<string[]> {
  const args = [folder, "-mindepth", "1", "-maxdepth", "1", "-printf", "%f\\0"];
  const { stdout } = await new Deno.Command("find", { args }).output();
  const names = Buffer.from(stdout).toString("latin1").split("\0").slice(0, -1);
  return names.map((name) => Buffer.from(name, "latin1").toString("hex")).sort();
}

function bytesIn({ name, name_b64 }: { name: string; name_b64?: string }): string {
  return name_b64 === undefined
    ? hex(new TextEncoder().encode(name))
    : Buffer.from(name_b64, "base64url").toString("hex");
}

async function namesListed({ list }: FileScene, folder: string): Promise<string[]> {
  return ok(await list(folder)).json.files.map(bytesIn).sort();
}

Deno.test(
  "every odd name survives write, list, stat, read, download, rename and delete byte for byte",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, send, volume } = scene;
      for (const folder of ["from", "to"]) ok(await files("mkdir", { path: `/workspace/${folder}` }));
      for (const { what, name } of oddNames) {
        const path = pathOf("/workspace/from", name);
        const { etag } = ok(await files("write", { ...path, content: what })).json;
        assert.deepEqual(ok(await files("read", path)).json.content, what);
        assert.equal(ok(await files("read", path)).json.etag, etag, what);
      }
      assert.deepEqual(await namesOnDisk(`${volume}/from`), all);
      assert.deepEqual(await namesListed(scene, "/workspace/from"), all);

      for (const { what, name } of oddNames) {
        const path = pathOf("/workspace/from", name);
        const state = ok(await files("stat", path)).json;
        assert.deepEqual([state.size, state.type], [new TextEncoder().encode(what).length, "file"], what);
        const exact = state.path_b64 ?? Buffer.from(state.path).toString("base64url");
        assert.equal(exact, path.path_b64, what);
        const down = await send("GET", `download?${new URLSearchParams(path)}`);
        assert.equal(await down.text(), what);
        // A header holds printable ASCII: nothing that ends a line, a quoted text or a direction.
        assert.match(
          down.headers.get("content-disposition")!,
          /^attachment; filename="[ !#-.0-[\]-~]+"; filename\*=UTF-8''[A-Za-z0-9._~!%-]+$/,
        );
        const moved = pathOf("/workspace/to", name);
        ok(await files("rename", { old_path_b64: path.path_b64, new_path_b64: moved.path_b64 }));
      }
      assert.deepEqual(await namesOnDisk(`${volume}/from`), []);
      assert.deepEqual(await namesOnDisk(`${volume}/to`), all);
      for (const { name } of oddNames) ok(await files("delete", pathOf("/workspace/to", name)));
      assert.deepEqual(await namesOnDisk(`${volume}/to`), []);
      await noTemporaries(volume);
    });
  },
);

Deno.test("a name that is UTF-8 is taken and given as text", needsPods, async () => {
  await withFiles(async ({ files }) => {
    for (const { what, name } of oddNames) {
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(name);
      if (hex(new TextEncoder().encode(text)) !== hex(name)) continue;
      const path = `/workspace/${text}`;
      assert.equal(ok(await files("write", { path, content: what })).json.path, path);
      const read = ok(await files("read", { path })).json;
      assert.deepEqual([read.path, read.content, read.path_b64], [path, what, undefined]);
      assert.deepEqual(ok(await files("delete", { path })).json, { deleted: path });
    }
  });
});

Deno.test("every odd name is uploaded by a raw body and by a form", needsPods, async () => {
  await withFiles(async (scene) => {
    const { files, send, volume } = scene;
    for (const folder of ["raw", "form"]) ok(await files("mkdir", { path: `/workspace/${folder}` }));
    for (const { what, name } of oddNames) {
      const query = new URLSearchParams(pathOf("/workspace/raw", name));
      const raw = await send("PUT", `upload?${query}`, { body: what });
      assert.equal(await cellOf(raw), "200", what);
      // As a browser writes it, but with any bytes.
      const escaped = Buffer.from(name).toString("latin1").replace(/"/g, "%22").replace(/\r/g, "%0D").replace(
        /\n/g,
        "%0A",
      );
      const body = Buffer.concat([
        Buffer.from('--b\r\nContent-Disposition: form-data; name="path"\r\n\r\n/workspace/form\r\n'),
        Buffer.from(`--b\r\nContent-Disposition: form-data; name="file"; filename="${escaped}"\r\n\r\n`, "latin1"),
        Buffer.from(`${what}\r\n--b--\r\n`),
      ]);
      const headers = { "content-type": "multipart/form-data; boundary=b" };
      const form = await send("POST", "upload", { headers, body });
      assert.equal(await cellOf(form), "200", what);
    }
    for (const folder of ["raw", "form"]) assert.deepEqual(await namesOnDisk(`${volume}/${folder}`), all);
    for (const { what, name } of oddNames) {
      assert.equal(ok(await files("read", pathOf("/workspace/form", name))).json.content, what);
    }
    const { path } = await (await send("POST", "upload", { body: fileForm("x", "a.txt", { path: "/workspace/form" }) }))
      .json();
    assert.equal(path, "/workspace/form/a.txt");
  });
});

Deno.test(
  "folders with odd names are made, listed, packed, measured and deleted with what is in them",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, list, send, volume } = scene;
      ok(await files("mkdir", { path: "/workspace/odd" }));
      for (const { what, name } of oddNames) {
        const folder = pathOf("/workspace/odd", name);
        ok(await files("mkdir", folder));
        const inside = Buffer.concat([Buffer.from(folder.path_b64, "base64url"), Buffer.from("/x")]).toString(
          "base64url",
        );
        ok(await files("write", { path_b64: inside, content: what }));
        const listed = ok(await list("/", {})).json;
        assert.equal(listed.path, "/");
        const answer = ok(
          await scene.world.call("GET", `${scene.url}?${new URLSearchParams(folder)}`, { as: "officer" }),
        );
        assert.deepEqual(answer.json.files.map(bytesIn), [hex(new TextEncoder().encode("x"))], what);
      }
      const packed = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/odd" }) });
      assert.equal(packed.status, 200);
      const tar = new Deno.Command("tar", {
        args: ["-tz", "--null", "--quoting-style=literal", "--show-transformed"],
        stdin: "piped",
        stdout: "piped",
      }).spawn();
      const output = tar.output();
      await packed.body!.pipeTo(tar.stdin);
      // Names hold newlines, so the listing is compared as a whole.
      const listing = Buffer.from((await output).stdout).toString("latin1");
      for (const { what, name } of oddNames) {
        assert.ok(listing.includes(`odd/${Buffer.from(name).toString("latin1")}/x\n`), what);
      }
      for (const { name } of oddNames) ok(await files("delete", pathOf("/workspace/odd", name)));
      assert.deepEqual(await namesOnDisk(`${volume}/odd`), []);
    });
  },
);
