/** `orgpods file …` as a process, over a server, against a pod with a real sshd. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { OFFICER } from "../../server/demo/people.ts";
import { silentLog } from "../../server/log.ts";
import { lacks } from "../support/needs.ts";
import { playOnTerminal, type Step } from "../support/pty.ts";
import { untilTrue } from "../support/server_process.ts";
import { inside, oddNames } from "../support/sftp.ts";
import { type Bench, withOrg } from "./bench.ts";

const ignore = lacks("sshd", "root", "unshare", "setpriv", "python3");
const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));

interface Done {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly out: string;
  readonly err: string;
}

interface Scene {
  readonly bench: Bench;
  readonly url: string;
  readonly pod: string;
  /** An empty folder on this machine, where the commands run. */
  readonly folder: string;
  /** `/workspace` of the pod, seen from here. */
  readonly workspace: string;
  /** Runs `orgpods file <args>` over the operator's socket. */
  file(args: readonly string[], input?: Uint8Array | string): Promise<Done>;
  /** The same over the address of the server, with an officer token. */
  remote(args: readonly string[], input?: Uint8Array | string): Promise<Done>;
  /** The same on a terminal. */
  typed(args: readonly string[], ...steps: Step[]): Promise<{ readonly code: number; readonly text: string }>;
}

