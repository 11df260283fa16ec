/** Files of members are touched as the member, whatever links and swaps they prepare for root. */
import assert from "node:assert/strict";
import { until } from "../support/sshd.ts";
import {
  ALICE,
  BOB,
  cell,
  cellOf,
  fileForm,
  type FileScene,
  needsPods,
  noTemporaries,
  ok,
  withFiles,
} from "./support.ts";

/** Folders of two members, as the login program leaves them. */
async function members({ exec }: FileScene): Promise<void> {
  const made = await exec(`cd /workspace/users && mkdir alice bob && chmod 700 alice bob &&
    chown ${ALICE}:${ALICE} alice && chown ${BOB}:${BOB} bob`);
  assert.equal(made.exitCode, 0);
}

const asAlice = (command: string) => `setpriv --reuid=${ALICE} --regid=${ALICE} --clear-groups sh -c '${command}'`;

async function ownerOf(path: string): Promise<[number | null, number | null, number]> {
  const { uid, gid, mode } = await Deno.lstat(path);
  return [uid, gid, mode! & 0o7777];
}

Deno.test(
  "what officers write under a member's folder belongs to the member, without an account on the pod",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, send, list, volume } = scene;
      await members(scene);
      const home = "/workspace/users/alice";
      ok(await files("write", { path: `${home}/a.txt`, content: "a" }));
      ok(await files("mkdir", { path: `${home}/dir` }));
      assert.equal(await cellOf(await send("PUT", `upload?path=${home}/dir/raw`, { body: "raw" })), "200");
      assert.equal(await cellOf(await send("POST", "upload", { body: fileForm("f", "form", { path: home }) })), "200");
      for (const name of ["a.txt", "dir", "dir/raw", "form"]) {
        assert.deepEqual((await ownerOf(`${volume}/users/alice/${name}`)).slice(0, 2), [ALICE, ALICE], name);
      }
      assert.deepEqual(ok(await list(home)).json.files.map((f: { name: string }) => f.name), ["dir", "a.txt", "form"]);
      assert.equal(ok(await files("read", { path: `${home}/form` })).json.content, "f");
      assert.equal(await (await send("GET", `download?path=${home}/dir/raw`)).text(), "raw");
      ok(await files("rename", { old_path: `${home}/form`, new_path: `${home}/dir/form` }));
      ok(await files("delete", { path: `${home}/dir` }));
      assert.equal(await cellOf(await send("POST", "archive", { body: JSON.stringify({ path: home }) })), "200");
      ok(await files("delete", { path: home }));
      await assert.rejects(Deno.lstat(`${volume}/users/alice`), Deno.errors.NotFound);
      await noTemporaries(volume);
    });
  },
);

Deno.test("a member's link leads root nowhere the member cannot go", needsPods, async () => {
  await withFiles(async (scene) => {
    const { exec, files, send, list, volume } = scene;
    await members(scene);
    await exec("echo secret >/root/secret && chmod 600 /root/secret && echo bob >/workspace/users/bob/diary");
    const links = `cd /workspace/users/alice && ln -s /root/secret secret && ln -s /root root && ln -s /etc etc &&
      ln -s /workspace/users/bob bob && ln -s ../bob/diary diary && mkdir /workspace/shared/of-alice &&
      ln -s /root/secret /workspace/shared/secret && ln -s /root /workspace/shared/of-alice/root &&
      ln -s /root/secret /tmp/secret`;
    assert.equal((await exec(asAlice(links))).exitCode, 0);
    const home = "/workspace/users/alice";
    const closed = [`${home}/secret`, `${home}/root/secret`, `${home}/bob/diary`, `${home}/diary`];
    closed.push("/workspace/shared/secret", "/workspace/shared/of-alice/root/secret", "/tmp/secret");
    for (const path of closed) {
      assert.equal(cell(await files("read", { path })), "403 permission_denied", path);
      assert.equal(await cellOf(await send("GET", `download?path=${path}`)), "403 permission_denied", path);
      const archive = await send("POST", "archive", { body: JSON.stringify({ path }) });
      assert.equal(await cellOf(archive), "403 permission_denied", path);
      assert.equal(cell(await files("write", { path, content: "owned" })), "403 permission_denied", path);
    }
    assert.equal(cell(await list(`${home}/root`)), "403 permission_denied");
    for (const path of [`${home}/root/new`, `${home}/etc/new`, `${home}/bob/new`]) {
      assert.equal(cell(await files("write", { path, content: "x" })), "403 permission_denied", path);
      assert.equal(cell(await files("mkdir", { path })), "403 permission_denied", path);
      assert.equal(
        await cellOf(await send("PUT", `upload?path=${path}`, { body: "x" })),
        "403 permission_denied",
        path,
      );
      const move = await files("rename", { old_path: `${home}/secret`, new_path: path });
      // Everybody may look into /etc, so there the kernel says first that it is another file system.
      assert.equal(cell(move), path.includes("etc") ? "409 pod_refused" : "403 permission_denied", path);
    }
    for (const path of [`${home}/root/secret`, `${home}/etc/passwd`, `${home}/bob/diary`]) {
      assert.equal(cell(await files("delete", { path })), "403 permission_denied", path);
    }
    // The links themselves go, and nothing behind them.
    for (const path of [`${home}/etc`, `${home}/bob`, "/workspace/shared/of-alice", "/tmp/secret", home]) {
      ok(await files("delete", { path }));
    }
    assert.equal(await Deno.readTextFile(`${volume}/users/bob/diary`), "bob\n");
    assert.equal(ok(await files("read", { path: "/root/secret" })).json.content, "secret\n");
    ok(await files("read", { path: "/etc/passwd" }));
    await noTemporaries(volume);
  });
});

