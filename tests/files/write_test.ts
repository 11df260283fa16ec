import assert from "node:assert/strict";
import { renameOver } from "../../server/files/replace_file.ts";
import { type Sftp, SftpError } from "../../server/ssh/sftp/mod.ts";
import { lacks } from "../support/needs.ts";
import { path, withSftp } from "../support/sftp.ts";
import { cell, cellOf, needsPods, noTemporaries, ok, withFiles } from "./support.ts";

const PATH = "/workspace/f.txt";

Deno.test(
  "a write with the ETag that was read goes through once, and is refused when the file changed or went",
  needsPods,
  async () => {
    await withFiles(async ({ files, exec, volume, send }) => {
      ok(await files("write", { path: PATH, content: "one" }));
      const { etag } = ok(await files("read", { path: PATH })).json;
      const second = ok(await files("write", { path: PATH, content: "two", if_match: etag })).json;
      const stale = await files("write", { path: PATH, content: "three", if_match: etag });
      assert.equal(cell(stale), "409 changed_meanwhile");
      assert.equal(stale.json.error, "The file was changed or removed meanwhile; read it again");
      assert.equal(await Deno.readTextFile(`${volume}/f.txt`), "two");

      // Same size, same second: only the content tells.
      await exec(`cd /workspace && touch -r f.txt stamp && printf owt >f.txt && touch -r stamp f.txt`);
      assert.equal(
        cell(await files("write", { path: PATH, content: "x", if_match: second.etag })),
        "409 changed_meanwhile",
      );

      const down = await send("GET", `download?path=${PATH}`);
      await down.body?.cancel();
      const state = ok(await files("stat", { path: PATH })).json.etag;
      assert.equal(down.headers.get("etag"), state);
      ok(await files("write", { path: PATH, content: "by state", if_match: state }));
      assert.equal(cell(await files("write", { path: PATH, content: "x", if_match: state })), "409 changed_meanwhile");
      const put = (tag: string) =>
        send("PUT", `upload?${new URLSearchParams({ path: PATH, if_match: tag })}`, { body: "put" });
      assert.equal(await cellOf(await put(state)), "409 changed_meanwhile");
      const read = ok(await files("read", { path: PATH })).json;
      assert.equal(await cellOf(await put(read.etag)), "200");

      ok(await files("delete", { path: PATH }));
      assert.equal(
        cell(await files("write", { path: PATH, content: "x", if_match: read.etag })),
        "409 changed_meanwhile",
      );
      assert.equal(cell(await files("write", { path: PATH, content: "x", if_match: state })), "409 changed_meanwhile");
      await assert.rejects(Deno.lstat(`${volume}/f.txt`), Deno.errors.NotFound);
      for (const if_match of ["abc", '"', '""', `"${"x".repeat(200)}"`, 'W/"a"', "*"]) {
        assert.equal(
          cell(await files("write", { path: PATH, content: "x", if_match })),
          "400 invalid_request",
          if_match,
        );
      }
      await noTemporaries(volume);
    });
  },
);

Deno.test("an upload that must be new takes a free name once, and replaces nothing", needsPods, async () => {
  await withFiles(async ({ volume, send }) => {
    const put = async (query: Record<string, string>, body: string) =>
      await cellOf(await send("PUT", `upload?${new URLSearchParams({ path: PATH, ...query })}`, { body }));
    const both = await Promise.all(["a", "b", "c"].map((body) => put({ must_be_new: "true" }, body)));
    assert.deepEqual(both.toSorted(), ["200", "409 pod_refused", "409 pod_refused"]);
    const first = await Deno.readTextFile(`${volume}/f.txt`);
    assert.equal(first, "abc"[both.indexOf("200")]);
    assert.equal(await put({ must_be_new: "true" }, "late"), "409 pod_refused");
    assert.equal(await put({ must_be_new: "yes" }, "x"), "400 invalid_request");
    assert.equal(await put({ must_be_new: "true", if_match: '"1"' }, "x"), "400 invalid_request");
    assert.equal(await Deno.readTextFile(`${volume}/f.txt`), first);
    assert.equal(await put({ must_be_new: "false" }, "over it"), "200");
    await noTemporaries(volume);
  });
});

