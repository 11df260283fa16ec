/** A server that is told to end while clients are in the middle of uploads that would go on for ever. */
import assert from "node:assert/strict";
import { connectRemote } from "../../admin/client/remote.ts";
import type { PodHost } from "../../server/demo/pods/host.ts";
import { OFFICER } from "../../server/demo/people.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { honest } from "../support/hostile_pod.ts";
import { sftpServer, type SftpTestServer, TYPE } from "../support/hostile_sftp.ts";
import { addOrg, must, type Server, startServe, tokenOf, untilTrue, withDataDir } from "../support/server_process.ts";
import { startStandins } from "../support/standins.ts";

/** How long a server may take to end after SIGTERM. */
const END_MS = 60_000;
const PODS = "/api/compute/demo/pods";
const SIZE = 2_000_000_000;
/** The pod with this variable never answers a write. */
const STUCK = "STUCK";

/** Pods whose files are a script; counts the writes that came to each kind. */
function scriptedHost() {
  const servers = new Map<string, SftpTestServer>();
  const writes = { taken: 0, stuck: 0 };
  const stop = async (id: string) => {
    await servers.get(id)?.close();
    servers.delete(id);
  };
  const host: PodHost = {
    async start({ id, env }) {
      const isStuck = env[STUCK] !== undefined;
      const server = await sftpServer({
        on(request) {
          if (request.type !== TYPE.write) return honest(request, 0);
          writes[isStuck ? "stuck" : "taken"]++;
          if (!isStuck) honest(request, 0);
        },
      });
      servers.set(id, server);
      return { host: "127.0.0.1", port: server.port };
    },
    stop,
    remove: stop,
    async close() {
      for (const id of [...servers.keys()]) await stop(id);
    },
  };
  return { host, writes };
}

async function podOf(server: Server, token: string, name: string, env: Record<string, string>): Promise<string> {
  const body = { name, use_cpu_only: true, env };
  const { id } = (await must(server.call("POST", PODS, { token, body }))).json.pod;
  await untilTrue("the pod has an address", async () => {
    const { status, json } = await server.call("GET", `${PODS}/${id}`, { token });
    return status === 200 && json.pod.status === "RUNNING" && json.pod.host !== null;
  });
  return id;
}

/** A client that sends a part of the body each time the last one was taken, a while after it. */
async function slowClient(url: string, path: string, token: string): Promise<void> {
  const { hostname, port } = new URL(url);
  using conn = await Deno.connect({ hostname, port: Number(port) });
  const head = [
    `PUT ${path} HTTP/1.1`,
    `Host: ${hostname}`,
    `Authorization: Bearer ${token}`,
    `Content-Length: ${SIZE}`,
  ];
  await conn.write(new TextEncoder().encode(`${head.join("\r\n")}\r\nContent-Type: application/octet-stream\r\n\r\n`));
  try {
    for (;;) {
      await conn.write(new Uint8Array(40_000));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe) && !(error instanceof Deno.errors.ConnectionReset)) throw error;
  }
}

/** A client that sends as fast as it is allowed to. Resolves when it is told no or cut off. */
async function fastClient(url: string, path: string, token: string, isProxied: boolean): Promise<void> {
  let left = SIZE;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(65_536));
      left -= 65_536;
      if (left < 0) controller.close();
    },
  }, { highWaterMark: 0 });
  const headers = { "content-type": "application/octet-stream" };
  const request = new Request(`${url}${path}`, { method: "PUT", body, headers });
  await assert.rejects(async () => {
    const answer = await connectRemote({ url, token, isProxied }).fetch(request);
    throw new Error(`${answer.status} ${await answer.text()}`);
  });
}

Deno.test("serve ends within 10 s of SIGTERM while uploads are under way, slow, fast, and to a pod that takes nothing", async () => {
  const { host: podHost, writes } = scriptedHost();
  const standins = await startStandins({ podHost, timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } });
  const secretsKey = generateSecretKey();
  try {
    await withDataDir(secretsKey, async (dir) => {
      const server = await startServe(dir, {
        env: { ...standins.env, SECRETS_KEY: secretsKey, ORGPODS_FILE_TRANSFER_LIMIT: String(SIZE) },
      });
      const clients: Promise<void>[] = [];
      try {
        await addOrg(server, standins.secrets.runpodKey);
        const token = await tokenOf(server, "officer", OFFICER.id);
        const upload = (pod: string) => `${PODS}/${pod}/files/upload?path=/d/f`;
        const taking = upload(await podOf(server, token, "takes-all", {}));
        const stuck = upload(await podOf(server, token, "takes-nothing", { [STUCK]: "1" }));
        clients.push(slowClient(server.url, taking, token));
        await untilTrue("the slow upload is under way", () => writes.taken > 2);
        for (const path of [stuck, taking]) {
          for (const isProxied of [false, true]) clients.push(fastClient(server.url, path, token, isProxied));
        }
        await untilTrue("the fast uploads are under way", () => writes.stuck > 2);
        server.program.kill("SIGTERM");
        assert.equal((await server.program.ended(END_MS)).code, 0);
        assert.match(server.program.stderr(), /"message":"orgpods has stopped"/);
        await Promise.all(clients);
      } finally {
        await server.close();
        await Promise.allSettled(clients);
      }
    });
  } finally {
    await standins.close();
    await podHost.close();
  }
});
