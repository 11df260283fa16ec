/**
 * A sparse file of 2 GB to and from a real sshd through `orgpods serve`: the same bytes arrive, the server's memory does
 * not grow with the file, and a transfer that is cut leaves the old file whole.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { peakMegabytes } from "../../bench/processes.ts";
import { OFFICER } from "../../server/demo/people.ts";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { silentLog } from "../../server/log.ts";
import { withFolder } from "../demo/pods_support.ts";
import { noTemporaries } from "../files/support.ts";
import { lacks } from "../support/needs.ts";
import { addOrg, must, type Server, startServe, tokenOf, untilTrue, withDataDir } from "../support/server_process.ts";
import { startStandins } from "../support/standins.ts";

const MB = 1_000_000;
const SMALL = 100 * MB;
const LARGE = 2_000 * MB;
/** What the peak of 2 GB may lie above that of 100 MB: the collector's pace, and far less than the file. */
const MOST_MORE_MB = 100;
/** Content among the holes: at both ends and across the borders of the blocks that are asked for. */
const ISLANDS = [0, 255 * 1024 - 7, 4 * 1024 * 1024 + 1, 777_777_777, LARGE - 5_000_000];

interface Scene {
  readonly server: Server;
  /** For files on the side of the client. */
  readonly folder: string;
  /** Where the pod's `/workspace` is on this machine. */
  readonly volume: string;
  /** Starts curl on a file route of the pod. */
  curl(route: string, ...args: string[]): Deno.ChildProcess;
}

async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const podHost = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog });
    const standins = await startStandins({ podHost, timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } });
    const secretsKey = generateSecretKey();
    try {
      await withDataDir(secretsKey, async (dir) => {
        const env = { ...standins.env, SECRETS_KEY: secretsKey, ORGPODS_FILE_TRANSFER_LIMIT: String(LARGE) };
        const server = await startServe(dir, { env });
        try {
          await addOrg(server, standins.secrets.runpodKey);
          const token = await tokenOf(server, "officer", OFFICER.id);
          const pod = await runningPod(server, token);
          const base = `${server.url}/api/compute/demo/pods/${pod}/files`;
          const curl: Scene["curl"] = (route, ...args) =>
            new Deno.Command("curl", {
              args: ["-sS", "-H", `Authorization: Bearer ${token}`, ...args, `${base}${route}`],
              stdin: "null",
              stdout: "piped",
              stderr: "inherit",
            }).spawn();
          await use({ server, folder, volume: join(folder, "pods", pod, "workspace"), curl });
        } finally {
          await server.close();
        }
      });
    } finally {
      await standins.close();
      await podHost.close();
    }
  });
}

/** Creates a pod and gives its id once its files can be listed. */
async function runningPod(server: Server, token: string): Promise<string> {
  const base = "/api/compute/demo/pods";
  const body = { name: "large", use_cpu_only: true };
  const { id } = (await must(server.call("POST", base, { token, body }))).json.pod;
  const list = () => server.call("GET", `${base}/${id}/files?path=/workspace`, { token });
  await untilTrue("the pod's files can be listed", async () => (await list()).status === 200);
  return id;
}

async function makeSparse(path: string, size: number): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  await file.truncate(size);
  for (const at of ISLANDS.filter((at) => at < size)) {
    await file.seek(at, Deno.SeekMode.Start);
    await file.write(crypto.getRandomValues(new Uint8Array(60_000)));
  }
}

async function hashOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of source) hash.update(chunk);
  return hash.digest("hex");
}

const hashOfFile = async (path: string) => await hashOf((await Deno.open(path)).readable);

async function download({ curl }: Scene, path: string): Promise<string> {
  const child = curl(`/download?path=${path}`, "--fail");
  const hash = await hashOf(child.stdout);
  assert.equal((await child.status).code, 0);
  return hash;
}

async function upload({ curl }: Scene, from: string, path: string): Promise<void> {
  const child = curl(`/upload?path=${path}`, "--fail", "-T", from);
  const { size } = await new Response(child.stdout).json();
  assert.deepEqual([(await child.status).code, size], [0, (await Deno.stat(from)).size]);
}

/** The bytes of the upload that is under way into a folder. */
async function bytesUnderWay(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name } of Deno.readDir(folder)) {
    if (name.startsWith(".orgpods-upload-")) bytes += (await Deno.stat(`${folder}/${name}`)).size;
  }
  return bytes;
}

Deno.test({
  name:
    "2 GB travel both ways unchanged while the server's memory stays flat, and a cut upload leaves the old file whole",
  ignore: Deno.build.os !== "linux" || lacks("sshd", "ssh-keygen", "curl", "unshare", "setpriv", "root"),
  fn: (t) =>
    withScene(async (scene) => {
      const { server, folder, volume } = scene;
      const { pid } = server.program;
      const small = `${folder}/small`;
      await makeSparse(small, SMALL);
      const smallHash = await hashOfFile(small);
      await upload(scene, small, "/workspace/old");
      assert.equal(await download(scene, "/workspace/old"), smallHash);
      const peakOfSmall = peakMegabytes(pid);
      const large = `${folder}/large`;
      await makeSparse(large, LARGE);
      const largeHash = await hashOfFile(large);

      await t.step("upload", async () => {
        await upload(scene, large, "/workspace/large");
        assert.equal(await hashOfFile(`${volume}/large`), largeHash);
      });
      await t.step("download", async () => {
        assert.equal(await download(scene, "/workspace/large"), largeHash);
      });
      await t.step("memory", () => {
        const more = peakMegabytes(pid) - peakOfSmall;
        assert.ok(more <= MOST_MORE_MB, `${more.toFixed(0)} MB more than the ${peakOfSmall.toFixed(0)} MB for 100 MB`);
      });
      await t.step("cut upload", async () => {
        const child = scene.curl("/upload?path=/workspace/old", "-T", large);
        await untilTrue("a part has arrived", async () => await bytesUnderWay(volume) > 20 * MB);
        child.kill("SIGKILL");
        await child.output();
        const next = `${folder}/next`;
        await Deno.writeTextFile(next, "next");
        await untilTrue("the cut is noticed", async () => {
          await upload(scene, next, "/workspace/next");
          return await bytesUnderWay(volume) === 0;
        });
        await noTemporaries(volume);
        assert.equal(await hashOfFile(`${volume}/old`), smallHash);
      });
      await t.step("cut download", async () => {
        const child = scene.curl("/download?path=/workspace/large");
        const reader = child.stdout.getReader();
        assert.ok((await reader.read()).value!.length > 0);
        child.kill("SIGKILL");
        while (!(await reader.read()).done);
        await child.status;
        assert.equal(await download(scene, "/workspace/old"), smallHash);
      });
    }),
});
