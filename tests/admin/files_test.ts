/** The files screens on bad days and with long lists: the server's answers are made up, all else is the whole admin. */
import assert from "node:assert/strict";
import { Refusal } from "../../admin/client/refusal.ts";
import { eventually } from "../support/world.ts";
import { entry, keptPath, listing, withFileAnswers, withHome } from "./files_support.ts";
import { refusal } from "./support.ts";

/** A folder as the server pages it, with all that was asked for. */
function pagedFolder(count: number) {
  const names = Array.from({ length: count }, (_, at) => `file-${String(at).padStart(6, "0")}.txt`);
  const asked: { readonly limit: number; readonly cursor: string | null }[] = [];
  const answer = (request: Request): Response => {
    const { searchParams } = new URL(request.url);
    const limit = Number(searchParams.get("limit"));
    const cursor = searchParams.get("cursor");
    asked.push({ limit, cursor });
    const from = cursor === null ? 0 : Number(cursor.slice(1));
    const files = names.slice(from, from + limit).map((name, at) => entry(name, { size: from + at }));
    const next = from + files.length < count ? `f${from + files.length}` : null;
    return listing(files, { cursor: next, total: count });
  };
  return { asked, answer };
}

Deno.test("a folder of 25,000 entries is shown by its beginning, and more is loaded while one goes down", async () => {
  const folder = pagedFolder(25_000);
  await withFileAnswers((_, request) => folder.answer(request), {}, async (admin) => {
    await admin.until("1,000 loaded, of 25,000 entries");
    assert.deepEqual(folder.asked, [{ limit: 1_000, cursor: null }]);
    await admin.press("G");
    await admin.until("> file-000999.txt");
    await admin.until("10,000 loaded, of 25,000 entries");
    await admin.press("j");
    await admin.until("> file-001000.txt");
    await admin.press("m");
    await admin.until("20,000 loaded, of 25,000 entries");
    assert.deepEqual(folder.asked.slice(-2), [{ limit: 10_000, cursor: null }, { limit: 10_000, cursor: "f10000" }]);
    await admin.press("m");
    await admin.until("/workspace  25,000 entries");
    assert(!admin.offered().includes("m more"));
    await admin.press("G");
    await admin.until("> file-024999.txt");
    assert.match(admin.text(), /25\.0 KB/);
  });
});

Deno.test("a long folder is filtered and sorted as a whole as far as the server gives it at once", async () => {
  const folder = pagedFolder(10_000);
  await withFileAnswers((_, request) => folder.answer(request), {}, async (admin) => {
    await admin.until("1,000 loaded, of 10,000 entries");
    await admin.press("/");
    await admin.type("99");
    await admin.until(/\d+ fit, of 10,000 entries/);
    await admin.type("98.txt");
    await admin.until("1 fit, of 10,000 entries");
    await admin.until("> file-009998.txt");
    await admin.press("enter", "esc", "o", "o", "O");
    await admin.until("vSIZE");
    await admin.press("g");
    await admin.until("> file-009999.txt");
  });
});

Deno.test("an empty folder, and one that is not there, say so", async () => {
  let isGone = false;
  const answer = () => isGone ? refusal(404, "No such file or directory", "file_not_found") : listing([]);
  await withFileAnswers(answer, {}, async (admin) => {
    await admin.until("The folder is empty");
    assert.match(admin.text(), /0 entries/);
    assert(!admin.offered().some((offer) => /^(?:enter|e|d|r|D|a) /.test(offer)));
    isGone = true;
    await admin.press("ctrl-r");
    await admin.until("No such file or directory");
  });
});