Deno.test("of three writes at once with the same ETag one goes through", needsPods, async () => {
  await withFiles(async ({ files, volume }) => {
    ok(await files("write", { path: PATH, content: "start" }));
    const { etag } = ok(await files("read", { path: PATH })).json;
    const outcomes = await Promise.all(
      ["a", "b", "c"].map((content) => files("write", { path: PATH, content, if_match: etag })),
    );
    assert.deepEqual(outcomes.map(cell).sort(), ["200", "409 changed_meanwhile", "409 changed_meanwhile"]);
    // Without one the last wins, and the file is always whole.
    const texts = ["a", "b", "c"].map((letter) => letter.repeat(300_000));
    await Promise.all(texts.map(async (content) => ok(await files("write", { path: PATH, content }))));
    assert.ok(texts.includes(await Deno.readTextFile(`${volume}/f.txt`)));
    await noTemporaries(volume);
  });
});

Deno.test("mode and owner of a file are kept, and a new file has the usual ones", needsPods, async () => {
  await withFiles(async ({ files, volume, send }) => {
    const at = `${volume}/f.txt`;
    ok(await files("write", { path: PATH, content: "new" }));
    const fresh = await Deno.stat(at);
    assert.deepEqual([fresh.mode! & 0o7777, fresh.uid, fresh.gid], [0o644, 0, 0]);
    for (const mode of [0o600, 0o444, 0o000, 0o4711]) {
      await Deno.chown(at, 1234, 4321);
      await Deno.chmod(at, mode);
      ok(await files("write", { path: PATH, content: "kept" }));
      const kept = await Deno.stat(at);
      assert.deepEqual([kept.mode! & 0o7777, kept.uid, kept.gid], [mode & 0o777, 1234, 4321], mode.toString(8));
      assert.equal(await cellOf(await send("PUT", `upload?path=${PATH}`, { body: "up" })), "200");
      const again = await Deno.stat(at);
      assert.deepEqual([again.mode! & 0o7777, again.uid, again.gid], [mode & 0o777, 1234, 4321], mode.toString(8));
    }
  });
});

Deno.test("a file that is not UTF-8 is refused, read with lossy, and never written back", needsPods, async () => {
  await withFiles(async ({ files, volume, send }) => {
    const bytes = Uint8Array.of(0x61, 0xff, 0x62, 0xc3);
    await Deno.writeFile(`${volume}/f.txt`, bytes);
    const refused = await files("read", { path: PATH });
    assert.equal(cell(refused), "409 not_text");
    assert.match(refused.json.error, /not UTF-8 text. Download it/);
    assert.deepEqual(ok(await files("read", { path: PATH, lossy: true })).json, {
      path: PATH,
      content: "a\ufffdb\ufffd",
      lossy: true,
    });
    const write = await files("write", { path: PATH, content: "a\ufffdb\ufffd", was_lossy: true });
    assert.equal(cell(write), "409 not_text");
    assert.deepEqual(await Deno.readFile(`${volume}/f.txt`), bytes);
    assert.deepEqual(await (await send("GET", `download?path=${PATH}`)).bytes(), bytes);
  });
});

