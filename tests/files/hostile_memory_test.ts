/**
 * A server in a process of its own and pods that lie, flood or keep silent: the caller gets a clear error, and the server
 * does not fill its memory. What it takes at most is read from the kernel for each pod by itself.
 */
import assert from "node:assert/strict";
import { peakMegabytes, residentMegabytes } from "../../bench/processes.ts";
import type { PodHost } from "../../server/demo/pods/host.ts";
import { OFFICER } from "../../server/demo/people.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { HOSTILE_PODS, type HostilePod } from "../support/hostile_pod.ts";
import type { TestServer } from "../support/hostile_ssh.ts";
import { startProgram } from "../support/process.ts";
import {
  addOrg,
  must,
  type Reply,
  type Server,
  serverOf,
  tokenOf,
  untilTrue,
  withDataDir,
} from "../support/server_process.ts";
import { startStandins } from "../support/standins.ts";

/** Above what an idle server that has talked to one pod takes. */
const MOST_MB = 50;
/** The kind of pod, for the host that runs it. */
const KIND = "HOSTILE_POD";
/** Content that is on its way leaves garbage; how much a long transfer takes is the matter of another test. */
const TRANSFER_LIMIT = 5_000_000;
/** No client of the tests waits longer for an answer. */
const PATIENCE_MS = 60_000;

type Route = "list" | "stat" | "read" | "download" | "write" | "upload" | "mkdir" | "rename" | "delete" | "archive";

const json = (path: string, more: Record<string, unknown> = {}) => ({ body: { path, ...more } });
const ROUTES: Readonly<Record<Route, readonly [method: string, route: string, options: { readonly body?: unknown }]>> =
  {
    list: ["GET", "?path=/d", {}],
    stat: ["POST", "/stat", json("/d/f")],
    read: ["POST", "/read", json("/d/f")],
    download: ["GET", "/download?path=/d/f", {}],
    write: ["POST", "/write", json("/d/f", { content: "new" })],
    upload: ["PUT", "/upload?path=/d/f", { body: "x".repeat(3_000_000) }],
    mkdir: ["POST", "/mkdir", json("/d/new")],
    rename: ["POST", "/rename", { body: { old_path: "/d/f", new_path: "/d/f2" } }],
    delete: ["POST", "/delete", json("/d/f")],
    archive: ["POST", "/archive", json("/d")],
  };
const ALL = Object.keys(ROUTES) as Route[];

const PROTOCOL = /^502 pod_command_failed The command on the pod failed The pod's SFTP server broke the protocol: /;
const LATE = /^502 pod_command_failed The command on the pod failed .*\b[Ww]ithin .*\b\d+ ms/;
const NO_LOGIN = /^502 pod_unreachable /;
/** The status has gone out by then. */
const CUT = /^200 cut$/;

/** What each kind of pod brings about, by the routes that meet it, row after row. */
type Expected = Readonly<Partial<Record<HostilePod, readonly (readonly [RegExp, ...Route[]])[]>>>;

const LIARS: Expected = {
  "lists without end": [[/^413 too_large The folder has more than 100000 entries/, "list"]],
  "lists long names without end": [[/^413 too_large The names in the folder have more than \d+ bytes/, "list"]],
  "sends an endless name": [[PROTOCOL, "list"]],
  "sends a name longer than its packet": [[PROTOCOL, "list"]],
  "gives more than was asked for": [[PROTOCOL, "read"], [CUT, "download"]],
  "gives a file without end": [[/^413 too_large The file is larger than 1000000 bytes/, "read"], [CUT, "download"]],
  "says a file has 8 PB": [
    [/^413 too_large The file is larger than \d+ bytes/, "read", "download"],
    [/^409 pod_refused The file on the pod has \d+ bytes after \d+ were written/, "write", "upload"],
  ],
  "says a packet has 2 GB": [[PROTOCOL, "read"]],
  "answers what was not asked": [[PROTOCOL, "list", "stat", "read", "write", "upload", "delete"]],
  "answers twice": [[PROTOCOL, "read"], [CUT, "download"]],
  "answers without being asked, without end": [[PROTOCOL, "list", "upload"]],
  "has a banner of 10 MB": [[NO_LOGIN, "list", "download"]],
  "greets without end": [[NO_LOGIN, "list", "upload"]],
};

const SILENT: Expected = {
  "accepts and says nothing": [[NO_LOGIN, ...ALL]],
  "never grants a channel": [[LATE, ...ALL]],
  "never tells its version": [[LATE, ...ALL]],
  "never answers a request": [[LATE, ...ALL]],
  "never answers a listing": [[LATE, "list"]],
  "never answers a read": [[LATE, "read"], [CUT, "download"]],
  "never answers a write": [[LATE, "write", "upload"]],
};

/** Runs each pod's script on a server of its own. */
function hostileHost(): PodHost {
  const servers = new Map<string, TestServer>();
  const stop = async (id: string) => {
    await servers.get(id)?.close();
    servers.delete(id);
  };
  return {
    async start({ id, env }) {
      const server = await HOSTILE_PODS[env[KIND] as HostilePod]();
      servers.set(id, server);
      return { host: "127.0.0.1", port: server.port };
    },
    stop,
    remove: stop,
    async close() {
      for (const id of [...servers.keys()]) await stop(id);
    },
  };
}