for (
  const [status, code, sentence] of [
    [400, "invalid_request", "path must not hold a name longer than 255 bytes"],
    [403, "permission_denied", "Permission denied"],
    [404, "pod_not_found", "Pod not found"],
    [409, "pod_refused", "The pod refused: Failure"],
    [500, "internal_error", "Something went wrong in the server; the log says what"],
    [502, "pod_unreachable", "Could not connect to the pod"],
    [503, "ssh_address_pending", "The pod has no SSH address yet; try again in a minute"],
  ] as const
) {
  Deno.test(`a listing that is refused with ${status} ${code} is told in the server's words`, async () => {
    let isRefusing = true;
    const answer = () => isRefusing ? refusal(status, sentence, code) : listing([entry("notes.txt")]);
    await withFileAnswers(answer, {}, async (admin) => {
      await admin.until(`! ${sentence}`);
      isRefusing = false;
      await admin.press("ctrl-r");
      await admin.until("> notes.txt");
      isRefusing = true;
      await admin.press("ctrl-r");
      await admin.until(`! ${sentence}`);
      assert.match(admin.text(), /> notes\.txt/, "what was known stays");
      assert.match(admin.text(), /not fresh/);
    });
  });
}

Deno.test("a server that is away leaves the list, marked, and what is done then says why it was not", async () => {
  let isAway = false;
  const answer = () =>
    isAway ? Promise.reject(new Refusal("The server went away before it answered", 6)) : listing([entry("notes.txt")]);
  await withFileAnswers(answer, {}, async (admin) => {
    await admin.until("> notes.txt");
    isAway = true;
    await admin.press("enter");
    await admin.until("The server went away before it answered");
    await admin.press("esc");
    await admin.until("> notes.txt");
    isAway = false;
    await admin.until("● connected");
  });
});

Deno.test("a form that the server refuses keeps what was typed, and says the server's sentence", async () => {
  const answer = (route: string) =>
    route === "list"
      ? listing([entry("notes.txt")])
      : route === "mkdir"
      ? refusal(403, "The file system on the pod is read-only", "permission_denied")
      : refusal(409, "There is already something at this path", "pod_refused");
  await withFileAnswers(answer, {}, async (admin) => {
    await admin.until("> notes.txt");
    await admin.press("n");
    await admin.type("run2");
    await admin.press("ctrl-s");
    await admin.until("! The file system on the pod is read-only");
    assert.match(admin.text(), /Name +run2/);
    await admin.press("esc", "y");
    await admin.until("> notes.txt");
    await admin.press("r", "ctrl-u");
    await admin.type("x".repeat(256));
    await admin.until("! New path must not hold a name longer than 255 bytes");
    await admin.press("ctrl-u");
    await admin.type("other.txt");
    await admin.press("ctrl-s");
    await admin.until("! There is already something at this path");
    assert.match(admin.text(), /New path +other\.txt/);
  });
});

Deno.test("an edited text that cannot be saved is kept in a file, and is saved when it is tried again", async () => {
  await withHome(async (home) => {
    await Deno.writeTextFile(`${home}/editor`, '#!/bin/sh\necho two >>"$1"\n', { mode: 0o755 });
    const saved: string[] = [];
    let status = 503;
    const answer = async (route: string, request: Request): Promise<Response> => {
      if (route === "list") return listing([entry("notes.txt")]);
      if (route === "read") {
        return Response.json({ path: "/workspace/notes.txt", content: "one\n", etag: '"sha256-1"' });
      }
      if (status !== 200) return refusal(status, "It did not work", "pod_unreachable");
      const body = await request.json();
      saved.push(body.content, body.if_match);
      return Response.json({ path: "/workspace/notes.txt", size: 8, etag: '"sha256-2"' });
    };
    await withFileAnswers(answer, { env: { EDITOR: `${home}/editor` } }, async (admin) => {
      await admin.until("> notes.txt");
      await admin.press("e");
      const path = keptPath(await admin.until("Press y to try again"), "notes.txt");
      assert.equal(await Deno.readTextFile(path), "one\ntwo\n");
      status = 200;
      await admin.press("y");
      await admin.until("notes.txt is saved");
      assert.deepEqual(saved, ["one\ntwo\n", '"sha256-1"']);
      await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
    });
  });
});

