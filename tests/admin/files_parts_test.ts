/** What the files screens are made of, without a terminal. */
import assert from "node:assert/strict";
import { createApi } from "../../admin/client/api.ts";
import { inFolder } from "../../admin/commands/pod_path.ts";
import { sendSource } from "../../admin/commands/transfer.ts";
import { createTransfers } from "../../admin/ui/core/transfers.ts";
import {
  entryKey,
  fewerThan,
  FIRST_ENTRIES,
  insideText,
  moreThan,
  nameOf,
  parentOf,
} from "../../admin/ui/data/files.ts";
import { completeLocal, localNameOf, localPathOf, shownLocal } from "../../admin/ui/data/local_paths.ts";
import { transferText } from "../../admin/ui/frame/transfer_text.ts";
import { createLocalText, editorOf, readLocalText, runEditor } from "../../admin/ui/screens/files/local_text.ts";
import { textLines } from "../../admin/ui/screens/files/text.ts";
import { textOf } from "../../admin/ui/text/line.ts";
import { oddNames } from "../support/sftp.ts";
import { withHome } from "./files_support.ts";
import { refusal } from "./support.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const envOf = (values: Record<string, string>) => (name: string) => values[name];

Deno.test("parentOf and nameOf go up to the top and no further", () => {
  assert.deepEqual(parentOf(utf8("/workspace/a")), utf8("/workspace"));
  assert.deepEqual(parentOf(utf8("/workspace")), utf8("/"));
  assert.equal(parentOf(utf8("/")), null);
  assert.equal(nameOf(utf8("/")), "/");
  assert.equal(nameOf(Uint8Array.of(0x2f, 0xe9)), "\\xe9");
});

Deno.test("each odd name has a key of its own, and parentOf leads back from it", () => {
  const folder = utf8("/workspace/x");
  const keys = oddNames.map(({ name }) => entryKey(name));
  assert.equal(new Set(keys).size, oddNames.length);
  for (const { name, what } of oddNames) assert.deepEqual(parentOf(inFolder(folder, name)), folder, what);
});

Deno.test("moreThan and fewerThan go the same steps", () => {
  const steps = [FIRST_ENTRIES, 10_000, 20_000, 30_000];
  for (const [at, wanted] of steps.entries()) {
    if (at > 0) assert.equal(fewerThan(wanted), steps[at - 1]);
    if (at < 3) assert.equal(moreThan(wanted), steps[at + 1]);
  }
});

Deno.test("insideText says what is in a folder, and when that is not all", () => {
  const inside = { folders: 1, files: 1_200, bytes: 3_400_000, isAll: true };
  assert.equal(insideText(inside), "1 folder and 1,200 files (3.4 MB)");
  assert.equal(insideText({ ...inside, isAll: false }), "more than 1 folder and 1,200 files (3.4 MB)");
  assert.equal(insideText({ folders: 0, files: 0, bytes: 0, isAll: true }), "nothing");
  assert.equal(insideText({ folders: 0, files: 0, bytes: 0, isAll: false }), "what could not be counted");
});

Deno.test("localPathOf and shownLocal know the home folder, and only as a whole name", () => {
  const env = envOf({ HOME: "/home/ada" });
  assert.equal(localPathOf("~", env), "/home/ada");
  assert.equal(localPathOf("~/x/../y", env), "/home/ada/y");
  assert.equal(localPathOf("/tmp/~", env), "/tmp/~");
  assert.equal(localPathOf("~bob/x", env), `${Deno.cwd()}/~bob/x`);
  assert.equal(localPathOf("~/x", envOf({})), `${Deno.cwd()}/~/x`);
  assert.equal(shownLocal("/home/ada/x", env), "~/x");
  assert.equal(shownLocal("/home/adam", env), "/home/adam");
  assert.equal(shownLocal("/x", envOf({ HOME: "/" })), "/x");
});

