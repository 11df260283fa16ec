import assert from "node:assert/strict";
import { join } from "node:path";
import { freePort } from "../../server/demo/pods/free_port.ts";
import { eventually, mustRun, run, ssh, withSshdPod } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { answers, asRoot, ignorePods, withOpenSsh } from "./support.ts";

const ignore = ignorePods || lacks("curl", "python3");

/** A web server on this machine, whose network the pod shares. */
async function withWebServer(use: (port: number) => Promise<void>): Promise<void> {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => new Response("the page"));
  try {
    await use(server.addr.port);
  } finally {
    await server.shutdown();
  }
}

const curl = (...args: string[]) => mustRun("curl", "-sS", "--max-time", "60", "--noproxy", "", ...args);

Deno.test({
  name: "pod image forwards a member's TCP ports by -L and by -D, without a session",
  ignore,
  fn: () =>
    withSshdPod("orgpods", ({ org, address }) =>
      withWebServer(async (web) => {
        const key = await org.member("pod1", "bob");
        const [local, socks] = [freePort(), freePort()];
        const flags = ["-N", "-L", `${local}:127.0.0.1:${web}`, "-D", String(socks)];
        await withOpenSsh(address, key, { flags }, async () => {
          await answers(local);
          await answers(socks);
          assert.equal(await curl(`http://127.0.0.1:${local}/`), "the page");
          assert.equal(await curl("--socks5", `127.0.0.1:${socks}`, `http://127.0.0.1:${web}/`), "the page");
        });
      })),
});

/** As VS Code's Remote-SSH comes in: no terminal, a script on the standard input, and its server reached through -D. */
const EDITOR_SCRIPT = `echo "home $HOME in $PWD as $(id -un) with $HF_HOME"
mkdir -p ~/.editor && cd ~/.editor && echo "from the editor" >page
python3 -m http.server --bind 127.0.0.1 "$PORT" >log 2>&1 </dev/null &
echo "listening $!"
`;

Deno.test({
  name: "pod image lets an editor in by a script on standard input of bash and a dynamic forward",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      const [port, socks] = [freePort(), freePort()];
      const input = `PORT=${port}\n${EDITOR_SCRIPT}`;
      const flags = ["-T", "-D", String(socks)];
      await withOpenSsh(address, key, { flags, command: "bash", input }, async (editor) => {
        await eventually("the script has run", () => Promise.resolve(editor.printed().includes("listening")));
        const home = "/workspace/users/bob";
        assert.match(editor.printed(), new RegExp(`^home ${home} in ${home} as godfather_bob with /workspace/hf\n`));
        await answers(port);
        assert.equal(
          await curl("--socks5", `127.0.0.1:${socks}`, `http://127.0.0.1:${port}/page`),
          "from the editor\n",
        );
      });
    }, { HF_HOME: "/workspace/hf" }),
});

Deno.test({
  name: "pod image refuses Unix-socket forwarding to members and officers, in both directions",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, folder, address }) => {
      for (const key of [await org.member("pod1", "bob"), await org.officer("pod1")]) {
        const out = ["-o", "ExitOnForwardFailure=yes", "-R", "/run/probe.sock:127.0.0.1:1"];
        const refused = await ssh(address, key, { flags: out, command: "true" });
        assert.equal(refused.code, 255);
        assert.match(refused.err, /remote port forwarding failed/);

        const socket = join(folder, "local.sock");
        const flags = ["-N", "-L", `${socket}:/run/root.sock`];
        await asRoot(address, org, "rm -f /run/root.sock");
        const listen = `import socket; s = socket.socket(socket.AF_UNIX); s.bind("/run/root.sock"); s.listen(); ` +
          `print("listening", flush=True); s.accept()[0].send(b"as root")`;
        await withOpenSsh(address, org.backend, { command: `python3 -c '${listen}'` }, async (root) => {
          await eventually("a socket of root listens", () => Promise.resolve(root.printed() === "listening\n"));
          await withOpenSsh(address, key, { flags }, async () => {
            await eventually("ssh listens", async () => (await run("test", ["-S", socket])).code === 0);
            const connection = await Deno.connect({ transport: "unix", path: socket });
            try {
              assert.equal(await connection.read(new Uint8Array(8)), null, "nothing of root's socket is reached");
            } finally {
              connection.close();
            }
          });
        });
        await Deno.remove(socket);
      }
      assert.equal((await ssh(address, org.backend, { command: "ls /run/probe.sock" })).out, "");
    }),
});

Deno.test({
  name: "original image gives a member no port forward, because a certificate for it has no permission to",
  ignore,
  fn: () =>
    withSshdPod("original", ({ org, address }) =>
      withWebServer(async (web) => {
        const forced = "/usr/local/bin/godfather-login bob";
        const key = await org.certify({ principal: "gf-pod1", forced, options: ["clear", "permit-pty"] });
        const { code, out, err } = await ssh(address, key, { flags: ["-W", `127.0.0.1:${web}`] });
        assert.deepEqual({ code, out }, { code: 255, out: "" });
        assert.match(err, /open failed|administratively prohibited|stdio forwarding failed/);
      })),
});