Deno.test(
  "a folder that is swapped for a link again and again never leads a write or a deletion out",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { exec, files, volume } = scene;
      await members(scene);
      await exec(
        "mkdir /root/target && echo keep >/root/target/keep && mkdir -p /workspace/keep && echo k >/workspace/keep/keep",
      );
      // Alice swaps her folder for a link to root's until the file `stop` appears.
      const swap =
        `cd /workspace/users/alice && mkdir real && touch real/keep && ln -s /root/target link && mv real d &&
      while [ ! -e stop ]; do mv d real; mv link d; mv d link; mv real d; done`;
      const swapping = exec(asAlice(swap));
      const outcomes = new Set<string>();
      for (let turn = 0; turn < 25; turn++) {
        const inside = "/workspace/users/alice/d";
        outcomes.add(cell(await files("write", { path: `${inside}/new`, content: "x" })));
        outcomes.add(cell(await files("mkdir", { path: `${inside}/dir${turn}` })));
        outcomes.add(cell(await files("delete", { path: `${inside}/keep` })));
      }
      await Deno.writeTextFile(`${volume}/users/alice/stop`, "");
      await swapping;
      for (const outcome of outcomes) {
        assert.match(outcome, /^(200|403 permission_denied|404 file_not_found|409 pod_refused)$/);
      }
      const left = await exec("ls -A /root/target /workspace/keep");
      assert.equal(new TextDecoder().decode(left.stdout), "/root/target:\nkeep\n\n/workspace/keep:\nkeep\n");
    });
  },
);

Deno.test("in the shared folder each thing is touched as its owner, and new things are root's", needsPods, async () => {
  await withFiles(async (scene) => {
    const { exec, files, list, volume } = scene;
    await exec(asAlice("cd /workspace/shared && echo mine >a.txt && chmod 600 a.txt && mkdir box && chmod 777 box"));
    await exec("cd /workspace/shared && mkdir team && chmod 777 team && mkdir team/sub && echo r >team/sub/r");
    ok(await files("write", { path: "/workspace/shared/news", content: "n" }));
    assert.deepEqual(await ownerOf(`${volume}/shared/news`), [0, 0, 0o644]);
    ok(await files("write", { path: "/workspace/shared/a.txt", content: "edited" }));
    assert.deepEqual(await ownerOf(`${volume}/shared/a.txt`), [ALICE, ALICE, 0o600]);
    ok(await files("write", { path: "/workspace/shared/box/in", content: "i" }));
    assert.deepEqual(await ownerOf(`${volume}/shared/box/in`), [ALICE, ALICE, 0o644]);
    ok(await list("/workspace/shared/box"));
    // Everybody may swap what lies in `team`, so that is touched as nobody.
    assert.equal(ok(await files("read", { path: "/workspace/shared/team/sub/r" })).json.content, "r\n");
    const write = await files("write", { path: "/workspace/shared/team/sub/r", content: "w" });
    assert.equal(cell(write), "403 permission_denied");
    ok(await files("write", { path: "/workspace/shared/team/new", content: "w" }));
    ok(await files("delete", { path: "/workspace/shared/team" }));
  });
});

