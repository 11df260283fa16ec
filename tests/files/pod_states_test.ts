/** The pod around the files: stopped, restarted, killed, impostors, full SSH servers; and what the audit says. */
import assert from "node:assert/strict";
import { until } from "../support/sshd.ts";
import { cell, cellOf, type FileScene, needsPods, noTemporaries, ok, untilReachable, withFiles } from "./support.ts";

/** Only a pod with a GPU keeps its volume over a stop. */
const WITH_VOLUME = { pod: { use_cpu_only: false } };

const act = async ({ world, pod }: FileScene, action: string) => {
  ok(await world.call("POST", `/api/compute/org/pods/${pod}/action`, { as: "officer", body: { action } }));
  world.clock.advance(61_000);
  await world.runpod.idle();
};

Deno.test("a stopped pod is told as such, and a started one works again with its files", needsPods, async () => {
  await withFiles(async (scene) => {
    const { files, list, world, url } = scene;
    ok(await files("write", { path: "/workspace/kept", content: "k" }));
    await act(scene, "stop");
    for (const answer of [await list("/workspace"), await files("read", { path: "/workspace/kept" })]) {
      assert.deepEqual([cell(answer), answer.json.error], ["409 pod_not_running", "Pod is not running"]);
    }
    const other = url.replace(scene.pod, "nosuch");
    assert.equal(cell(await world.call("GET", other, { as: "officer" })), "404 pod_not_found");
    await act(scene, "start");
    await untilReachable(world, scene.pod);
    assert.equal(ok(await files("read", { path: "/workspace/kept" })).json.content, "k");
  }, WITH_VOLUME);
});

Deno.test("a pod that was stopped elsewhere is told as not running, not as unreachable", needsPods, async () => {
  await withFiles(async (scene) => {
    ok(await scene.list("/"));
    scene.world.runpod.pods.stop(scene.pod);
    await scene.world.runpod.idle();
    await until(async () => cell(await scene.list("/")) === "409 pod_not_running", "the stop is noticed");
  });
});

Deno.test(
  "a pod that is killed in the middle of a write keeps the old file, and the next write tidies up",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, send, volume, world } = scene;
      ok(await files("write", { path: "/workspace/f", content: "old" }));
      let sent = 0;
      const reached = Promise.withResolvers<void>();
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (++sent === 100) reached.resolve();
          controller.enqueue(new Uint8Array(65_536));
        },
      }, { highWaterMark: 0 });
      const upload = send("PUT", "upload?path=/workspace/f", { body });
      await reached.promise;
      await scene.host.stop(scene.pod, { keepVolume: true });
      assert.match(await cellOf(await upload), /^502 /);
      assert.equal(await Deno.readTextFile(`${volume}/f`), "old");
      const left = [...Deno.readDirSync(volume)].filter((entry) => entry.name.startsWith(".orgpods-upload-"));
      assert.equal(left.length, 1, "the pod had no time to remove it");

      await act(scene, "stop");
      await act(scene, "start");
      await untilReachable(world, scene.pod);
      ok(await files("write", { path: "/workspace/users/other", content: "x" }));
      await noTemporaries(volume);
      ok(await files("write", { path: "/workspace/f", content: "new" }));
      assert.equal(await Deno.readTextFile(`${volume}/f`), "new");
    });
  },
);

Deno.test("housekeeping removes what a broken link left, without another write", needsPods, async () => {
  await withFiles(async (scene) => {
    const { send, volume, link, world } = scene;
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (++sent === 100) link.cut();
        controller.enqueue(new Uint8Array(65_536));
      },
    }, { highWaterMark: 0 });
    assert.match(await cellOf(await send("PUT", "upload?path=/workspace/f", { body })), /^502 /);
    assert.equal([...Deno.readDirSync(volume)].filter((entry) => entry.name.startsWith(".orgpods-upload-")).length, 1);
    world.app.run();
    const isTidy = () => ![...Deno.readDirSync(volume)].some((entry) => entry.name.startsWith(".orgpods-upload-"));
    await until(isTidy, "the temporary file is removed");
  }, { proxy: "ending" });
});