Deno.test("completeLocal completes as far as all that fits is the same, and nothing where it may not look", async () => {
  await withHome(async (home) => {
    const env = envOf({ HOME: home });
    for (const name of ["alpha.txt", "alpine.txt", ".secret", "träger"]) {
      await Deno.writeTextFile(`${home}/${name}`, "");
    }
    await Deno.mkdir(`${home}/beta`);
    await Deno.symlink("beta", `${home}/beta-link`);
    await Deno.symlink("nowhere", `${home}/gone`);
    assert.deepEqual(await completeLocal("~/al", env), {
      text: "~/alp",
      names: ["alpha.txt", "alpine.txt"],
      fits: true,
    });
    assert.deepEqual(await completeLocal("~/alph", env), { text: "~/alpha.txt", names: [], fits: true });
    assert.deepEqual((await completeLocal("~/be", env)).names, ["beta-link/", "beta/"]);
    assert.deepEqual(await completeLocal("~/g", env), { text: "~/gone", names: [], fits: true });
    assert.deepEqual(await completeLocal("~/.s", env), { text: "~/.secret", names: [], fits: true });
    assert.deepEqual(await completeLocal("~/t", env), { text: "~/träger", names: [], fits: true });
    assert.deepEqual(await completeLocal("~", env), { text: "~/", names: [], fits: true });
    assert.deepEqual(await completeLocal("~/nowhere/x", env), { text: "~/nowhere/x", names: [], fits: false });
    const long = `~/${"x".repeat(300)}/x`;
    assert.deepEqual(await completeLocal(long, env), { text: long, names: [], fits: false });
    assert.deepEqual(await completeLocal("~/alpha.txt/x", env), { text: "~/alpha.txt/x", names: [], fits: false });
  });
});

Deno.test("localNameOf gives each odd name a harmless local one", () => {
  for (const { name, what } of oddNames) assert.match(localNameOf(name), /^[^\p{Cc}\p{Cf}/\\]+$/u, what);
  assert.equal(localNameOf(utf8("..")), "file");
  assert.equal(localNameOf(utf8("results.csv")), "results.csv");
  assert.equal(localNameOf(Uint8Array.of(0x63, 0xe9)), "c_e9");
});

Deno.test("an edited text lies in a private folder, under a name that no command line takes for an option", async () => {
  for (const { name } of [...oddNames, { name: utf8("-rf") }, { name: utf8("+cmd") }]) {
    const local = await createLocalText(name, "text");
    try {
      assert.equal((await Deno.stat(local.path)).mode! & 0o777, 0o600);
      assert.equal((await Deno.stat(local.path.replace(/\/[^/]*$/, ""))).mode! & 0o777, 0o700);
      assert.match(local.path, /\/[A-Za-z0-9._][A-Za-z0-9._+-]*$/);
      assert.deepEqual(await readLocalText(local.path, "text"), { text: "text", isSame: true });
      await Deno.writeFile(local.path, Uint8Array.of(0xff));
      assert.deepEqual(await readLocalText(local.path, "text"), { text: null, isSame: false });
    } finally {
      await local.remove();
    }
    assert.equal(await readLocalText(local.path, "text"), undefined);
  }
});

Deno.test("editorOf takes VISUAL before EDITOR before vi, and an editor may have arguments", async () => {
  assert.equal(editorOf(envOf({ VISUAL: "code --wait", EDITOR: "nano" })), "code --wait");
  assert.equal(editorOf(envOf({ VISUAL: " ", EDITOR: "nano" })), "nano");
  assert.equal(editorOf(envOf({})), "vi");
  await withHome(async (home) => {
    const path = `${home}/a "b" $(c).txt`;
    await Deno.writeTextFile(path, "one");
    assert.equal(await runEditor("sed -i s/one/two/", path), 0);
    assert.equal(await Deno.readTextFile(path), "two");
    assert.equal(await runEditor("exit 7;", path), 7);
  });
});

