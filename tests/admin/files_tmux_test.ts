/** The files of a pod in the real program, in a real terminal, against the demo's real sshd pods. */
import assert from "node:assert/strict";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import type { Tmux } from "../support/tmux.ts";
import { withHome } from "./files_support.ts";
import { inAdmin } from "./program.ts";
import { sentence } from "./support.ts";

const ignore = lacks("tmux", "sshd", "root", "unshare", "setpriv");

interface Place {
  readonly demo: DemoProcess;
  readonly terminal: Tmux;
  /** A folder of this computer. */
  readonly here: string;
  readonly columns: number;
}

// deno-lint-ignore no-explicit-any
async function ask({ demo }: Place, route: string, path: string): Promise<any> {
  const url = `/api/compute/${demo.facts.org}/pods/${demo.facts.pod_id}/files/${route}`;
  return (await demo.operator("POST", url, { path })).json;
}

/** An editor that adds what is typed on the terminal: three lines, of which none may be lost on the way. */
const EDITOR = `#!/bin/sh
echo "editing $1"
for line in 1 2 3; do
  IFS= read -r text </dev/tty
  printf '%s\\n' "$text" >>"$1"
done
`;

async function inFiles(
  demo: DemoProcess,
  size: { readonly columns: number; readonly rows: number },
  use: (place: Place) => Promise<void>,
): Promise<void> {
  await withHome(async (here) => {
    await Deno.writeTextFile(`${here}/editor`, EDITOR, { mode: 0o755 });
    await inAdmin(demo, { ...size, env: { VISUAL: `${here}/editor` } }, async (terminal) => {
      await terminal.until(/^> workshop/m);
      await terminal.keys("f");
      await terminal.until(/\d entries/);
      await use({ demo, terminal, here, columns: size.columns });
      await terminal.keys("q");
      await terminal.until("rc=0");
    });
  });
}

/** Types a local path in the place of the one that is proposed. */
async function answer({ terminal }: Place, path: string): Promise<void> {
  await terminal.keys("C-u");
  await terminal.type(path);
  await terminal.keys("Enter");
}

/** Somebody writes the text on the pod while it is in the editor: nothing is lost, and the officer decides. */
async function editBesideAnother(place: Place, path: string): Promise<void> {
  const { terminal, demo } = place;
  const { content } = await ask(place, "read", path);
  const write = async (text: string) => {
    const url = `/api/compute/${demo.facts.org}/pods/${demo.facts.pod_id}/files/write`;
    const { status, json } = await demo.operator("POST", url, { path, content: text });
    assert.equal(status, 200, JSON.stringify(json));
  };
  await terminal.keys("e");
  await terminal.until("editing ");
  await write("somebody else's\n");
  await terminal.type("four\nfive\nsix\n");
  await terminal.until("notes.txt is not saved");
  await terminal.until(sentence("Your text is kept in"));
  assert.equal((await ask(place, "read", path)).content, "somebody else's\n");
  await terminal.keys("y");
  await terminal.until("notes.txt is saved");
  await terminal.until(/^six/m);
  assert.equal((await ask(place, "read", path)).content, `${content}four\nfive\nsix\n`);
  await write(content);
}