Deno.test(
  "a file moves between folders of different owners and belongs to the new one; a folder does not",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { exec, files, volume } = scene;
      await members(scene);
      await exec("echo data >/workspace/data && mkdir /workspace/folder && ln -s data /workspace/link");
      const to = "/workspace/users/alice/data";
      ok(await files("rename", { old_path: "/workspace/data", new_path: to }));
      assert.deepEqual((await ownerOf(`${volume}/users/alice/data`)).slice(0, 2), [ALICE, ALICE]);
      assert.equal(await Deno.readTextFile(`${volume}/users/alice/data`), "data\n");
      await assert.rejects(Deno.lstat(`${volume}/data`), Deno.errors.NotFound);
      ok(await files("rename", { old_path: to, new_path: "/workspace/users/bob/data" }));
      assert.deepEqual((await ownerOf(`${volume}/users/bob/data`)).slice(0, 2), [BOB, BOB]);
      ok(await files("rename", { old_path: "/workspace/users/bob/data", new_path: "/workspace/back" }));
      assert.deepEqual((await ownerOf(`${volume}/back`)).slice(0, 2), [0, 0]);
      for (const name of ["folder", "link"]) {
        const move = await files("rename", {
          old_path: `/workspace/${name}`,
          new_path: `/workspace/users/alice/${name}`,
        });
        assert.equal(cell(move), "409 pod_refused", name);
        assert.ok(await Deno.lstat(`${volume}/${name}`));
      }
    });
  },
);

Deno.test(
  "what a member made leads root nowhere after an officer moved it to a folder of root's",
  needsPods,
  async () => {
    await withFiles(async ({ exec, files, send, list }) => {
      await exec(
        "mkdir /root/target && echo secret >/root/secret && chmod 600 /root/secret && echo keep >/root/target/keep",
      );
      const made = `cd /workspace/shared && ln -s /root/secret top && mkdir results && cd results &&
      ln -s /root/secret notes.txt && ln -s /root/target d`;
      assert.equal((await exec(asAlice(made))).exitCode, 0);
      for (const name of ["results", "top"]) {
        ok(await files("rename", { old_path: `/workspace/shared/${name}`, new_path: `/workspace/${name}` }));
      }
      await exec("ln -s /root/secret /workspace/of-root && ln -s results /workspace/to-results");
      for (const path of ["/workspace/results/notes.txt", "/workspace/top", "/workspace/to-results/notes.txt"]) {
        assert.equal(cell(await files("read", { path })), "403 permission_denied", path);
        assert.equal(await cellOf(await send("GET", `download?path=${path}`)), "403 permission_denied", path);
        assert.equal(cell(await files("write", { path, content: "x" })), "403 permission_denied", path);
      }
      const inside = "/workspace/results/d";
      assert.equal(cell(await list(inside)), "403 permission_denied");
      assert.equal(cell(await files("mkdir", { path: `${inside}/new` })), "403 permission_denied");
      assert.equal(cell(await files("delete", { path: `${inside}/keep` })), "403 permission_denied");
      assert.equal(await cellOf(await send("PUT", `upload?path=${inside}/up`, { body: "x" })), "403 permission_denied");
      // Root's own links lead root on.
      assert.equal(ok(await files("read", { path: "/workspace/of-root" })).json.content, "secret\n");
      for (const path of ["/workspace/top", "/workspace/results"]) ok(await files("delete", { path }));
      const left = await exec("cat /root/secret; ls -A /root/target");
      assert.equal(new TextDecoder().decode(left.stdout), "secret\nkeep\n");
    });
  },
);

Deno.test("root enters no folder that others can swap, wherever it is", needsPods, async () => {
  await withFiles(async (scene) => {
    const { exec, files, volume } = scene;
    await members(scene);
    await exec(`cd /workspace && mkdir -p all/sub group/sub sticky/sub && chmod 777 all && chmod 1777 sticky &&
      chgrp ${ALICE} group && chmod 775 group && for f in all group sticky; do
      echo open >$f/sub/f && echo closed >$f/closed && chmod 600 $f/closed; done`);
    for (const folder of ["all", "group"]) {
      const at = `/workspace/${folder}`;
      assert.equal(ok(await files("read", { path: `${at}/sub/f` })).json.content, "open\n");
      const denied = [
        await files("write", { path: `${at}/sub/f`, content: "x" }),
        await files("mkdir", { path: `${at}/sub/new` }),
        await files("delete", { path: `${at}/sub/f` }),
        await files("read", { path: `${at}/closed` }),
        // A move between owners reads the file, which may be a link by then.
        await files("rename", { old_path: `${at}/closed`, new_path: "/workspace/users/alice/closed" }),
      ];
      assert.deepEqual(denied.map(cell), Array(5).fill("403 permission_denied"), folder);
      await assert.rejects(Deno.lstat(`${volume}/users/alice/closed`), Deno.errors.NotFound);
      ok(await files("mkdir", { path: `${at}/new` }));
    }
    ok(await files("write", { path: "/workspace/sticky/sub/f", content: "x" }));
    ok(await files("rename", { old_path: "/workspace/sticky/closed", new_path: "/workspace/users/alice/closed" }));
    await noTemporaries(volume);
  });
});

