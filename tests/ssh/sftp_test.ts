import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { explainFailure, kindOf, type Sftp, SftpError, type SftpErrorKind } from "../../server/ssh/sftp/mod.ts";
import { lacks } from "../support/needs.ts";
import { inside, oddNames, path, sftpErrorOf, withSftp } from "../support/sftp.ts";
import { until } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

async function namesIn(sftp: Sftp, folder: Uint8Array): Promise<string[]> {
  const names: string[] = [];
  for await (const page of sftp.list(folder)) names.push(...page.map(({ name }) => hex(name)));
  return names.sort();
}

Deno.test("every odd name survives write, list, read, rename and remove byte for byte", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    const all = oddNames.map(({ name }) => hex(name)).sort();
    await sftp.makeDirectory(path(`${folder}/moved`));
    for (const { name } of oddNames) {
      await sftp.writeFrom(inside(folder, name), new Blob([Uint8Array.from(name)]).stream());
    }
    assert.deepEqual(await namesIn(sftp, path(folder)), [...all, hex(path("moved"))].sort());
    // The names as the kernel has them, seen without our client.
    const { stdout } = await new Deno.Command("find", { args: [folder, "-type", "f", "-printf", "%f\\0"] }).output();
    const onDisk = Buffer.from(stdout).toString("latin1").split("\0").slice(0, -1);
    assert.deepEqual(onDisk.map((name) => Buffer.from(name, "latin1").toString("hex")).sort(), all);

    for (const { what, name } of oddNames) {
      const from = inside(folder, name);
      assert.deepEqual(Buffer.from(await sftp.readAll(from, { maxBytes: 1000 })), Buffer.from(name), what);
      assert.equal((await sftp.lstat(from)).size, name.length, what);
      assert.equal(hex(await sftp.realPath(from)), hex(from), what);
      await sftp.rename(from, inside(`${folder}/moved`, name));
    }
    assert.deepEqual(await namesIn(sftp, path(folder)), [hex(path("moved"))]);
    assert.deepEqual(await namesIn(sftp, path(`${folder}/moved`)), all);
    for (const { name } of oddNames) await sftp.removeFile(inside(`${folder}/moved`, name));
    await sftp.removeDirectory(path(`${folder}/moved`));
    assert.deepEqual(await namesIn(sftp, path(folder)), []);
    await until(() => sftp.usage.handles === 0 && sftp.usage.pending === 0, "all handles are closed");
  });
});

Deno.test("folders with odd names are made, listed and removed", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    for (const { what, name } of oddNames) {
      const inner = inside(folder, name);
      await sftp.makeDirectory(inner, { mode: 0o700 });
      await sftp.writeFrom(Uint8Array.from([...inner, ...path("/x")]), new Blob(["x"]).stream());
      assert.deepEqual(await namesIn(sftp, inner), [hex(path("x"))], what);
      await sftp.removeFile(Uint8Array.from([...inner, ...path("/x")]));
      await sftp.removeDirectory(inner);
    }
    assert.deepEqual(await namesIn(sftp, path(folder)), []);
  });
});

Deno.test("attributes are read and set as the pod has them", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    const file = path(`${folder}/f`);
    await sftp.writeFrom(file, new Blob(["hello"]).stream(), { mode: 0o600 });
    const state = await sftp.stat(file);
    assert.deepEqual([state.size, state.mode, state.uid, state.gid, kindOf(state)], [5, 0o100600, 0, 0, "file"]);
    await sftp.setStat(file, { mode: 0o4711, owner: { uid: 1234, gid: 4321 }, times: { atime: 7, mtime: 9 } });
    // chown clears the set-uid bit, so the mode comes again.
    await sftp.setStat(file, { mode: 0o640, size: 3 });
    const changed = await Deno.stat(`${folder}/f`);
    assert.deepEqual([changed.size, changed.mode! & 0o7777, changed.uid, changed.gid], [3, 0o640, 1234, 4321]);
    const open = await sftp.open(file, "read");
    await open.setStat({ times: { atime: 100, mtime: 200 } });
    const seen = await open.stat();
    assert.deepEqual([seen.atime, seen.mtime, seen.size], [100, 200, 3]);
    await open.close();
    await open.close();
    assert.equal(sftp.usage.handles, 0);
  });
});

Deno.test("kinds of entries are told in a listing without following links", needsSshd, async () => {
  await withSftp(async ({ sftp, folder, sshd, pool }) => {
    await pool.exec(
      sshd.target(),
      `cd ${folder} && touch file && mkdir dir && ln -s /etc/passwd link && ln -s nowhere broken && ln -s loop loop &&
       mkfifo fifo && mknod null c 1 3`,
      { deadlineMs: 60_000 },
    );
    const kinds: Record<string, string> = {};
    for await (const page of sftp.list(path(folder))) {
      for (const { name, attributes } of page) kinds[new TextDecoder().decode(name)] = kindOf(attributes);
    }
    assert.deepEqual(kinds, {
      broken: "link",
      dir: "directory",
      fifo: "fifo",
      file: "file",
      link: "link",
      loop: "link",
      null: "device",
    });
    assert.equal(new TextDecoder().decode(await sftp.readLink(path(`${folder}/broken`))), "nowhere");
    assert.equal(new TextDecoder().decode(await sftp.realPath(path(`${folder}/link`))), "/etc/passwd");
    assert.equal(kindOf(await sftp.stat(path(`${folder}/link`))), "file");
    for (const name of ["broken", "loop"]) {
      assert.equal((await sftpErrorOf(sftp.stat(path(`${folder}/${name}`)))).kind, "not_found");
    }
    for (const name of ["fifo", "null", "dir"]) {
      for (const mode of ["read", "overwrite"] as const) {
        assert.equal((await sftpErrorOf(sftp.open(path(`${folder}/${name}`), mode))).kind, "not_a_file", name);
      }
    }
    // The session lives: a FIFO that is opened hangs the whole server process.
    assert.equal(kindOf(await sftp.lstat(path(`${folder}/fifo`))), "fifo");
    await sftp.removeFile(path(`${folder}/link`));
    assert((await Deno.stat("/etc/passwd")).isFile);
  });
});