/** A folder is made, a file sent, shown, edited, fetched, moved and deleted, in a folder of its own. */
async function mainFlow(place: Place): Promise<void> {
  const { terminal, here } = place;
  const folder = `run-${place.columns}`;
  await Deno.writeTextFile(`${here}/notes.txt`, "one\n");
  await terminal.keys("n");
  await terminal.until("Name");
  await terminal.type(folder);
  await terminal.keys("C-s");
  await terminal.until(new RegExp(`^> ${folder}/`, "m"));
  assert.equal((await ask(place, "stat", `/workspace/${folder}`)).type, "directory");
  await terminal.keys("Enter");
  await terminal.until("The folder is empty");

  await terminal.keys("u");
  await terminal.until("Upload to");
  await terminal.keys("C-u");
  await terminal.type(`${here}/no`);
  await terminal.keys("Tab");
  await terminal.until(/notes\.txt/);
  await terminal.keys("Enter");
  await terminal.until(/^> notes\.txt/m);
  assert.equal((await ask(place, "read", `/workspace/${folder}/notes.txt`)).content, "one\n");

  await terminal.keys("Enter");
  await terminal.until(/^one/m);
  await terminal.keys("e");
  await terminal.until("editing ");
  assert.equal(await terminal.flag("alternate_on"), false);
  await terminal.type("two\nthree\nq\n");
  await terminal.until("notes.txt is saved");
  assert.equal(await terminal.flag("alternate_on"), true);
  await terminal.until(/^three/m);
  assert.equal((await ask(place, "read", `/workspace/${folder}/notes.txt`)).content, "one\ntwo\nthree\nq\n");
  await editBesideAnother(place, `/workspace/${folder}/notes.txt`);
  await terminal.keys("Escape");
  await terminal.until(/^> notes\.txt/m);

  await terminal.keys("d");
  await terminal.until("To which file");
  await answer(place, `${here}/notes.txt`);
  await terminal.until(sentence("is there already"));
  await terminal.keys("y");
  await terminal.until("notes.txt is saved as");
  assert.equal(await Deno.readTextFile(`${here}/notes.txt`), "one\ntwo\nthree\nq\n");

  await terminal.keys("r");
  await terminal.until("New path");
  await terminal.keys("C-u");
  await terminal.type(`/workspace/moved-${place.columns}.txt`);
  await terminal.keys("C-s");
  await terminal.until("The folder is empty");
  assert.equal((await ask(place, "read", `/workspace/moved-${place.columns}.txt`)).content, "one\ntwo\nthree\nq\n");
  await terminal.keys("Left");
  await terminal.until(new RegExp(`^> ${folder}/`, "m"));
}

async function deleteFolder({ terminal, columns }: Place, inside: string): Promise<void> {
  await terminal.keys("D");
  await terminal.until(inside);
  if (inside === "holds nothing") await terminal.keys("y");
  else {
    await terminal.type(`run-${columns}`);
    await terminal.keys("Enter");
  }
  await terminal.until(`run-${columns} is deleted`);
}

/** The processes of the pods of a demo, as the kernel has them now. */
function podProcesses(folder: string): number[] {
  const parents = new Map<number, number>();
  const own = new Set<number>();
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      parents.set(Number(name), Number(/^PPid:\s*(\d+)/m.exec(Deno.readTextFileSync(`/proc/${name}/status`))?.[1]));
      if (Deno.readTextFileSync(`/proc/${name}/cmdline`).includes(`${folder}/pods/`)) own.add(Number(name));
    } catch (error) {
      // It ended while we looked.
      if (!(error instanceof Error) || !/os error (2|3)\b/.test(error.message)) throw error;
    }
  }
  const isOurs = (pid: number | undefined): boolean => pid !== undefined && (own.has(pid) || isOurs(parents.get(pid)));
  return [...parents.keys()].filter(isOurs);
}

/** Holds the pods still while `use` runs, so that what is on its way stays there. */
async function stalled(demo: DemoProcess, use: () => Promise<void>): Promise<void> {
  const pids = podProcesses(demo.folder);
  assert(pids.length > 0);
  for (const pid of pids) Deno.kill(pid, "SIGSTOP");
  try {
    await use();
  } finally {
    for (const pid of pids) Deno.kill(pid, "SIGCONT");
  }
}

