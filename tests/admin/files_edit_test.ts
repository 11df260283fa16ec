/** Texts of a real pod, edited and read: what others change meanwhile, bytes that are no text, sizes that are too large. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { dirname } from "node:path";
import { needsPods } from "../files/support.ts";
import { eventually } from "../support/world.ts";
import { exists, type FilesPlace, keptPath, withPodFiles } from "./files_support.ts";

/** An editor that does what a line of shell says to the file `$1`. */
async function editor(home: string, line: string): Promise<void> {
  await Deno.writeTextFile(`${home}/editor`, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
}

/** Rows of the audit about a route of files that went well. */
function written({ world }: Pick<FilesPlace, "world">, route: string): number {
  return world.db.all("select 1 from audit_log where action like ? and outcome = 'ok'", `%/files/${route}`).length;
}

/** Opens the admin with an editor of the test's own; `write` says what it does. */
async function withEditor(
  prepare: (volume: string) => void,
  use: (place: FilesPlace, write: (line: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  const env = { VISUAL: " ", EDITOR: `${folder}/editor` };
  try {
    await withPodFiles({ prepare, env }, (place) => use(place, (line) => editor(folder, line)));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const textFile = (volume: string) => {
  Deno.writeTextFileSync(`${volume}/train.py`, "lr = 1\n");
  Deno.chmodSync(`${volume}/train.py`, 0o640);
};

/** What is kept of an edited text, by the path that the screen shows; it is removed. */
async function takeKept(text: string): Promise<Uint8Array> {
  const path = keptPath(text, "train.py");
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
  const content = await Deno.readFile(path);
  await Deno.remove(dirname(path), { recursive: true });
  return content;
}

Deno.test(
  "a text is edited in the editor and saved with its rights; one that is as it was is not sent",
  needsPods,
  async () => {
    await withEditor(textFile, async (place, write) => {
      const { admin, inPod, home } = place;
      await write(`cp "$1" ${home}/seen; stat -c '%a %n' "$1" "$(dirname "$1")" >${home}/rights; echo 'lr = 2' >>"$1"`);
      await admin.press("G", "e");
      await admin.until("train.py is saved");
      assert.equal(await Deno.readTextFile(inPod("train.py")), "lr = 1\nlr = 2\n");
      assert.equal((await Deno.stat(inPod("train.py"))).mode! & 0o777, 0o640);
      assert.equal(await Deno.readTextFile(`${home}/seen`), "lr = 1\n");
      const [file, folder] = (await Deno.readTextFile(`${home}/rights`)).trim().split("\n");
      assert.match(file!, /^600 .*\/train\.py$/);
      assert.match(folder!, /^700 /);
      assert(!await exists(folder!.slice(4)), "nothing is left here");

      await write("exit 0");
      await admin.press("e");
      await admin.until("train.py is as it was");
      await write("exit 3");
      await admin.press("e");
      await admin.until("The editor ended with 3; nothing was sent");
      await write('rm "$1"');
      await admin.press("e");
      await admin.until("The editor removed the text");
      assert.equal(written(place, "write"), 1);
      await write('stat -c %n "$(dirname "$1")" >' + `${home}/empty; : >"$1"`);
      await admin.press("e");
      await admin.until("The editor left nothing. Saving that loses the 14 B on the pod.");
      assert(!await exists((await Deno.readTextFile(`${home}/empty`)).trim()), "nothing is left here");
      await admin.press("n");
      await admin.untilGone("The editor left nothing");
      assert.equal(written(place, "write"), 1);

      await write(`printf 'caf\\351' >"$1"`);
      await admin.press("e");
      await admin.until("What was edited is not UTF-8 text");
      assert.equal((await takeKept(admin.text())).length, 4);
      await admin.press("esc");
      await admin.until("> train.py");
      await write('echo half >"$1"; exit 1');
      await admin.press("e");
      await admin.until("The editor ended with 1, so nothing was sent");
      assert.equal(new TextDecoder().decode(await takeKept(admin.text())), "half\n");
      assert.equal(written(place, "write"), 1);
    });
  },
);

Deno.test(
  "a text that was changed on the pod meanwhile is not written over: it is kept in a file here, and y replaces it",
  needsPods,
  async () => {
    await withEditor(textFile, async (place, write) => {
      const { admin, inPod } = place;
      await write(`echo other $$ >${inPod("train.py")}; echo mine >"$1"`);
      await admin.press("G", "e");
      const text = await admin.until("The file was changed or removed meanwhile");
      assert.match(await Deno.readTextFile(inPod("train.py")), /^other \d+\n$/);
      await admin.press("n");
      await admin.untilGone("The file was changed");
      assert.equal(new TextDecoder().decode(await takeKept(text)), "mine\n");

      await admin.press("e");
      await admin.until("The file was changed or removed meanwhile");
      await admin.press("y");
      await admin.until("train.py is saved");
      assert.equal(await Deno.readTextFile(inPod("train.py")), "mine\n");

      await write(': >"$1"');
      await admin.press("e");
      await admin.until("The editor left nothing");
      await admin.press("y");
      await eventually(async () => await Deno.readTextFile(inPod("train.py")) === "", "it is empty");
    });
  },
);

Deno.test("a file with bytes that are no UTF-8 opens read-only, and is not edited", needsPods, async () => {
  const prepare = (volume: string) => Deno.writeFileSync(`${volume}/z.txt`, Buffer.from("caf\xe9\x1b[31m\n", "latin1"));
  await withEditor(prepare, async (place, write) => {
    const { admin, inPod } = place;
    await write('echo ruined >"$1"');
    await admin.press("G", "enter");
    assert.match(await admin.until("Read-only"), /caf\ufffd\\u\{1b\}\[31m/);
    assert(!admin.offered().includes("e edit"));
    assert(admin.offered().includes("d download"));
    await admin.press("esc", "e");
    await admin.until("so it can only be read");
    await admin.until("Read-only");
    assert.deepEqual(await Deno.readFile(inPod("z.txt")), Uint8Array.from(Buffer.from("caf\xe9\x1b[31m\n", "latin1")));
  });
});

Deno.test("a file that is too large to read is offered for download", needsPods, async () => {
  const prepare = (volume: string) => Deno.writeTextFileSync(`${volume}/z.csv`, "1,2\n".repeat(500));
  const scene = { env: { ORGPODS_FILE_TEXT_LIMIT: "1000" } };
  await withPodFiles({ prepare, scene }, async ({ admin, home }) => {
    await admin.press("G", "enter");
    await admin.until("The file is larger than 1000 bytes; download it instead");
    await admin.until("Press d to download it");
    await admin.press("esc", "e");
    await admin.until("download it instead");
    await admin.press("y");
    await admin.until("To which file on this computer?");
    await admin.press("ctrl-u");
    await admin.type("~/got.csv");
    await admin.press("enter");
    await admin.until("z.csv is saved as ~/got.csv (2.0 KB)");
    assert.equal((await Deno.stat(`${home}/got.csv`)).size, 2_000);
  });
});
