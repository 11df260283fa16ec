import assert from "node:assert/strict";
import { cell, type FileScene, needsPods, ok, withFiles } from "./support.ts";

const exists = async ({ exec }: FileScene, path: string) =>
  (await exec(`test -e ${path} -o -L ${path}`)).exitCode === 0;

Deno.test(
  "delete takes a folder with all in it, unlinks links, and says 404 for what is missing",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, exec } = scene;
      await exec(`cd /workspace && mkdir -p outside tree/a/b && echo keep >outside/keep && ln -s ../outside tree/link &&
      ln -s ../../outside/keep tree/a/file-link && mkfifo tree/fifo && touch tree/-rf 'tree/a b' tree/.hidden &&
      ln -s outside to-folder && ln -s nowhere broken && chmod 000 tree/a`);
      for (const path of ["/workspace/to-folder", "/workspace/broken", "/workspace/tree"]) {
        assert.deepEqual(ok(await files("delete", { path })).json, { deleted: path });
        assert.equal(await exists(scene, path), false, path);
      }
      assert.ok(await exists(scene, "/workspace/outside/keep"));
      for (const path of ["/workspace/tree", "/workspace/none/x", "/workspace/outside/keep/x"]) {
        assert.equal(cell(await files("delete", { path })), "404 file_not_found", path);
      }
      ok(await files("delete", { path: "/workspace/outside/../outside/./keep" }));
      assert.equal(await exists(scene, "/workspace/outside/keep"), false);
    });
  },
);

Deno.test("protected folders, mount points and what holds one are neither deleted nor moved", needsPods, async () => {
  await withFiles(async (scene) => {
    const { files, exec, world, pod } = scene;
    await exec("mkdir -p /data/mine/x; ln -s /workspace /root/ws; ln -s / /root/top");
    world.db.run(
      "update compute_pods set config = json_set(config, '$.volume_mount_path', '/data/mine/') where runpod_id = ?",
      pod,
    );
    const paths = ["/", "/workspace", "/workspace/users", "/workspace/shared", "/workspace/shared/", "/root", "/home"];
    paths.push(
      "/etc",
      "/usr",
      "/bin",
      "/sbin",
      "/lib",
      "/var",
      "/boot",
      "/dev",
      "/proc",
      "/sys",
      "/run",
      "/opt",
      "/tmp",
    );
    paths.push(
      "/dev/shm",
      "/dev/pts",
      "/usr/local",
      "/etc/alternatives",
      "/data/mine",
      "/workspace/../workspace/users",
    );
    // By links: the folder is named as it is on the pod.
    paths.push("/root/ws/users", "/root/ws/shared", "/root/top/etc", "/root/top/workspace", "/proc/1/root/etc");
    for (const path of paths) {
      const refused = await files("delete", { path });
      assert.equal(cell(refused), "400 invalid_request", `${path}: ${refused.text}`);
      assert.match(refused.json.error, /^That directory cannot be deleted/);
      const moved = await files("rename", { old_path: path, new_path: "/srv/moved" });
      assert.equal(cell(moved), "400 invalid_request", `${path}: ${moved.text}`);
    }
    // What holds a mount point further down.
    await exec("mkdir -p /srv/deep/er");
    assert.ok(await exists(scene, "/data/mine/x"));
    for (const path of ["/workspace/users", "/workspace/shared", "/etc/passwd", "/usr/bin/env"]) {
      assert.ok(await exists(scene, path), path);
    }
    ok(await files("delete", { path: "/root/ws" }));
    ok(await files("delete", { path: "/srv/deep" }));
    ok(await files("delete", { path: "/data/mine/x" }));
    assert.ok(await exists(scene, "/workspace/users"));
  });
});

Deno.test("a deletion that is refused by the pod says so in the command's own words", needsPods, async () => {
  await withFiles(async ({ files }) => {
    const usr = await files("delete", { path: "/usr/share/doc" });
    assert.equal(cell(usr), "409 command_failed");
    assert.match(usr.json.error, /^rm: cannot remove .*Read-only file system/);
    assert.ok(usr.json.error.length <= 400 && !usr.json.error.includes("\n"));
    const file = await files("delete", { path: "/usr/bin/env" });
    assert.deepEqual([cell(file), file.json.error], [
      "403 permission_denied",
      "The file system on the pod is read-only",
    ]);
    const proc = await files("delete", { path: "/proc/self" });
    assert.match(cell(proc), /^(403|409) /);
  });
});
