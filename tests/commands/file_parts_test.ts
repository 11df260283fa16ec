/** What the file commands are made of, without a server. */
import assert from "node:assert/strict";
import { longList } from "../../admin/commands/file_list.ts";
import { openForReading } from "../../admin/client/local_file.ts";
import { createPartialFile, partialPath, partialSize } from "../../admin/commands/partial_file.ts";
import { bytesOf, inFolder, lastName, pathFields, podPath, shownPath } from "../../admin/commands/pod_path.ts";
import { printText } from "../../admin/commands/terminal_text.ts";
import { lacks } from "../support/needs.ts";
import { oddNames } from "../support/sftp.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const LATIN1 = Uint8Array.of(0x2f, 0x63, 0x61, 0x66, 0xe9);

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test("podPath takes text and, with --b64, bytes; a relative path is refused", () => {
  assert.deepEqual(podPath("/träger", false), utf8("/träger"));
  assert.deepEqual(podPath("L2NhZuk", true), LATIN1);
  for (const [word, isBase64] of [["notes", false], ["", false], ["/a\0", false], ["*", true], ["YQ", true]] as const) {
    assert.throws(() => podPath(word, isBase64), { code: "usage" }, word);
  }
});

Deno.test("every odd name survives the way to the server and is shown on one harmless line", () => {
  for (const { what, name } of oddNames) {
    const path = inFolder(utf8("/workspace"), name);
    const fields = pathFields(path);
    const back = "path" in fields ? bytesOf(fields.path, undefined) : bytesOf("", fields.path_b64);
    assert.deepEqual(back, path, what);
    assert.deepEqual(lastName(path), name, what);
    assert.doesNotMatch(shownPath(path), /[\p{Cc}\p{Cf}]/u, what);
  }
  assert.equal(shownPath(LATIN1), "/caf\\xe9");
  assert.equal(lastName(utf8("//")), null);
  assert.deepEqual(lastName(utf8("/a/b//")), utf8("b"));
});

Deno.test("longList shows type, permissions, owner, size, time and name in columns", () => {
  const common = { modified: 1_788_264_000, uid: 0, gid: 0 };
  const text = longList(utf8("/w"), [
    { ...common, name: "runs", type: "directory", size: 4096, permissions: "755" },
    { ...common, name: "a\u001b[2J", type: "file", size: 12, permissions: "640", uid: 1001, gid: 1001 },
    {
      ...common,
      name: "caf\ufffd",
      name_b64: "Y2Fm6Q",
      type: "file",
      kind: "link",
      link: true,
      size: 3,
      permissions: "777",
    },
  ]);
  assert.deepEqual(text.split("\n"), [
    "drwxr-xr-x  0:0        4096  2026-09-01 12:00:00Z  runs/",
    "-rw-r-----  1001:1001    12  2026-09-01 12:00:00Z  a\\u{1b}[2J",
    "lrwxrwxrwx  0:0           3  2026-09-01 12:00:00Z  caf\\xe9  [L3cvY2Fm6Q]",
  ]);
});

Deno.test("createPartialFile gives the name only to what is whole", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/model.pt`;
    const file = await createPartialFile(target, { force: false, version: '"v1"' });
    await file.write(utf8("whole"));
    assert.match(namesIn(folder).join(), /^\.model\.pt\.[0-9a-f]{12}\.\d+-[0-9a-f]{8}\.orgpods-part$/);
    await file.finish();
    assert.deepEqual(namesIn(folder), ["model.pt"]);
    assert.equal(await Deno.readTextFile(target), "whole");
    await assert.rejects(createPartialFile(target, { force: false }), {
      code: "conflict",
      message: /is there already/,
    });
    const again = await createPartialFile(target, { force: true });
    await again.write(utf8("new"));
    assert.equal(await Deno.readTextFile(target), "whole");
    await again.finish();
    assert.equal(await Deno.readTextFile(target), "new");
  });
});

Deno.test("createPartialFile goes on with the same version and with no other", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/model.pt`;
    const first = await createPartialFile(target, { force: false, version: '"v1"' });
    await first.write(utf8("one "));
    assert.equal(await first.giveUp(), 4);
    assert.equal(await partialSize(target, '"v1"'), 4);
    assert.equal(await partialSize(target, '"v2"'), 0);
    const next = await createPartialFile(target, { force: false, version: '"v1"', resume: true });
    assert.equal(next.start, 4);
    await next.write(utf8("two"));
    await next.finish();
    assert.equal(await Deno.readTextFile(target), "one two");
    assert.deepEqual(namesIn(folder), ["model.pt"]);
  });
});

Deno.test("createPartialFile starts anew without resume, and keeps nothing of what has no version", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/model.pt`;
    const first = await createPartialFile(target, { force: false, version: '"v1"' });
    await first.write(utf8("old and long"));
    await first.giveUp();
    const next = await createPartialFile(target, { force: false, version: '"v1"' });
    assert.equal(next.start, 0);
    await next.write(utf8("new"));
    await next.finish();
    assert.equal(await Deno.readTextFile(target), "new");
    const bare = await createPartialFile(`${folder}/b`, { force: false });
    await bare.write(utf8("half"));
    assert.equal(await bare.giveUp(), 0);
    assert.deepEqual(namesIn(folder), ["model.pt"]);
  });
});

Deno.test("createPartialFile replaces nothing that came in meanwhile, nor what another command fetched", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/a`;
    const file = await createPartialFile(target, { force: false, version: "1" });
    await Deno.writeTextFile(target, "came in");
    await assert.rejects(file.finish(), { code: "conflict", message: /is there already/ });
    assert.equal(await Deno.readTextFile(target), "came in");
    const [one, two] = [
      await createPartialFile(`${folder}/b`, { force: false, version: "1" }),
      await createPartialFile(`${folder}/b`, { force: false, version: "1" }),
    ];
    await one.write(utf8("one"));
    await two.write(utf8("two"));
    await two.finish();
    await assert.rejects(one.finish(), { code: "conflict", message: /is there already/ });
    assert.equal(await one.giveUp(), 3);
    assert.equal(await Deno.readTextFile(`${folder}/b`), "two");
  });
});