Deno.test("a file that another officer deleted meanwhile is told, and the list is loaded again", async () => {
  let entries = [entry("notes.txt"), entry("other.txt")];
  const answer = (route: string) =>
    route === "list" ? listing(entries) : refusal(404, "No such file or directory", "file_not_found");
  await withFileAnswers(answer, {}, async (admin) => {
    await admin.until("> notes.txt");
    entries = [entry("other.txt")];
    await admin.press("D");
    await admin.until("notes.txt: file, 10 B, changed");
    await admin.press("y");
    await admin.until("! No such file or directory");
    await admin.until("> other.txt");
    assert.doesNotMatch(admin.text(), /notes/);
  });
});

Deno.test("a folder is not deleted while what is in it could not be counted, and says when it is too much", async () => {
  let isRefusing = true;
  const answer = (route: string, request: Request) => {
    if (route !== "list") return refusal(500, "must not be asked", "internal_error");
    const path = new URL(request.url).searchParams.get("path")!;
    if (path === "/workspace") return listing([entry("deep", { type: "directory" })]);
    if (isRefusing) return refusal(403, "Permission denied", "permission_denied");
    return path.length > 400
      ? refusal(403, "Permission denied", "permission_denied")
      : listing([entry("d", { type: "directory" }), entry("f")]);
  };
  await withFileAnswers(answer, {}, async (admin) => {
    await admin.until("> deep/");
    await admin.press("D");
    await admin.until("! Permission denied");
    assert.doesNotMatch(admin.text(), /Delete deep/);
    isRefusing = false;
    await admin.press("D");
    await admin.until(/deep holds more than \d+ folders and \d+ files/);
    assert(!admin.offered().includes("y yes"));
  });
});

Deno.test("an upload to a free name replaces nothing that came there meanwhile, and says so", async () => {
  await withHome(async (home) => {
    await Deno.writeTextFile(`${home}/notes`, "mine");
    const asked: string[] = [];
    const answer = (route: string, request: Request): Response => {
      if (route === "list") return listing([]);
      if (route === "stat") return refusal(404, "No such file or directory", "file_not_found");
      asked.push(new URL(request.url).search);
      return refusal(409, "There is already something at this path", "pod_refused");
    };
    await withFileAnswers(answer, { env: { HOME: home } }, async (admin) => {
      await admin.until("The folder is empty");
      await admin.press("u", "ctrl-u");
      await admin.type("~/notes");
      await admin.press("enter");
      await admin.until("There is already something at this path");
      assert.deepEqual(asked, [`?${new URLSearchParams({ path: "/workspace/notes", must_be_new: "true" })}`]);
    });
  });
});

Deno.test("an upload that is cancelled says so, and may be begun again", async () => {
  await withHome(async (home) => {
    await Deno.writeFile(`${home}/model.pt`, new Uint8Array(5_000_000));
    let sent = 0;
    const answer = async (route: string, request: Request): Promise<Response> => {
      if (route === "list") return listing([]);
      if (route === "stat") return refusal(404, "No such file or directory", "file_not_found");
      // Takes some, and then nothing more.
      const reader = request.body!.getReader();
      while (sent < 1_000_000) sent += (await reader.read()).value?.length ?? 0;
      const { promise, reject } = Promise.withResolvers<Response>();
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
      return await promise;
    };
    await withFileAnswers(answer, { env: { HOME: home } }, async (admin) => {
      await admin.until("The folder is empty");
      await admin.press("u", "ctrl-u");
      await admin.type("~/model.pt");
      await admin.press("enter");
      await admin.until(/Upload model\.pt \d+% of 5\.0 MB \(:transfers\)|Upload model\.pt … \(:transfers\)/);
      await eventually(() => sent >= 1_000_000, "some was sent");
      await admin.press("q");
      await admin.until("Something is still under way");
      await admin.press(":");
      await admin.type("transfers");
      await admin.press("enter");
      await admin.until("> Upload model.pt");
      assert(admin.offered().includes("c cancel"));
      await admin.press("c");
      await admin.until("Upload model.pt: cancelled");
      await admin.until("○ cancelled");
      assert(!admin.offered().includes("c cancel"));
    });
  });
});

