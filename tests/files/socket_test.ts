/** Real clients on a real socket: those that go away, and curl. */
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { until } from "../support/sshd.ts";
import { run } from "../demo/pods_support.ts";
import { type FileScene, needsPods, noTemporaries, ok, withFiles } from "./support.ts";

const MB = 1_000_000;

async function withSocket(
  scene: FileScene,
  use: (at: { origin: string; token: string }) => Promise<void>,
): Promise<void> {
  const { world } = scene;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => world.app.fetch(request, { isOperator: false, account: "", address: "127.0.0.1" }),
  );
  try {
    const { port } = server.addr;
    await use({ origin: `http://127.0.0.1:${port}`, token: await world.token("officer", "officer") });
  } finally {
    await server.shutdown();
  }
}

Deno.test(
  "a client that goes away in the middle of an upload or a download leaves the old file whole",
  needsPods,
  async () => {
    await withFiles(async (scene) => {
      const { files, url, volume, list } = scene;
      ok(await files("write", { path: "/workspace/f", content: "old" }));
      await Deno.writeFile(`${volume}/big`, new Uint8Array(40 * MB));
      await withSocket(scene, async ({ origin, token }) => {
        const { hostname, port } = new URL(origin);
        const connect = () => Deno.connect({ hostname, port: Number(port) });
        const head = (line: string, more: string) =>
          new TextEncoder().encode(`${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`);
        const uploads = [
          ["PUT", "upload?path=/workspace/f", "Content-Length: 50000000\r\n", ""],
          [
            "POST",
            "upload",
            "Content-Length: 50000000\r\nContent-Type: multipart/form-data; boundary=b\r\n",
            '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n',
          ],
        ] as const;
        for (const [method, route, headers, start] of uploads) {
          const conn = await connect();
          await conn.write(head(`${method} ${url}/${route}`, headers));
          await conn.write(new TextEncoder().encode(start));
          let sent = 0;
          while (sent < 3 * MB) sent += await conn.write(new Uint8Array(65_536));
          const writing = () =>
            [...Deno.readDirSync(volume)].some((entry) => entry.name.startsWith(".orgpods-upload-"));
          await until(writing, "the upload has begun");
          conn.close();
          await until(() => !writing(), "its temporary file is removed");
        }
        const conn = await connect();
        await conn.write(head(`GET ${url}/download?path=/workspace/big`, ""));
        await conn.read(new Uint8Array(65_536));
        conn.close();
        assert.equal(await Deno.readTextFile(`${volume}/f`), "old");
        ok(await list("/workspace"));
        await noTemporaries(volume);
      });
    });
  },
);

Deno.test("a download that breaks off on the pod's side is no success for the client", needsPods, async () => {
  await withFiles(async (scene) => {
    const { url, volume, link, exec } = scene;
    await Deno.writeFile(`${volume}/big`, new Uint8Array(60 * MB));
    await exec("mkdir /workspace/d && head -c 60000000 /dev/urandom >/workspace/d/f");
    await withSocket(scene, async ({ origin, token }) => {
      const headers = { authorization: `Bearer ${token}` };
      const body = JSON.stringify({ path: "/workspace/d" });
      const asks = [
        () => fetch(`${origin}${url}/download?path=/workspace/big`, { headers }),
        () => fetch(`${origin}${url}/archive`, { method: "POST", headers, body }),
      ];
      for (const ask of asks) {
        const answer = await ask();
        const reader = answer.body!.getReader();
        await reader.read();
        link.cut();
        await assert.rejects(async () => {
          while (!(await reader.read()).done);
        });
      }
    });
  }, { proxy: "ending" });
});

/** The README's block of curl calls. */
function readmeBlock(): string {
  const text = Deno.readTextFileSync(new URL("../../README.md", import.meta.url));
  const block = /^```bash\n(ask\(\)[\s\S]*?)^```/m.exec(text)?.[1];
  assert.ok(block, "The README has no block of curl calls");
  return block;
}

Deno.test("curl alone does everything as the README shows", {
  ignore: needsPods.ignore || lacks("curl", "tar", "bash"),
}, async () => {
  await withFiles(async (scene) => {
    const { url, volume } = scene;
    const local = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(`${local}/notes.txt`, "0123456789");
      await withSocket(scene, async ({ origin, token }) => {
        const setUp = `set -e -o pipefail; cd ${local}; API=${origin}${url}; TOKEN=${token}\n`;
        const { code, out, err } = await run("bash", ["-c", setUp + readmeBlock()]);
        assert.equal(code, 0, `${out} ${err}`);
        assert.match(out, /"name":"users"/);
        assert.match(out, /"path":"\/workspace\/notes.txt","size":10/);
        assert.match(out, /0123456789workspace\/$/m);
        assert.match(out, /^workspace\/copy.txt$/m);
        assert.match(out, /"deleted":"\/workspace\/b.txt"/);
        assert.deepEqual([...Deno.readDirSync(volume)].map((entry) => entry.name).sort(), [
          "notes.txt",
          "shared",
          "users",
        ]);
        await Deno.writeTextFile(`${local}/part`, "01234");
        const more = `${readmeBlock().split("\n")[0]}
          ask -C - -o part "$API/download?path=/workspace/notes.txt"
          ask -X PUT --data-binary @- "$API/upload?path=/workspace/piped" <notes.txt`;
        assert.equal((await run("bash", ["-c", setUp + more])).code, 0);
        assert.equal(await Deno.readTextFile(`${local}/part`), "0123456789");
        assert.equal(await Deno.readTextFile(`${volume}/piped`), "0123456789");
      });
    } finally {
      await Deno.remove(local, { recursive: true });
    }
  });
});