Deno.test(
  "text survives byte for byte: NUL, byte order mark, line ends, escapes, 1,000,000 bytes",
  needsPods,
  async () => {
    await withFiles(async ({ files, volume }) => {
      const texts = [
        "",
        "\0",
        "a\0b",
        "\ufeffbom",
        "a\r\nb\rc\n",
        "\\u0000",
        '"\\',
        "\u202e",
        "é".repeat(500_000),
        "\u0001".repeat(1_000_000),
      ];
      for (const content of texts) {
        ok(await files("write", { path: PATH, content }));
        assert.deepEqual(await Deno.readFile(`${volume}/f.txt`), new TextEncoder().encode(content));
        assert.equal(ok(await files("read", { path: PATH })).json.content, content);
      }
      ok(await files("write", { path: "/workspace/\\u0000", content: "a name that looks like an escape" }));
      assert.ok(await Deno.lstat(`${volume}/\\u0000`));
      for (const content of ["a".repeat(1_000_001), "é".repeat(500_001), "\ud800", 1, null, ["a"]]) {
        const answer = await files("write", { path: PATH, content });
        assert.equal(cell(answer), "400 invalid_request");
        assert.equal(answer.json.error, "content must be text of at most 1000000 bytes");
      }
      assert.equal(cell(await files("write", { path: "/workspace/a\0", content: "x" })), "400 invalid_request");
      await Deno.writeTextFile(`${volume}/f.txt`, "a".repeat(1_000_001));
      const large = await files("read", { path: PATH });
      assert.deepEqual([cell(large), large.json.error], [
        "413 too_large",
        "The file is larger than 1000000 bytes; download it instead",
      ]);
    });
  },
);

Deno.test("the operator's limits hold for text and transfers", needsPods, async () => {
  const env = { ORGPODS_FILE_TEXT_LIMIT: "10", ORGPODS_FILE_TRANSFER_LIMIT: "20" };
  await withFiles(async ({ files, send, volume }) => {
    ok(await files("write", { path: PATH, content: "0123456789" }));
    assert.equal(cell(await files("write", { path: PATH, content: "0123456789a" })), "400 invalid_request");
    await Deno.writeTextFile(`${volume}/f.txt`, "x".repeat(21));
    assert.equal(cell(await files("read", { path: PATH })), "413 too_large");
    const down = await send("GET", `download?path=${PATH}`);
    assert.equal(down.status, 413);
    assert.equal((await down.json()).error, "The file is larger than 20 bytes");
    assert.equal((await send("GET", `download?path=${PATH}`, { headers: { range: "bytes=1-" } })).status, 206);
    const put = (body: BodyInit) => send("PUT", "upload?path=/workspace/up", { body });
    assert.equal(await cellOf(await put("x".repeat(20))), "200");
    const pieces = () => new Response("y".repeat(21)).body!;
    for (const body of ["y".repeat(21), pieces()]) {
      const up = await put(body);
      assert.equal(up.status, 413);
      assert.equal((await up.json()).error, "Uploads are limited to 20 bytes");
    }
    assert.equal(await Deno.readTextFile(`${volume}/up`), "x".repeat(20));
    await Deno.mkdir(`${volume}/d`);
    await Deno.writeTextFile(`${volume}/d/f`, "x".repeat(21));
    const packed = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/d" }) });
    assert.equal(await cellOf(packed), "413 too_large");
    await noTemporaries(volume);
  }, { env });
});

Deno.test(
  "temporary files of an earlier run are removed at the first write to their folder, and nothing else is",
  needsPods,
  async () => {
    await withFiles(async ({ files, volume, exec }) => {
      const stale = `.orgpods-upload-${"0".repeat(24)}.tmp`;
      const others = [
        `.orgpods-upload-${"0".repeat(23)}.tmp`,
        `${stale}x`,
        ".orgpods-upload-",
        `.orgpods-upload-${"1".repeat(24)}.tmp`,
      ];
      await exec(`cd /workspace && touch ${stale} ${others.slice(0, 3).join(" ")} && mkdir ${others[3]}`);
      ok(await files("write", { path: PATH, content: "x" }));
      const names = [...Deno.readDirSync(volume)].map((entry) => entry.name);
      assert.ok(!names.includes(stale));
      for (const other of others) assert.ok(names.includes(other), other);
      // The folder was looked through; a listing for each write would be dear.
      await Deno.writeTextFile(`${volume}/${stale}`, "");
      ok(await files("write", { path: PATH, content: "y" }));
      assert.ok(await Deno.lstat(`${volume}/${stale}`));
    });
  },
);