Deno.test("a download is cancelled while nothing comes, and nothing of it is left here", async () => {
  await withHome(async (home) => {
    const answer = (route: string): Response => {
      if (route === "list") return listing([entry("a.bin", { size: 1_000 })]);
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(100)) });
      return new Response(body, { headers: { "content-length": "1000", etag: '"1"' } });
    };
    await withFileAnswers(answer, { env: { HOME: home } }, async (admin) => {
      await admin.until("> a.bin");
      await admin.press("d", "ctrl-u");
      await admin.type("~/");
      await admin.press("enter");
      await eventually(() => [...Deno.readDirSync(home)].length === 1, "it has begun");
      await admin.press("t");
      await admin.until("> Download a.bin");
      await admin.press("c");
      await admin.until("○ cancelled");
      assert.deepEqual([...Deno.readDirSync(home)], []);
    });
  });
});

Deno.test("several transfers run at the same time, and leaving ends them and leaves nothing half done", async () => {
  await withHome(async (home) => {
    const bodies: ReadableStreamDefaultController<Uint8Array>[] = [];
    const answer = (route: string): Response => {
      if (route === "list") return listing([entry("a.bin", { size: 1_000 }), entry("b.bin", { size: 1_000 })]);
      // Nothing comes yet: bytes that were told after the clock moved on would stand for those of the second.
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void bodies.push(controller) });
      return new Response(body, { headers: { "content-length": "1000", etag: '"1"' } });
    };
    await withFileAnswers(answer, { env: { HOME: home }, columns: 100 }, async (admin, world) => {
      await admin.until("> a.bin");
      for (const name of ["a.bin", "b.bin"]) {
        await admin.press("d", "ctrl-u");
        await admin.type("~/");
        await admin.press("enter");
        await admin.until(`Download ${name}`);
        // The bodies are told apart by their order.
        await eventually(() => bodies.length === (name === "a.bin" ? 1 : 2), `${name} is asked for`);
        await admin.press("j");
      }
      await admin.until(", 1 more (:transfers)");
      await eventually(() => [...Deno.readDirSync(home)].length === 2, "both have begun");
      world.clock.advance(1_000);
      bodies[1]!.enqueue(new Uint8Array(250));
      bodies[0]!.enqueue(new Uint8Array(1_000));
      bodies[0]!.close();
      await admin.until("a.bin is saved as ~/a.bin (1.0 KB)");
      await admin.press("t");
      const text = await admin.until(/250 B of 1\.0 KB +250 B\/s +3 s left/);
      assert.match(text, /> Download b\.bin +◐ 25% of 1\.0 KB/);
      assert.match(text, /Download a\.bin +● done/);
    });
    assert.deepEqual([...Deno.readDirSync(home)].map(({ name }) => name), ["a.bin"]);
  });
});

Deno.test("a transfer that fails says the server's sentence, and is in the list with it", async () => {
  await withHome(async (home) => {
    const sentence = "The file is larger than 100000000 bytes";
    const answer = (route: string) =>
      route === "list" ? listing([entry("big.bin", { size: 2e9 })]) : refusal(413, sentence, "too_large");
    await withFileAnswers(answer, { env: { HOME: home } }, async (admin) => {
      await admin.until("> big.bin");
      await admin.press("d", "ctrl-u");
      await admin.type("~/big.bin");
      await admin.press("enter");
      await admin.until(`Download big.bin: ${sentence}`);
      await admin.press("t");
      await admin.until("! failed");
      assert.match(admin.text(), new RegExp(`bin: ${sentence}`));
    });
    assert.deepEqual([...Deno.readDirSync(home)], []);
  });
});