Deno.test("a file keeps its mode when it moves between owners", needsPods, async () => {
  await withFiles(async (scene) => {
    const { exec, files, volume } = scene;
    await members(scene);
    await exec(asAlice("cd /workspace/users/alice && for m in 600 755 444; do echo $m >$m; chmod $m $m; done"));
    for (const mode of ["600", "755", "444"]) {
      ok(await files("rename", { old_path: `/workspace/users/alice/${mode}`, new_path: `/workspace/${mode}` }));
      assert.deepEqual(await ownerOf(`${volume}/${mode}`), [0, 0, parseInt(mode, 8)]);
      ok(await files("rename", { old_path: `/workspace/${mode}`, new_path: `/workspace/users/bob/${mode}` }));
      assert.deepEqual(await ownerOf(`${volume}/users/bob/${mode}`), [BOB, BOB, parseInt(mode, 8)]);
    }
  });
});

Deno.test("a file that is written to while it moves between owners stays where it was", needsPods, async () => {
  await withFiles(async (scene) => {
    const { exec, files, volume } = scene;
    await members(scene);
    await exec("head -c 60000000 /dev/zero >/workspace/log");
    const move = files("rename", { old_path: "/workspace/log", new_path: "/workspace/users/alice/log" });
    const home = `${volume}/users/alice`;
    await until(async () => (await Array.fromAsync(Deno.readDir(home))).length > 0, "the copy has begun");
    await Deno.writeTextFile(`${volume}/log`, "late line", { append: true });
    const answer = await move;
    assert.equal(cell(answer), "409 changed_meanwhile");
    assert.equal(answer.json.error, "The file was changed while it was moved; it is where it was");
    assert.equal((await Deno.lstat(`${volume}/log`)).size, 60_000_009);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(home)), []);
    ok(await files("rename", { old_path: "/workspace/log", new_path: "/workspace/users/alice/log" }));
    assert.equal((await Deno.lstat(`${home}/log`)).size, 60_000_009);
  });
});

Deno.test(
  "a member's process cannot read root's environment from the server that acts for the member",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { exec, files, send } = scene;
      await members(scene);
      // Whatever root's login scripts write must not be taken for an answer; the subsystem is a command without arguments.
      await exec(`cat >/root/.bashrc <<'END'
export TOP_SECRET=from-root
echo noise >&2
case $BASH_EXECUTION_STRING in /*) ;; *) echo noise ;; esac
END`);
      ok(await files("write", { path: "/workspace/users/alice/a", content: "a" }));
      const environmentOf = async (program: string) => {
        const look = `for p in /proc/[0-9]*; do if grep -aq "${program}" $p/cmdline; then tr "\\0" "\\n" <$p/environ; fi
        done 2>/dev/null`;
        return new TextDecoder().decode((await exec(asAlice(look))).stdout);
      };
      assert.ok(!(await environmentOf("[s]ftp-server")).includes("PATH"));
      ok(await files("mkdir", { path: "/workspace/users/alice/d" }));
      ok(await files("delete", { path: "/workspace/users/alice/d" }));

      // A tar that waits for its reader is hers to look at.
      await exec(
        `head -c 30000000 /dev/urandom >/workspace/users/alice/big; chown ${ALICE} /workspace/users/alice/big`,
      );
      const archive = await send("POST", "archive", { body: JSON.stringify({ path: "/workspace/users/alice" }) });
      assert.equal(archive.status, 200);
      const reader = archive.body!.getReader();
      assert.deepEqual([...(await reader.read()).value!.subarray(0, 2)], [0x1f, 0x8b]);
      const environment = await environmentOf("[-]czf");
      assert.match(environment, /LC_ALL=C\n/);
      assert.ok(!environment.includes("TOP_SECRET"), environment);
      await reader.cancel();
    });
  },
);