Deno.test("of two commands that go on with the same part only one gets it", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/model.pt`;
    const first = await createPartialFile(target, { force: false, version: "1" });
    await first.write(utf8("01234"));
    await first.giveUp();
    const options = { force: false, version: "1", resume: true, size: 10 };
    const one = await createPartialFile(target, options);
    await one.write(utf8("56"));
    assert.equal(await partialSize(target, "1"), 0);
    const two = await createPartialFile(target, options);
    assert.deepEqual([one.start, two.start], [5, 0]);
    await two.write(utf8("01"));
    await one.write(utf8("789"));
    await one.finish();
    assert.equal(await Deno.readTextFile(target), "0123456789");
    await two.giveUp();
    assert.equal(await Deno.readTextFile(target), "0123456789");
  });
});

Deno.test("finish refuses a file that has not the size it should have, or bytes of somebody else", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/model.pt`;
    const short = await createPartialFile(target, { force: false, version: "1", size: 10 });
    await short.write(utf8("01234"));
    await assert.rejects(short.finish(), { code: "conflict", message: /has 5 of 10 bytes/ });
    assert.equal(await short.giveUp(), 5);
    const file = await createPartialFile(target, { force: false, version: "1", resume: true, size: 10 });
    await Deno.writeFile(`${folder}/${namesIn(folder)[0]}`, utf8("x"), { append: true });
    await file.write(utf8("5678"));
    await assert.rejects(file.finish(), { code: "conflict", message: /at the same time/ });
    assert.equal(await file.giveUp(), 0);
    assert.deepEqual(namesIn(folder), []);
  });
});

Deno.test("a part goes on when its process was killed, and never when it is a link or somebody else's", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/model.pt`;
    const free = partialPath(target, "1");
    const ended = new Deno.Command("true").spawn();
    await ended.status;
    const killed = free.replace(/orgpods-part$/, `${ended.pid}-0123abcd.orgpods-part`);
    await Deno.writeTextFile(killed, "killed");
    await Deno.writeTextFile(killed.replace(`${ended.pid}-`, `${Deno.ppid}-`), "of a running process");
    await Deno.writeTextFile(`${folder}/elsewhere`, "somebody's own file");
    await Deno.symlink(`${folder}/elsewhere`, free);
    assert.equal(await partialSize(target, "1"), 6);
    await Deno.remove(free);
    await Deno.link(`${folder}/elsewhere`, free);
    assert.equal(await partialSize(target, "1"), 6);
    const file = await createPartialFile(target, { force: false, version: "1", resume: true });
    await file.write(utf8(" and found"));
    await file.finish();
    assert.equal(await Deno.readTextFile(target), "killed and found");
    assert.equal(await Deno.readTextFile(`${folder}/elsewhere`), "somebody's own file");
  });
});

Deno.test({
  name: "a part that belongs to another user is not gone on with",
  ignore: lacks("root"),
  async fn() {
    await withFolder(async (folder) => {
      const target = `${folder}/model.pt`;
      await Deno.writeTextFile(partialPath(target, "1"), "forged");
      await Deno.chown(partialPath(target, "1"), 20_001, 20_001);
      assert.equal(await partialSize(target, "1"), 0);
      const file = await createPartialFile(target, { force: false, version: "1", resume: true });
      assert.equal(file.start, 0);
      await file.giveUp();
    });
  },
});

Deno.test("partialPath fits beside the longest name a file can have", () => {
  for (const name of ["a".repeat(255), "東".repeat(85)]) {
    const part = partialPath(`/x/${name}`, "v").split("/").at(-1)!;
    assert(new TextEncoder().encode(part).length <= 255, part);
    assert(!part.includes("\ufffd"));
  }
});

Deno.test("what this machine refuses is a sentence with the file's name", async () => {
  await withFolder(async (folder) => {
    await assert.rejects(openForReading(`${folder}/none`), { code: "usage", message: /none: No such file/ });
    await assert.rejects(openForReading(folder), { code: "usage", message: /is not a file/ });
    const missing = createPartialFile(`${folder}/none/a`, { force: false });
    await assert.rejects(missing, { code: "usage", message: /No such file/ });
    await assert.rejects(createPartialFile(folder, { force: true }), { code: "usage", message: /is a folder/ });
  });
});

async function printed(...parts: readonly Uint8Array[]): Promise<string> {
  let text = "";
  const add = (more: string) => void (text += more);
  await printText({
    out: (more) => Promise.resolve(add(more)),
    outBytes: (bytes) => Promise.resolve((add(new TextDecoder().decode(bytes)), true)),
  }, ReadableStream.from(parts));
  return text;
}

Deno.test("printText escapes what would steer a terminal and keeps lines, tabs and split characters", async () => {
  assert.equal(await printed(utf8("a\tb\nc\u001b]0;x\u0007\r\n")), "a\tb\nc\\u{1b}]0;x\\u{7}\\u{d}\n");
  const [first, ...rest] = utf8("é");
  assert.equal(await printed(Uint8Array.of(first!), Uint8Array.from(rest)), "é");
});

Deno.test("printText refuses what is no text before any of it is printed", async () => {
  for (const bytes of [Uint8Array.of(0x61, 0xe9, 0x62), utf8("a\0b"), Uint8Array.of(0xc3)]) {
    await assert.rejects(printed(bytes), { code: "not_text" });
  }
});