Deno.test("a host key that changes within one start is refused on the next connection", needsPods, async () => {
  await withFiles(async (scene) => {
    const { files, exec, list, link, world } = scene;
    ok(await files("write", { path: "/workspace/f", content: "old" }));
    const NEW_KEY = "rm /etc/ssh/ssh_host_*; ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key; " +
      "kill -HUP $(pgrep -o -x sshd)";
    await exec(NEW_KEY);
    await until(async () => {
      link.cut();
      return cell(await list("/workspace")) === "502 host_key_changed";
    }, "the new key is shown");
    assert.equal(cell(await files("write", { path: "/workspace/f", content: "new" })), "502 host_key_changed");
    const { attention } = ok(await world.call("GET", "/api/compute/org/attention", { as: "officer" })).json;
    assert.ok(attention.some((entry: { kind: string }) => entry.kind === "host_key_changed"));
    assert.equal(await Deno.readTextFile(`${scene.volume}/f`), "old");
  }, { proxy: "ending" });
});

Deno.test("an SSH server that opens no further channel gives a clear error for what needs one", needsPods, async () => {
  await withFiles(async (scene) => {
    const { files, exec, link, list, send } = scene;
    await exec(
      "mkdir /workspace/e && echo 'MaxSessions 1' >/etc/ssh/sshd_config.d/few.conf && kill -HUP $(pgrep -o -x sshd)",
    );
    await until(async () => {
      link.cut();
      // The connection may still be one of the old sshd, or meet none while it starts again.
      const packed = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/e" }) });
      return (await packed.text()).includes("MaxSessions");
    }, "the limit holds");
    const refused = await files("delete", { path: "/workspace/e" });
    assert.match(refused.json.hint, /MaxSessions/);
    ok(await list("/workspace"));
    assert.ok(await Deno.stat(`${scene.volume}/e`));
  }, { proxy: "ending" });
});

Deno.test("twelve people work on one pod at once over its eight channels", needsPods, async () => {
  await withFiles(async (scene) => {
    const { files, exec, list, send } = scene;
    const users = Array.from({ length: 12 }, (_, n) => `u${n}`);
    await exec(
      `cd /workspace/users && for n in 0 1 2 3 4 5 6 7 8 9 10 11; do mkdir u$n && chown $((21000 + n)) u$n; done`,
    );
    await Promise.all(users.map(async (user) => {
      const home = `/workspace/users/${user}`;
      ok(await files("write", { path: `${home}/f`, content: user }));
      assert.equal(ok(await files("read", { path: `${home}/f` })).json.content, user);
      assert.equal(await cellOf(await send("POST", "archive", { body: JSON.stringify({ path: home }) })), "200");
      ok(await files("delete", { path: `${home}/f` }));
      assert.deepEqual(ok(await list(home)).json.files, []);
    }));
  });
});

Deno.test(
  "the audit names who, what and which path for reads, downloads and every change, and what failed",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, send, list, world, pod } = scene;
      const last = () =>
        world.db.get<Record<string, string>>("select * from audit_log order by id desc limit 1") as Record<
          string,
          string
        >;
      const count = () => world.db.get<{ n: number }>("select count(*) n from audit_log")!.n;
      const odd = Uint8Array.of(0x2f, 0x77, 0xff);
      const path_b64 = btoa(String.fromCharCode(...odd));
      const path = "/workspace/a\u202eb\n";
      const shown = "/workspace/a\\u202eb\\u000a";
      const rows: [string, () => Promise<unknown>, Record<string, unknown>][] = [
        ["POST …/write", () => files("write", { path, content: "secret text" }), { path: shown, size: 11 }],
        ["POST …/read", () => files("read", { path }), { path: shown }],
        [
          "POST …/download",
          () => send("POST", "download", { body: JSON.stringify({ path }) }).then((a) => a.body?.cancel()),
          { path: shown, range: null },
        ],
        [
          "GET …/download",
          () =>
            send("GET", `download?${new URLSearchParams({ path })}`, { headers: { range: "bytes=0-1" } }).then((a) =>
              a.body?.cancel()
            ),
          { path: shown, range: "bytes=0-1" },
        ],
        [
          "POST …/archive",
          () => send("POST", "archive", { body: JSON.stringify({ path }) }).then((a) => a.body?.cancel()),
          { path: shown },
        ],
        ["PUT …/upload", () => send("PUT", `upload?${new URLSearchParams({ path_b64 })}`, { body: "x" }), {
          path: "/w\ufffd",
          path_b64: "L3f_",
          size: 1,
        }],
        ["POST …/mkdir", () => files("mkdir", { path: "/workspace/d" }), { path: "/workspace/d" }],
        ["POST …/rename", () => files("rename", { old_path: path, new_path: "/workspace/n" }), {
          path: shown,
          to: { path: "/workspace/n" },
        }],
        ["POST …/delete", () => files("delete", { path: "/workspace/n" }), { path: "/workspace/n" }],
      ];
      for (const [action, call, details] of rows) {
        const before = count();
        await call();
        assert.equal(count(), before + 1, action);
        const row = last();
        assert.equal(row.action, action.replace("…", "/api/compute/:org/pods/:id/files"));
        assert.deepEqual([row.pod_id, row.org_prefix, row.actor_kind, row.outcome, row.status], [
          pod,
          "org",
          "officer",
          "ok",
          200,
        ]);
        assert.deepEqual(JSON.parse(row.details!), details, action);
      }
      assert.ok(!JSON.stringify(world.db.all("select * from audit_log")).includes("secret text"));
      const before = count();
      ok(await list("/workspace"));
      ok(await files("stat", { path: "/workspace" }));
      await files("read", { path: "/workspace/none" });
      await files("delete", { path: "/etc" });
      assert.equal(count(), before, "looks and what touched nothing are no rows");
      await files("delete", { path: "/usr/share/doc" });
      assert.deepEqual([last().outcome, Number(last().status)], ["command_failed", 409]);
    });
  },
);