async function withPod(use: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  const host = createSshdHost({ folder: `${folder}/pods`, flavour: "orgpods", log: silentLog });
  try {
    await withOrg(async (bench, { url }) => {
      const pod = await bench.must(["pod", "create", "--cpu", "--name", "lab-1"]);
      await untilTrue("the pod runs", async () => {
        const { pods } = JSON.parse(await bench.must(["pod", "list", "--json"]));
        return pods[0]?.reachable === true;
      }, 40_000);
      const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id]);
      const here = `${folder}/here`;
      await Deno.mkdir(here);
      const local = ["--data-dir", bench.dir.path, "--allow-test-upstreams", "file"];
      const distant = ["--server", url, "--org", "demo", "file"];
      const env = { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "/" };
      await use({
        bench,
        url,
        pod,
        folder: here,
        workspace: `${folder}/pods/${pod}/workspace`,
        file: (args, input) => orgpods([...local, ...args], here, { ...env, ...bench.env }, input),
        remote: (args, input) => orgpods([...distant, ...args], here, { ...env, ORGPODS_TOKEN: token }, input),
        typed: (args, ...steps) =>
          playOnTerminal([Deno.execPath(), "run", "-A", "--no-check", "--quiet", MAIN, ...local, ...args], {
            env: { ...env, ...bench.env },
            cwd: here,
            steps,
          }),
      });
    }, { podHost: host });
  } finally {
    await host.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function orgpods(
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  input: Uint8Array | string = "",
): Promise<Done> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", MAIN, ...args],
    ...{ cwd, env, clearEnv: true, stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  const output = child.output();
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  await ReadableStream.from([bytes]).pipeTo(child.stdin).catch((error) => {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  });
  const { code, stdout, stderr } = await output;
  return { code, stdout, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** Its standard output without the last line end; fails unless it ended well. */
async function must(done: Promise<Done>): Promise<string> {
  const { code, out, err } = await done;
  assert.equal(code, 0, err);
  return out.replace(/\n$/, "");
}

function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

async function namesInArchive(path: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("tar", { args: ["tzf", path] }).output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

Deno.test({
  name: "file put, get, cat and archive move bytes both ways, over the socket and over the address",
  ignore,
  fn: () =>
    withPod(async ({ pod, file, remote, folder, workspace }) => {
      const content = noise(12_345_678);
      await Deno.writeFile(`${folder}/model.pt`, content);
      for (const [way, name] of [[file, "one"], [remote, "two"]] as const) {
        assert.equal(await must(way(["put", pod, "model.pt", `/workspace/${name}.pt`])), `/workspace/${name}.pt`);
        assert.deepEqual(await Deno.readFile(`${workspace}/${name}.pt`), content);
        const got = await way(["get", pod, `/workspace/${name}.pt`]);
        assert.equal(got.code, 0, got.err);
        assert.equal(got.out, `${name}.pt\n`);
        assert.equal(got.err, "12.3 MB saved.\n");
        assert.deepEqual(await Deno.readFile(`${folder}/${name}.pt`), content);
        assert.deepEqual((await way(["cat", pod, `/workspace/${name}.pt`])).stdout, Uint8Array.from(content));
        assert.equal(await must(way(["archive", pod, "/workspace", `${name}.tar.gz`])), `${name}.tar.gz`);
        assert.match(await namesInArchive(`${folder}/${name}.tar.gz`), new RegExp(`workspace/${name}\\.pt\\n`));
      }
      assert.deepEqual((await remote(["get", pod, "/workspace/one.pt", "-"])).stdout, Uint8Array.from(content));
      assert.equal(await must(remote(["put", pod, "-", "/workspace/in"], content)), "/workspace/in");
      assert.deepEqual(await Deno.readFile(`${workspace}/in`), content);
      await Deno.writeFile(`${folder}/piped.tar.gz`, (await file(["archive", pod, "/workspace"])).stdout);
      assert.match(await namesInArchive(`${folder}/piped.tar.gz`), /workspace\/one\.pt\n/);
      assert.equal(await must(file(["put", pod, "one.pt"])), "/workspace/one.pt");
      assert(!namesIn(workspace).some((name) => name.includes("tmp")), namesIn(workspace).join(" "));
      assert(!namesIn(folder).some((name) => name.includes("part")), namesIn(folder).join(" "));
    }),
});

Deno.test({
  name: "file put with an etag writes over what file stat showed, with --new over nothing, and ends with 5 otherwise",
  ignore,
  fn: () =>
    withPod(async ({ pod, file, folder, workspace }) => {
      await Deno.writeTextFile(`${folder}/notes`, "of this computer");
      await must(file(["put", pod, "notes"]));
      const { etag } = JSON.parse(await must(file(["stat", pod, "/workspace/notes", "--json"])));
      await must(file(["put", pod, "notes", "/workspace/notes", "--if-match", etag]));
      await Deno.writeTextFile(`${workspace}/notes`, "changed by somebody else");
      const refused = await file(["put", pod, "notes", "/workspace/notes", "--if-match", etag]);
      assert.equal(refused.code, 5, refused.err);
      assert.equal(await Deno.readTextFile(`${workspace}/notes`), "changed by somebody else");
      const taken = await file(["put", pod, "notes", "/workspace/notes", "--new"]);
      assert.equal(taken.code, 5, taken.err);
      assert.match(taken.err, /There is already something at this path/);
      assert.equal(await Deno.readTextFile(`${workspace}/notes`), "changed by somebody else");
      await must(file(["put", pod, "notes", "/workspace/others", "--new"]));
      assert.equal(await Deno.readTextFile(`${workspace}/others`), "of this computer");
    }),
});

Deno.test({
  name: "file ls, stat, mkdir, mv and rm do what they say, and end with the exit code of what went wrong",
  ignore,
  fn: () =>
    withPod(async ({ pod, file, workspace }) => {
      assert.equal(await must(file(["mkdir", pod, "/workspace/run1"])), "/workspace/run1");
      await Deno.writeTextFile(`${workspace}/run1/log`, "x".repeat(1_234), { mode: 0o640 });
      await Deno.symlink("log", `${workspace}/run1/last`);
      await Deno.utime(`${workspace}/run1/log`, 1_788_264_000, 1_788_264_000);
      const list = await must(file(["ls", pod, "/workspace/run1"]));
      assert.match(list, /^-rw-r----- {2}0:0 +1234 {2}2026-09-01 12:00:00Z {2}log$/m);
      assert.match(list, /^lrwxrwxrwx .* {2}last$/m);
      assert.match(await must(file(["ls", pod])), /^drwxr-xr-x .* {2}run1\/$/m);
      const stat = await must(file(["stat", pod, "/workspace/run1/log"]));
      assert.match(stat, /^Size +1\.2 kB \(1234 bytes\)$/m);
      assert.match(await must(file(["stat", pod, "/workspace/run1/last"])), /^Leads to +log$/m);
      assert.equal(await must(file(["mv", pod, "/workspace/run1/log", "/workspace/log"])), "/workspace/log");
      const taken = await file(["mv", pod, "/workspace/log", "/workspace/run1"]);
      assert.equal(taken.code, 5, taken.err);

      const noFlag = await file(["rm", pod, "/workspace/run1"]);
      assert.equal(noFlag.code, 2);
      assert.match(noFlag.err, /is a folder\nhint: .*-r\n$/);
      const unsure = await file(["rm", pod, "/workspace/run1", "-r"]);
      assert.equal(unsure.code, 2);
      assert.match(unsure.err, /--yes/);
      assert(namesIn(workspace).includes("run1"));
      await must(file(["rm", pod, "/workspace/run1", "-r", "--yes"]));
      await must(file(["rm", pod, "/workspace/log"]));
      assert.deepEqual(namesIn(workspace).filter((name) => /run1|log/.test(name)), []);

      const missing = await file(["cat", pod, "/workspace/none"]);
      assert.deepEqual([missing.code, missing.err], [3, "error: No such file or directory\n"]);
      assert.equal(missing.out, "");
      assert.equal((await file(["get", pod, "/workspace"])).code, 5);
      assert.equal((await file(["ls", pod, "relative"])).code, 2);
      assert.equal((await file(["ls", "nopod", "/"])).code, 3);
      assert.equal((await file(["put", pod, "none", "/workspace/x"])).code, 2);
      assert.equal((await file(["rm", pod, "/workspace/users", "-r", "--yes"])).code, 2);
    }),
});

Deno.test({
  name: "every odd name is listed, fetched, sent, moved and deleted byte for byte",
  ignore,
  fn: () =>
    withPod(async ({ pod, file, folder, workspace }) => {
      const source = "/workspace/odd";
      await Deno.mkdir(`${workspace}/odd`);
      // Names that are not UTF-8 can be made only by a program that takes bytes.
      const names = oddNames.map(({ name }) => Buffer.from(name).toString("hex"));
      const make = "import sys; [open(bytes.fromhex(h), 'w').write(h) for h in sys.argv[1:]]";
      const args = ["-c", make, ...names];
      const made = await new Deno.Command("python3", { args, cwd: `${workspace}/odd` }).output();
      assert(made.success, new TextDecoder().decode(made.stderr));

      const list = await file(["ls", pod, source]);
      assert.equal(list.code, 0, list.err);
      const lines = list.out.split("\n").filter((line) => line !== "");
      assert.equal(lines.length, names.length);
      for (const line of lines) assert.doesNotMatch(line, /[\p{Cc}\p{Cf}]/u);
      const { files } = JSON.parse(await must(file(["ls", pod, source, "--json"])));
      const listed = files.map((entry: { name: string; name_b64?: string }) =>
        (entry.name_b64 === undefined ? Buffer.from(entry.name) : Buffer.from(entry.name_b64, "base64url")).toString(
          "hex",
        )
      );
      assert.deepEqual([...listed].sort(), [...names].sort());
      assert.match(list.err, /name\(s\) are not UTF-8: use --b64/);

      const bytes = new TextEncoder().encode(source);
      const b64 = (text: string, name: Uint8Array) => Buffer.from(inside(text, name)).toString("base64url");
      const odd = oddNames.filter(({ name }) =>
        Buffer.compare(name, Buffer.from(new TextDecoder().decode(name))) !== 0
      );
      assert(odd.length > 0 && bytes.length > 0);
      for (const { what, name } of odd.slice(0, 3)) {
        const hex = Buffer.from(name).toString("hex");
        assert(list.out.includes(`[${b64(source, name)}]`), what);
        assert.equal((await file(["cat", pod, b64(source, name), "--b64"])).out, hex, what);
        assert.equal((await file(["get", pod, b64(source, name), "--b64"])).code, 2, what);
        await must(file(["get", pod, b64(source, name), "--b64", "odd.txt", "--force"]));
        await must(file(["put", pod, "odd.txt", b64("/workspace", name), "--b64"]));
        assert.equal((await file(["cat", pod, b64("/workspace", name), "--b64"])).out, hex, what);
        await must(file(["mv", pod, b64(source, name), b64(`${source}`, Uint8Array.of(...name, 0x32)), "--b64"]));
        await must(file(["rm", pod, b64("/workspace", name), "--b64"]));
      }
      assert.deepEqual(namesIn(folder), ["odd.txt"]);
    }),
});

Deno.test({
  name: "file ls shows a folder of more entries than a page holds, each once",
  ignore,
  fn: () =>
    withPod(async ({ pod, file, workspace }) => {
      await Deno.mkdir(`${workspace}/many`);
      const make = `import os; [os.close(os.open(f'entry-{n:05}', os.O_CREAT)) for n in range(10_050)]`;
      await new Deno.Command("python3", { args: ["-c", make], cwd: `${workspace}/many` }).output();
      const lines = (await must(file(["ls", pod, "/workspace/many"]))).split("\n");
      assert.equal(new Set(lines).size, 10_050);
      assert.equal(lines.length, 10_050);
      const whole = JSON.parse(await must(file(["ls", pod, "/workspace/many", "--json"])));
      assert.deepEqual([whole.files.length, whole.total, whole.cursor], [10_050, 10_050, null]);
    }),
});

Deno.test({
  name: "file get replaces nothing without --force, and goes on with --continue where a transfer was cut",
  ignore,
  fn: () =>
    withPod(async ({ pod, bench, url, file, folder, workspace }) => {
      const content = noise(30_000_000);
      await Deno.writeFile(`${workspace}/big`, content);
      await Deno.writeTextFile(`${folder}/big`, "mine");
      const refused = await file(["get", pod, "/workspace/big"]);
      assert.equal(refused.code, 5);
      assert.match(refused.err, /"?big"? is there already\nhint: .*--force\n$/);
      assert.equal(await Deno.readTextFile(`${folder}/big`), "mine");

      const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id]);
      const env = { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "/", ORGPODS_TOKEN: token };
      const cutter = startCutter(Number(new URL(url).port));
      const over = (port: number, ...more: string[]) => {
        const args = [
          "--server",
          `http://127.0.0.1:${port}`,
          "--org",
          "demo",
          "file",
          "get",
          pod,
          "/workspace/big",
          "b",
        ];
        return orgpods([...args, ...more], folder, env);
      };
      try {
        cutter.cutAfter(10_000_000);
        const cut = await over(cutter.port);
        assert.equal(cut.code, 6, cut.err);
        assert.match(
          cut.err,
          /MB are kept; get the rest with --continue\.\nerror: .* before its answer was complete\n$/,
        );
        assert(!namesIn(folder).includes("b"));
        cutter.cutAfter(Infinity);
        const rest = await over(cutter.port, "--continue");
        assert.equal(rest.code, 0, rest.err);
        assert.deepEqual(await Deno.readFile(`${folder}/b`), content);
        assert.deepEqual(namesIn(folder), ["b", "big"]);
        assert(cutter.requests().some((head) => /\r\nrange: bytes=\d{6,}-\r\n/i.test(head)), "no range was asked for");
      } finally {
        await cutter.close();
      }
      await must(file(["get", pod, "/workspace/big", "--force"]));
      assert.deepEqual(await Deno.readFile(`${folder}/big`), content);
    }),
});

/** A proxy before the server that ends a connection after so many bytes of answers. */
function startCutter(target: number) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const heads: string[] = [];
  let most = Infinity;
  const open = new Set<Deno.TcpConn>();
  const relay = async (near: Deno.TcpConn) => {
    const far = await Deno.connect({ hostname: "127.0.0.1", port: target });
    open.add(near).add(far);
    const end = () => {
      for (const conn of [near, far]) if (open.delete(conn)) conn.close();
    };
    const hand = async (from: Deno.TcpConn, to: Deno.TcpConn, isAnswer: boolean) => {
      const buffer = new Uint8Array(65_536);
      for (let sum = 0, n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
        if (!isAnswer) heads.push(new TextDecoder().decode(buffer.subarray(0, n)));
        else if ((sum += n) > most) return;
        for (let sent = 0; sent < n;) sent += await to.write(buffer.subarray(sent, n));
      }
    };
    // Either side's end, a reset included, is the end of both.
    await Promise.race([hand(near, far, false), hand(far, near, true)].map((one) => one.catch(() => {})));
    end();
  };
  const relays: Promise<void>[] = [];
  const accepting = (async () => {
    for await (const near of listener) relays.push(relay(near));
  })();
  return {
    port: listener.addr.port,
    cutAfter: (bytes: number) => void (most = bytes),
    requests: () => heads,
    async close() {
      listener.close();
      for (const conn of open) conn.close();
      open.clear();
      await accepting;
      await Promise.all(relays);
    },
  };
}

Deno.test({
  name: "on a terminal there is progress, cat shows only text, and rm wants the folder's name typed",
  ignore,
  fn: () =>
    withPod(async ({ pod, typed, folder, workspace, file }) => {
      await Deno.writeFile(`${workspace}/big`, noise(80_000_000));
      const got = await typed(["get", pod, "/workspace/big"]);
      assert.equal(got.code, 0, got.text);
      assert.match(got.text, /\d+ % {2}[\d.]+ MB of 80\.0 MB {2}[\d.]+ MB\/s/);
      const put = await typed(["put", pod, "big", "/workspace/back"]);
      assert.match(put.text, /\d+ % {2}[\d.]+ MB of 80\.0 MB {2}[\d.]+ MB\/s/);
      assert.deepEqual(await Deno.readFile(`${workspace}/back`), await Deno.readFile(`${folder}/big`));

      const binary = await typed(["cat", pod, "/workspace/big"]);
      assert.equal(binary.code, 5, binary.text.slice(0, 500));
      assert.match(binary.text, /^error: The file is not text\nhint: .*--force\n$/);
      await Deno.writeTextFile(`${workspace}/log`, "loss 0.1\n\u001b]0;title\u0007\n");
      assert.equal((await typed(["cat", pod, "/workspace/log"])).text, "loss 0.1\n\\u{1b}]0;title\\u{7}\n");
      const archive = await typed(["archive", pod, "/workspace"]);
      assert.equal(archive.code, 2);

      await Deno.mkdir(`${workspace}/old`);
      const wrong = await typed(["rm", pod, "/workspace/old", "-r"], { expect: "Type its name", send: "new\r" });
      assert.equal(wrong.code, 2, wrong.text);
      assert.match(wrong.text, /nothing was deleted/);
      assert(namesIn(workspace).includes("old"));
      const right = await typed(["rm", pod, "/workspace/old", "-r"], { expect: "Type its name", send: "old\r" });
      assert.equal(right.code, 0, right.text);
      assert(!namesIn(workspace).includes("old"));
      assert.equal((await file(["cat", pod, "/workspace/log"])).out, "loss 0.1\n\u001b]0;title\u0007\n");
    }),
});