Deno.test({
  name:
    "an officer browses, sends, reads, edits, fetches, moves, archives and deletes files of a pod from the terminal",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await inFiles(demo, { columns: 80, rows: 24 }, async (place) => {
        const { terminal, here } = place;
        await mainFlow(place);
        assert.match(await terminal.screen(), /MODE[\s\S]*755/);

        await Deno.writeFile(`${here}/latin1.txt`, Uint8Array.of(0x63, 0x61, 0x66, 0xe9, 0x0a));
        await Deno.writeTextFile(`${here}/large.csv`, "1,2\n".repeat(300_000));
        await terminal.keys("Enter");
        await terminal.until("The folder is empty");
        for (const name of ["latin1.txt", "large.csv"]) {
          await terminal.keys("u");
          await terminal.until("Upload to");
          await answer(place, `${here}/${name}`);
          await terminal.until(`${name} is on workshop`);
        }
        await terminal.keys("/");
        await terminal.type("latin");
        await terminal.until("1 fit, of 2 entries");
        await terminal.keys("Enter", "Enter");
        await terminal.until("Read-only: bytes that are not UTF-8");
        await terminal.keys("Escape");
        await terminal.until(/^> latin1\.txt/m);
        await terminal.keys("Escape");
        await terminal.until(/^ {2}large\.csv/m);
        await terminal.keys("g", "Enter");
        await terminal.until("The file is larger than 1000000 bytes; download it instead");
        await terminal.keys("d");
        await terminal.until("To which file");
        await answer(place, `${here}/got.csv`);
        await terminal.until("large.csv is saved as");
        assert.equal((await Deno.stat(`${here}/got.csv`)).size, 1_200_000);
        await terminal.keys("Escape");
        await terminal.until(/^> large\.csv/m);
        await terminal.keys("Left");
        await terminal.until(/^> run-80\//m);
        await terminal.keys("a");
        await terminal.until("To which file");
        await answer(place, `${here}/run.tar.gz`);
        await terminal.until("run-80 is archived as");
        const listed = await new Deno.Command("tar", { args: ["tzf", `${here}/run.tar.gz`] }).output();
        assert.match(new TextDecoder().decode(listed.stdout), /^run-80\/large\.csv$/m);
        await deleteFolder(place, "run-80 holds 2 files (1.2 MB)");
        assert.equal((await ask(place, "stat", "/workspace/run-80")).code, "file_not_found");
      });
    }),
});

for (const [columns, rows] of [[40, 12], [200, 50]] as const) {
  Deno.test({
    name: `an officer sends, edits, fetches, moves and deletes files in a window of ${columns}x${rows}`,
    ignore,
    fn: () =>
      withDemo(async (demo) => {
        await inFiles(demo, { columns, rows }, async (place) => {
          await mainFlow(place);
          await deleteFolder(place, "holds nothing");
          assert.equal((await ask(place, "stat", `/workspace/run-${columns}`)).code, "file_not_found");
        });
      }),
  });
}

Deno.test({
  name: "uploads and downloads show how far they are and are cancelled; a stopped pod offers to start it",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      await inFiles(demo, { columns: 80, rows: 24 }, async (place) => {
        const { terminal, here } = place;
        await Deno.writeFile(`${here}/model.pt`, new Uint8Array(90_000_000));
        const sends = async () => {
          await terminal.keys("u");
          await terminal.until("Upload to");
          await answer(place, `${here}/model.pt`);
        };
        await sends();
        await terminal.until("model.pt is on workshop (90.0 MB)");
        await terminal.until(/^ {2}model\.pt/m);
        await terminal.keys("G");
        await terminal.until(/^> model\.pt/m);
        const before = await ask(place, "stat", "/workspace/model.pt");

        await sends();
        await terminal.until("is on the pod already");
        await stalled(demo, async () => {
          await terminal.keys("y");
          await terminal.until(/Upload model\.pt \d+% of 90\.0 MB.*\(:transfers\)/);
          await terminal.keys("t");
          await terminal.until("Transfers 2");
          await terminal.keys("c");
          await terminal.until("Upload model.pt: cancelled");
        });
        await terminal.until("○ cancelled");
        assert.deepEqual(await ask(place, "stat", "/workspace/model.pt"), before);
        await terminal.keys("Escape");
        await terminal.until(/^> model\.pt/m);

        await terminal.keys("d");
        await terminal.until("To which file");
        await stalled(demo, async () => {
          await answer(place, `${here}/got.pt`);
          await terminal.until("t transfers");
          await terminal.keys("t");
          await terminal.until("Transfers 3");
          await terminal.keys("c");
          await terminal.until("Download model.pt: cancelled");
        });
        assert.deepEqual([...Deno.readDirSync(here)].map(({ name }) => name).sort(), ["editor", "model.pt"]);
        await terminal.keys("Escape");
        await terminal.until(/^> model\.pt/m);

        await terminal.keys("Escape");
        await terminal.until(/^> workshop/m);
        await terminal.keys("x");
        await terminal.until("EVERY file on it is lost");
        await terminal.keys("y");
        await terminal.until("○ Stopped");
        await terminal.keys("f");
        await terminal.until("Pod is not running");
        await terminal.keys("s");
        await terminal.until(/\/workspace {2}\d entries/);
        assert.equal((await ask(place, "stat", "/workspace/model.pt")).code, "file_not_found");
      });
    }),
});
