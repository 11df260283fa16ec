/** Full disks, read-only mounts and missing rights: a clear answer, the old file whole, nothing left behind. */
import assert from "node:assert/strict";
import { ALICE, cell, cellOf, fileForm, needsPods, ok, withFiles } from "./support.ts";

const MB = 1_000_000;
const NO_SPACE = "There is no space left on the pod's disk";

Deno.test("a full disk is told, and the old file stays whole", needsPods, async () => {
  await withFiles(async ({ files, send, exec }) => {
    // The pod's /dev is a file system of one megabyte.
    ok(await files("mkdir", { path: "/dev/d" }));
    ok(await files("write", { path: "/dev/d/old", content: "old" }));
    const put = await send("PUT", "upload?path=/dev/d/old", { body: new Uint8Array(2 * MB) });
    assert.equal(put.status, 409);
    assert.deepEqual(await put.json(), { error: NO_SPACE, code: "pod_refused" });
    const form = await send("POST", "upload", { body: fileForm(new Uint8Array(3 * MB), "new", { path: "/dev/d" }) });
    assert.equal(await cellOf(form), "409 pod_refused");
    const late = new FormData();
    late.append("file", new Blob([new Uint8Array(2 * MB)]), "late");
    late.append("path", "/dev/d");
    assert.equal(await cellOf(await send("POST", "upload", { body: late })), "409 pod_refused");
    const listing = await exec("ls -A /dev/d /workspace; cat /dev/d/old");
    assert.equal(new TextDecoder().decode(listing.stdout), "/dev/d:\nold\n\n/workspace:\nshared\nusers\nold");

    await exec("head -c 2000000 /dev/zero >/dev/d/fill");
    const write = await files("write", { path: "/dev/d/old", content: "x".repeat(500_000) });
    assert.deepEqual([cell(write), write.json.error], ["409 pod_refused", NO_SPACE]);
    const after = await exec("rm /dev/d/fill; ls -A /dev/d; cat /dev/d/old");
    assert.equal(new TextDecoder().decode(after.stdout), "old\nold");
    ok(await files("write", { path: "/dev/d/old", content: "y".repeat(500_000) }));
  });
});

Deno.test("a read-only mount refuses every change with 403", needsPods, async () => {
  await withFiles(async ({ files, send, volume }) => {
    await Deno.writeTextFile(`${volume}/f`, "f");
    const sentence = "The file system on the pod is read-only";
    const answers = [
      await files("write", { path: "/usr/new", content: "x" }),
      await files("write", { path: "/usr/bin/env", content: "x" }),
      await files("mkdir", { path: "/usr/new" }),
      await files("delete", { path: "/usr/bin/env" }),
      await files("rename", { old_path: "/usr/bin/env", new_path: "/usr/bin/env2" }),
    ];
    for (const answer of answers) {
      assert.deepEqual([cell(answer), answer.json.error], ["403 permission_denied", sentence]);
    }
    assert.equal(await cellOf(await send("PUT", "upload?path=/usr/new", { body: "x" })), "403 permission_denied");
    const form = await send("POST", "upload", { body: fileForm("x", "new", { path: "/usr" }) });
    assert.equal(await cellOf(form), "403 permission_denied");
    const copy = await files("rename", { old_path: "/workspace/f", new_path: "/usr/f" });
    assert.equal(cell(copy), "403 permission_denied");
    assert.equal(await Deno.readTextFile(`${volume}/f`), "f");
  });
});

Deno.test("what the owner may not do is refused with 403", needsPods, async () => {
  await withFiles(async ({ files, list, send, exec, volume }) => {
    await exec(`cd /workspace/users && mkdir alice && mkdir -m 700 alice/closed && echo r >alice/closed/r &&
      echo r >alice/unreadable && chmod 600 alice/unreadable && chown ${ALICE} alice`);
    const home = "/workspace/users/alice";
    for (const path of [`${home}/unreadable`, `${home}/closed/r`]) {
      assert.equal(cell(await files("read", { path })), "403 permission_denied", path);
      assert.equal(await cellOf(await send("GET", `download?path=${path}`)), "403 permission_denied", path);
    }
    assert.equal(cell(await list(`${home}/closed`)), "403 permission_denied");
    assert.equal(cell(await files("write", { path: `${home}/closed/r`, content: "x" })), "403 permission_denied");
    assert.equal(cell(await files("delete", { path: `${home}/closed/r` })), "403 permission_denied");
    const folder = await files("delete", { path: `${home}/closed` });
    assert.match(folder.json.error, /Permission denied/);
    const archive = await send("POST", "archive", { body: JSON.stringify({ path: home }) });
    await assert.rejects(archive.bytes(), /Permission denied/);
    assert.equal(await Deno.readTextFile(`${volume}/users/alice/closed/r`), "r\n");
  });
});