interface Scene {
  /** Creates a pod of a kind and waits until the server knows its address; gives its id. */
  podThat(kind: HostilePod): Promise<string>;
  /** `<status> <code> <error> <hint>`, or `200 cut` for a body that breaks off. */
  outcome(pod: string, route: Route): Promise<string>;
}

/** Gives a function that runs `use` with a server of its own over the same data. */
async function withServers(
  use: (withServer: (use: (server: Server, scene: Scene) => Promise<void>) => Promise<void>) => Promise<void>,
): Promise<void> {
  const podHost = hostileHost();
  const standins = await startStandins({ podHost, timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } });
  try {
    const secretsKey = generateSecretKey();
    await withDataDir(secretsKey, async (dir) => {
      const env = { ...standins.env, SECRETS_KEY: secretsKey, ORGPODS_FILE_TRANSFER_LIMIT: String(TRANSFER_LIMIT) };
      let token: string | undefined;
      await use(async (useServer) => {
        const server = await serverOf(startProgram("tests/support/file_server.ts", { args: [dir.path], env }), dir);
        try {
          if (token === undefined) await addOrg(server, standins.secrets.runpodKey);
          token ??= await tokenOf(server, "officer", OFFICER.id);
          await useServer(server, sceneOf(server, token));
        } finally {
          server.program.kill("SIGTERM");
          await server.program.ended();
          await server.close();
        }
      });
    });
  } finally {
    await standins.close();
    await podHost.close();
  }
}

function sceneOf(server: Server, token: string): Scene {
  const base = "/api/compute/demo/pods";
  return {
    async podThat(kind) {
      const body = { name: kind.replace(/\W+/g, "-"), use_cpu_only: true, env: { [KIND]: kind } };
      const { id } = (await must(server.call("POST", base, { token, body }))).json.pod;
      await untilTrue("the pod has an address", async () => {
        const { status, json } = await server.call("GET", `${base}/${id}`, { token });
        return status === 200 && json.pod.status === "RUNNING" && json.pod.host !== null;
      });
      return id;
    },
    async outcome(pod, route) {
      const [method, path, { body }] = ROUTES[route];
      const signal = AbortSignal.timeout(PATIENCE_MS);
      let reply: Reply;
      try {
        reply = await server.call(method, `${base}/${pod}/files${path}`, { token, body, signal });
      } catch (error) {
        // What deno says of a body that ends before it is complete.
        if (error instanceof TypeError && /body|decoding|connection/i.test(error.message)) return "200 cut";
        throw error;
      }
      const { code = "", error = "", hint = "" } = reply.json ?? {};
      return `${reply.status} ${code} ${error} ${hint}`;
    },
  };
}

/** Meets pods of some kinds at once, each route as its row says, and looks at what the server took meanwhile. */
async function meet(pid: number, scene: Scene, honest: string, expected: Expected): Promise<void> {
  const { podThat, outcome } = scene;
  assert.match(await outcome(honest, "list"), /^200 /);
  const pods: (readonly [string, NonNullable<Expected[HostilePod]>])[] = [];
  for (const [kind, rows] of Object.entries(expected)) pods.push([await podThat(kind as HostilePod), rows]);
  const idle = residentMegabytes(pid);
  await forgetPeak(pid);
  await Promise.all(pods.map(async ([pod, rows]) => {
    for (const [text, ...routes] of rows) {
      await Promise.all(routes.map(async (route) => {
        const told = await outcome(pod, route);
        assert.match(told, text, `${route}: ${told}`);
      }));
    }
  }));
  const more = peakMegabytes(pid) - idle;
  assert.ok(more <= MOST_MB, `${more.toFixed(1)} MB more than the ${idle.toFixed(1)} MB of idle`);
  assert.match(await outcome(honest, "list"), /^200 /, "the server works on");
}

/** Makes the kernel forget the peak of a process. */
async function forgetPeak(pid: number): Promise<void> {
  await Deno.writeTextFile(`/proc/${pid}/clear_refs`, "5");
}

const ignore = Deno.build.os !== "linux";

Deno.test("a pod that lies or floods gets a clear error and at most 50 MB of the server", { ignore }, async (t) => {
  await withServers(async (withServer) => {
    let honest: string | undefined;
    for (const [kind, rows] of Object.entries(LIARS)) {
      await t.step(kind, () =>
        withServer(async ({ program }, scene) => {
          honest ??= await scene.podThat("is honest");
          await meet(program.pid, scene, honest, { [kind]: rows });
        }));
    }
  });
});

Deno.test(
  "pods that keep silent, all at once, get clear errors and at most 50 MB of the server",
  { ignore },
  async () => {
    await withServers((withServer) =>
      withServer(async ({ program }, scene) => {
        await meet(program.pid, scene, await scene.podThat("is honest"), SILENT);
      })
    );
  },
);