Deno.test("a folder of 10,000 entries comes in pages, directories first, each entry once", needsPods, async () => {
  await withFiles(async ({ exec, list, world, url }) => {
    await exec(`mkdir /workspace/many && cd /workspace/many && seq -f 'f%05g' 1 9990 | xargs touch &&
      seq -f 'd%02g' 1 10 | xargs mkdir && mkdir /workspace/links && cd /workspace/links &&
      for n in $(seq 1 20); do ln -s ../many to$n; done; touch file`);
    const whole = ok(await list("/workspace/many")).json;
    assert.deepEqual([whole.files.length, whole.total, whole.cursor], [10_000, 10_000, null]);
    const names = whole.files.map((f: { name: string }) => f.name);
    assert.deepEqual(names.slice(0, 11), [
      ...Array.from({ length: 10 }, (_, n) => `d${String(n + 1).padStart(2, "0")}`),
      "f00001",
    ]);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: { json: { files: { name: string }[]; cursor: string | null } } = ok(
        await list("/workspace/many", { limit: "3000", ...(cursor === null ? {} : { cursor }) }),
      );
      paged.push(...page.json.files.map((f) => f.name));
      cursor = page.json.cursor;
    } while (cursor !== null);
    assert.deepEqual(paged, names);
    const first = ok(await list("/workspace/many", { limit: "5" })).json;
    await exec("rm -rf /workspace/many/d0[1-5]; mkdir /workspace/many/d055");
    const next = ok(await list("/workspace/many", { limit: "2", cursor: first.cursor })).json;
    assert.deepEqual(next.files.map((f: { name: string }) => f.name), ["d055", "d06"]);
    const links = ok(await list("/workspace/links")).json.files;
    assert.deepEqual(links.map((f: { type: string }) => f.type), [...Array(20).fill("directory"), "file"]);
    assert.equal(ok(await world.call("GET", `${url}?limit=10000`, { as: "officer" })).json.path, "/workspace");
  });
});

Deno.test("connect gives the pod's host key as lines of known_hosts", needsPods, async () => {
  await withFiles(async ({ world, pod, exec, list }) => {
    ok(await list("/"));
    const key = { public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEUvLzTrGgoO8DFLpyj2M3Qv8UUQLhlnDH2bxqYTZf7v test" };
    const answer =
      ok(await world.call("POST", `/api/compute/org/me/pods/${pod}/connect`, { as: "member", body: key })).json;
    const { host, port } = answer.ssh_info;
    const file = new TextDecoder().decode((await exec("cat /etc/ssh/ssh_host_ed25519_key.pub")).stdout).split(" ");
    assert.deepEqual(answer.known_hosts, [`[${host}]:${port} ${file[0]} ${file[1]}`]);
  });
});