Deno.test("textLines wraps long lines whole, and shows tabs and control characters harmless", () => {
  const text = textLines(`${"x".repeat(5_000)}\n\tif\r\n\x1b[31m\nlast\n`);
  const lines = text(80).map(textOf);
  assert.equal(lines.slice(0, -3).join("").length, 5_000);
  assert.deepEqual(lines.slice(-3), ["    if", "\\u{1b}[31m", "last"]);
  assert.equal(text(80), text(80), "a frame costs nothing when the width is the same");
  assert(text(20).every((line) => textOf(line).length <= 20));
  assert.equal(textLines("no end")(80).length, 1);
  const wide = `${"x".repeat(999)}${"\u{20000}".repeat(600)}`;
  assert.equal(textLines(wide)(70).map(textOf).join(""), wide);
});

Deno.test("an upload that is refused in the middle says why the server refused it, not that the source is short", async () => {
  const isWaiting = Promise.withResolvers<void>();
  const isUnwanted = Promise.withResolvers<void>();
  const api = createApi({
    baseUrl: "http://admin.test",
    isOperator: true,
    close: () => Promise.resolve(),
    async fetch(request) {
      const reader = request.body!.getReader();
      await reader.read();
      const next = reader.read();
      await isWaiting.promise;
      await reader.cancel();
      await Promise.all([next, isUnwanted.promise]);
      return refusal(409, "There is no space left on the pod's disk", "pod_refused");
    },
  });
  let parts = 0;
  const body = new ReadableStream<Uint8Array>({
    // The second part takes its time, so that the refusal comes before it.
    pull(controller) {
      if (parts++ === 0) return controller.enqueue(new Uint8Array(10));
      isWaiting.resolve();
      return new Promise(() => {});
    },
    cancel: () => isUnwanted.resolve(),
  }, { highWaterMark: 0 });
  const pod = { api, param: { org: "org", id: "x" } };
  await assert.rejects(
    sendSource(pod, utf8("/workspace/x"), { body, size: 100, close: () => {} }, { onBytes: () => {} }),
    { code: "pod_refused", message: "There is no space left on the pod's disk" },
  );
});

function transfersOf() {
  const said: string[] = [];
  const busy: string[] = [];
  const transfers = createTransfers({
    now: () => 0,
    onChange: () => {},
    onBegin: (title) => void busy.push(title),
    onEnd: (title, note, tone) => {
      busy.splice(busy.indexOf(title), 1);
      said.push(`${tone}: ${note}`);
    },
  });
  return { transfers, said, busy };
}

Deno.test("transfers run beside each other, are cancelled one by one, and are forgotten once they have ended", async () => {
  const { transfers, said, busy } = transfersOf();
  const first = Promise.withResolvers<string>();
  const begun = [
    transfers.start({ title: "Upload a", place: "x", work: () => first.promise }),
    transfers.start({
      title: "Upload b",
      place: "y",
      work: (report, signal) => {
        report({ done: 5, total: 10 });
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    }),
  ];
  assert.deepEqual(busy, ["Upload a", "Upload b"]);
  assert.equal(transferText(transfers.list()), "Upload b 50% of 10 B, 1 more (:transfers)");
  transfers.cancel(transfers.list()[0]!.id);
  assert.match(transferText(transfers.list())!, /^Upload b stopping/);
  assert.equal(await begun[1], false);
  transfers.forgetEnded();
  assert.deepEqual(transfers.list().map(({ title }) => title), ["Upload a"]);
  first.resolve("a is there");
  assert.equal(await begun[0], true);
  assert.deepEqual(said, ["warn: Upload b: cancelled", "good: a is there"]);
  assert.deepEqual(busy, []);
  assert.equal(transferText(transfers.list()), null);
});

Deno.test("transfers are cancelled and waited for at the end; a mistake in one is thrown and not said", async () => {
  const { transfers, said } = transfersOf();
  let isClean = false;
  const begun = transfers.start({
    title: "Download a",
    place: "x",
    work: async (_, signal) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await new Promise((resolve) => setTimeout(resolve, 5));
      isClean = true;
      throw signal.reason;
    },
  });
  await transfers.close();
  assert(isClean);
  assert.equal(await begun, false);
  assert.deepEqual(said, ["warn: Download a: cancelled"]);
  await assert.rejects(
    transfers.start({ title: "b", place: "x", work: () => Promise.reject(new TypeError("a mistake")) }),
    TypeError,
  );
});