Deno.test("refusals of the pod have the kind they are of", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    await Deno.mkdir(`${folder}/full/inner`, { recursive: true });
    await Deno.writeTextFile(`${folder}/a`, "a");
    await Deno.writeTextFile(`${folder}/b`, "b");
    const at = (name: string) => path(`${folder}/${name}`);
    const rows: readonly [string, () => Promise<unknown>, SftpErrorKind][] = [
      ["stat of nothing", () => sftp.stat(at("none")), "not_found"],
      ["open of nothing", () => sftp.open(at("none"), "read"), "not_found"],
      ["list of nothing", () => namesIn(sftp, at("none")), "not_found"],
      ["list of a file", () => namesIn(sftp, at("a")), "not_found"],
      ["below a file", () => sftp.stat(at("a/b")), "not_found"],
      ["mkdir of what is there", () => sftp.makeDirectory(at("full")), "failure"],
      ["rmdir of a full folder", () => sftp.removeDirectory(at("full")), "failure"],
      ["unlink of a folder", () => sftp.removeFile(at("full")), "failure"],
      ["rename onto a file", () => sftp.rename(at("a"), at("b")), "failure"],
      ["replace of nothing", () => sftp.replace(at("none"), at("b")), "not_found"],
      ["create of what is there", () => sftp.open(at("a"), "create"), "failure"],
      ["readlink of a file", () => sftp.readLink(at("a")), "invalid"],
      ["name of 256 bytes", () => sftp.stat(at("n".repeat(256))), "invalid"],
      ["write in /proc", () => sftp.open(path("/proc/new"), "create"), "not_found"],
      ["empty path", () => sftp.stat(path("")), "invalid_path"],
      ["path with NUL", () => sftp.stat(at("a\0b")), "invalid_path"],
      ["path of 4097 bytes", () => sftp.stat(path("/".repeat(4097))), "invalid_path"],
      ["second path with NUL", () => sftp.rename(at("a"), at("\0")), "invalid_path"],
      ["list of a path with NUL", () => namesIn(sftp, at("\0")), "invalid_path"],
    ];
    for (const [what, call, kind] of rows) assert.equal((await sftpErrorOf(call())).kind, kind, what);
    await sftp.replace(at("a"), at("b"));
    assert.equal(await Deno.readTextFile(`${folder}/b`), "a");
    await until(() => sftp.usage.handles === 0 && sftp.usage.pending === 0, "nothing stays open");
  });
});

Deno.test("a listing of 10000 entries comes in pages and whole", needsSshd, async () => {
  await withSftp(async ({ sftp, folder, sshd, pool }) => {
    await pool.exec(sshd.target(), `cd ${folder} && seq 1 10000 | xargs touch`, { deadlineMs: 60_000 });
    const names = await namesIn(sftp, path(folder));
    assert.equal(new Set(names).size, 10_000);
    let pages = 0;
    for await (const page of sftp.list(path(folder))) {
      assert(page.length > 0);
      if (++pages === 2) break;
    }
    await until(() => sftp.usage.handles === 0 && sftp.usage.pending === 0, "the folder is closed after a break");
    assert.equal(
      (await sftpErrorOf((async () => {
        for await (const _ of sftp.list(path(folder), { maxEntries: 9_999 }));
      })())).kind,
      "too_large",
    );
  });
});

Deno.test("fileSystem tells the disk, and explainFailure a full or read-only one", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    const state = await sftp.fileSystem(path(folder));
    assert(state.blockSize >= 512 && state.size > state.free && state.free >= state.available && !state.readOnly);
    const failure = new SftpError("failure", "The pod refused: Failure");
    assert.equal(await explainFailure(sftp, path(folder), failure), failure);
    assert.equal(await explainFailure(sftp, path(`${folder}/none`), failure), failure);
    const faked = (changes: object) => ({ ...sftp, fileSystem: () => Promise.resolve({ ...state, ...changes }) });
    const kindWith = async (changes: object) => {
      const error = await explainFailure(faked(changes), path(folder), failure);
      return error instanceof SftpError && error.kind;
    };
    assert.equal(await kindWith({ free: 4096 }), "no_space");
    assert.equal(await kindWith({ inodes: 10, freeInodes: 0 }), "no_space");
    assert.equal(await kindWith({ inodes: 0, freeInodes: 0 }), "failure");
    assert.equal(await kindWith({ readOnly: true }), "permission");
  });
});