Deno.test("mkdir and rename refuse what is there already and what is missing", needsPods, async () => {
  await withFiles(async ({ files, volume, exec }) => {
    ok(await files("write", { path: PATH, content: "x" }));
    await exec("cd /workspace && mkdir d d/e && ln -s nowhere broken");
    for (const path of [PATH, "/workspace/d", "/workspace/broken", "/workspace", "/"]) {
      assert.equal(cell(await files("mkdir", { path })), "409 pod_refused", path);
    }
    assert.equal(cell(await files("mkdir", { path: "/workspace/none/x" })), "404 file_not_found");
    assert.equal(cell(await files("mkdir", { path: `${PATH}/x` })), "404 file_not_found");
    const rename = (old_path: string, new_path: string) => files("rename", { old_path, new_path });
    for (const target of ["/workspace/d", "/workspace/broken", PATH]) {
      const answer = await rename(PATH, target);
      assert.deepEqual([cell(answer), answer.json.error], [
        "409 pod_refused",
        "There is already something at this path",
      ]);
    }
    assert.equal(cell(await rename("/workspace/none", "/workspace/x")), "404 file_not_found");
    assert.equal(cell(await rename(PATH, "/workspace/none/x")), "404 file_not_found");
    assert.equal(cell(await rename("/workspace/d", "/workspace/d/e/f")), "400 invalid_request");
    ok(await rename("/workspace/broken", "/workspace/d/moved"));
    assert.equal(await Deno.readLink(`${volume}/d/moved`), "nowhere");
    ok(await rename("/workspace/d", "/workspace/d2"));
    // To another file system: a file is copied, a folder is not.
    ok(await rename(PATH, "/tmp/f.txt"));
    assert.equal(ok(await files("read", { path: "/tmp/f.txt" })).json.content, "x");
    await assert.rejects(Deno.lstat(`${volume}/f.txt`), Deno.errors.NotFound);
    const folder = await rename("/workspace/d2", "/tmp/d2");
    assert.deepEqual([cell(folder), folder.json.error], [
      "409 pod_refused",
      "Only a file can be moved to another file system",
    ]);
    await noTemporaries(volume);
  });
});

Deno.test("renameOver brings the old file back when the pod's server has no posix-rename and the second step fails", {
  ignore: lacks("sshd", "ssh-keygen", "root"),
}, async () => {
  await withSftp(async ({ sftp, folder }) => {
    const unsupported = () => Promise.reject(new SftpError("unsupported", "No posix-rename"));
    const older: Sftp = { ...sftp, replace: unsupported };
    const at = (name: string) => path(`${folder}/${name}`);
    const names = () => [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
    await Deno.writeTextFile(`${folder}/new`, "new");
    await renameOver(older, at("new"), at("f"), false, {});
    assert.deepEqual([names(), await Deno.readTextFile(`${folder}/f`)], [["f"], "new"]);

    await Deno.writeTextFile(`${folder}/newer`, "newer");
    await renameOver(older, at("newer"), at("f"), false, {});
    assert.deepEqual([names(), await Deno.readTextFile(`${folder}/f`)], [["f"], "newer"]);

    await Deno.writeTextFile(`${folder}/newest`, "newest");
    const failing: Sftp = {
      ...older,
      rename: (from, to, options) =>
        new TextDecoder().decode(from).endsWith("newest")
          ? Promise.reject(new SftpError("failure", "The pod refused: Failure"))
          : sftp.rename(from, to, options),
    };
    await assert.rejects(renameOver(failing, at("newest"), at("f"), false, {}), SftpError);
    assert.deepEqual([names(), await Deno.readTextFile(`${folder}/f`)], [["f", "newest"], "newer"]);
    await assert.rejects(renameOver(sftp, at("newest"), at("f"), true, {}), SftpError);
    assert.equal(await Deno.readTextFile(`${folder}/f`), "newer");
  });
});