Deno.test("names of files cannot steer the terminal, forge a line or break the frame, in any window", async () => {
  const names = [
    "evil\x1b[31m\x07.txt",
    "two\nlines",
    "\u202etxt.exe",
    "漢字".repeat(60),
    "e\u0301\u0301\u0301\u0301",
    "x".repeat(255),
    "🇩🇪👩🏽",
    " ",
  ];
  const answer = (route: string) =>
    route === "list"
      ? listing(names.map((name) => entry(name)))
      : Response.json({ path: "/x", content: names.join("\n"), etag: '"1"' });
  await withFileAnswers(answer, {}, async (admin) => {
    await admin.until("evil\\u{1b}[31m\\u{7}.txt");
    for (const [columns, rows] of [[40, 12], [200, 50], [41, 13], [1, 1], [400, 100], [60, 20]] as const) {
      await admin.resize(columns, rows);
      await admin.press("G", "g");
    }
    await admin.until("evil");
    await admin.press("D");
    await admin.until("Delete evil\\u{1b}");
    for (const columns of [40, 80]) await admin.resize(columns, 12);
    await admin.press("n", "enter");
    await admin.until(/u\{202e\}txt\.exe/);
    for (const [columns, rows] of [[40, 12], [200, 50]] as const) {
      await admin.resize(columns, rows);
      await admin.press("G", "g", "pagedown");
    }
  });
});

Deno.test("a line for a local path completes what is there, and lists what would fit", async () => {
  await withHome(async (home) => {
    await Deno.mkdir(`${home}/data`);
    await Deno.writeTextFile(`${home}/data/one.csv`, "1");
    await Deno.writeTextFile(`${home}/data/one.txt`, "1");
    await Deno.writeTextFile(`${home}/.hidden`, "1");
    await withFileAnswers(() => listing([]), { env: { HOME: home } }, async (admin) => {
      await admin.until("The folder is empty");
      await admin.press("u", "ctrl-u");
      await admin.type("~/d");
      await admin.press("tab");
      await admin.until("> ~/data/");
      await admin.press("tab");
      await admin.until("> ~/data/one.");
      await admin.until("one.csv  one.txt");
      await admin.type("c");
      await admin.press("tab");
      await admin.until("> ~/data/one.csv");
      await admin.type("x");
      await admin.press("tab");
      await admin.until("! Nothing there begins like that");
      await admin.press("backspace");
      await admin.untilGone("begins like that");
      await admin.resize(40, 12);
      await admin.until("> ~/data/one.csv");
      await admin.press("ctrl-u", "enter");
      await admin.until("! Type a path on this computer");
      for (const [typed, sentence] of [["a\0b", "NUL"], [`~/${"x".repeat(300)}`, "too long"]] as const) {
        await admin.paste(typed);
        await admin.press("tab", "enter");
        await admin.until(new RegExp(`!.*${sentence}`, "s"));
        await admin.press("ctrl-u");
      }
      await admin.press("esc");
      await admin.untilGone("Upload to");
    });
  });
});

Deno.test("files is opened from a pod by f and by its command, and says when the pod is deleted meanwhile", async () => {
  const answer = () => null;
  await withFileAnswers(answer, {}, async (admin, world, pod) => {
    await admin.press(":");
    await admin.type("pods");
    await admin.press("enter");
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press(":");
    await admin.type("fil");
    await admin.press("tab", "enter");
    await admin.until("Pods 1 > workshop > Files /workspace");
    await admin.press("esc");
    await admin.until("Pod id");
    await admin.press("f");
    await admin.until("Files /workspace");
    await world.call("POST", `/api/compute/org/pods/${pod}/action`, { as: "officer", body: { action: "terminate" } });
    await admin.press("ctrl-r");
    await admin.until("Pod not found");
    assert(!admin.offered().includes("s start"));
  });
});
