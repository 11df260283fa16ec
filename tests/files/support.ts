/** A whole orgpods whose pod is a real sshd in namespaces of its own, and calls of the file routes as the officer. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import type { PodHost } from "../../server/demo/pods/host.ts";
import { createSshdHost, type SshdHost } from "../../server/demo/pods/sshd_host.ts";
import { createSecretBox } from "../../server/identity/secret_box.ts";
import { silentLog } from "../../server/log.ts";
import { createOrgKeys } from "../../server/ssh/org_keys.ts";
import type { ExecResult } from "../../server/ssh/pool.ts";
import { withFolder } from "../demo/pods_support.ts";
import { resettingProxy, tcpProxy } from "../support/hostile_ssh.ts";
import { lacks } from "../support/needs.ts";
import { trustingPool } from "../support/ssh_pool.ts";
import {
  type Answer,
  BASE_URL,
  type CallOptions,
  createRunningPod,
  createWorld,
  eventually,
  type TestClock,
  testClock,
  type World,
  type WorldOptions,
} from "../support/world.ts";

export const needsPods = { ignore: lacks("sshd", "ssh-keygen", "setpriv", "unshare", "root") };

/** A member's uid, whose account the pod does not have: as after a restart. */
export const ALICE = 20_001;
export const BOB = 20_002;

export interface FileScene {
  readonly world: World & { readonly clock: TestClock };
  readonly host: SshdHost;
  readonly pod: string;
  /** Where the pod's `/workspace` is on this machine. */
  readonly volume: string;
  /** `path` of the file routes of the pod. */
  readonly url: string;
  /** Calls a file route, by default with POST and a body. */
  files(route: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  list(path: string, query?: Record<string, string>): Promise<Answer>;
  /** Any request as the officer, with its answer unread. */
  send(method: string, route: string, init?: RequestInit): Promise<Response>;
  /** Runs a command on the pod as root, beside the server. */
  exec(command: string): Promise<ExecResult>;
  /** Breaks, stalls or resets the link between server and pod; only in scenes with a proxy. */
  readonly link: Link;
}

export interface Link {
  cut(): void;
  stall(): void;
}

export interface SceneOptions extends Omit<WorldOptions, "clock" | "podHost"> {
  /** Puts a proxy between the server and the pod. */
  readonly proxy?: "ending" | "resetting";
  readonly pod?: Record<string, unknown>;
}

/** Runs `use` with a running pod `workshop`. */
export async function withFiles(
  use: (scene: FileScene) => Promise<void>,
  options: SceneOptions = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const host = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog });
    const proxies: (Link & { close(): Promise<void> })[] = [];
    const podHost: PodHost = options.proxy === undefined ? host : {
      ...host,
      async start(spec) {
        const { port } = await host.start(spec);
        if (options.proxy === "resetting") {
          const proxy = await resettingProxy(port);
          proxies.push({ cut: proxy.cut, stall: proxy.cut, close: proxy.close });
          return { host: "127.0.0.1", port: proxy.port };
        }
        const proxy = tcpProxy(port);
        proxies.push(proxy);
        return { host: "127.0.0.1", port: proxy.port };
      },
    };
    const clock = testClock();
    const world = Object.assign(await createWorld({ ...options, clock, podHost }), { clock });
    const direct = trustingPool();
    try {
      const pod = await createRunningPod(world, { name: "workshop", volume_in_gb: 10, ...options.pod });
      await untilReachable(world, pod);
      const url = `/api/compute/org/pods/${pod}/files`;
      const token = await world.token("officer", "officer");
      await use({
        world,
        host,
        pod,
        url,
        volume: join(folder, "pods", pod, "workspace"),
        files: (route, body, more = {}) =>
          world.call("POST", `${url}/${route}`, { as: "officer", ...(body === undefined ? {} : { body }), ...more }),
        list: (path, query = {}) =>
          world.call("GET", `${url}?${new URLSearchParams({ path, ...query })}`, { as: "officer" }),
        send: (method, route, init = {}) => {
          const headers = new Headers(init.headers);
          headers.set("authorization", `Bearer ${token}`);
          const request = new Request(`${BASE_URL}${url}/${route}`, { method, ...init, headers });
          return world.app.fetch(request, { isOperator: false, account: "", address: "192.0.2.1" });
        },
        exec: (command) => direct.exec(directTarget(world), command, { deadlineMs: 60_000 }),
        link: {
          cut: () => proxies.forEach((proxy) => proxy.cut()),
          stall: () => proxies.forEach((proxy) => proxy.stall()),
        },
      });
    } finally {
      await direct.close();
      await world.close();
      for (const proxy of proxies) await proxy.close();
      await host.close();
    }
  });
}

/** Waits until the pod has booted and the server knows its address. */
export async function untilReachable(world: FileScene["world"], pod: string): Promise<void> {
  await eventually(
    async () => {
      await world.runpod.idle();
      await world.call("GET", `/api/compute/org/pods/${pod}`, { as: "officer" });
      return world.db.get("select 1 from compute_pods where runpod_id = ? and host is not null", pod);
    },
    "the pod has an address",
    () => world.clock.advance(2_000),
  );
}

/** The pod at the address that the server knows. */
function directTarget(world: World) {
  const row = world.db.get<{ org_id: number; host: string; port: number }>(
    "select org_id, host, port from compute_pods where state = 'live'",
  )!;
  const keys = createOrgKeys(world.db, createSecretBox(world.config.secretKeys), world.clock);
  return {
    podKey: "direct",
    startKey: String(row.port),
    host: row.host,
    port: row.port,
    privateKey: keys.backendPrivateKey(row.org_id),
  };
}

/** A path whose last name may be any bytes, as a request names it. */
export function pathOf(folder: string, name: Uint8Array): { path_b64: string } {
  return { path_b64: Buffer.concat([Buffer.from(`${folder}/`), name]).toString("base64url") };
}

export function fileForm(content: BlobPart, name: string, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.append(field, value);
  form.append("file", new Blob([content]), name);
  return form;
}

/** `<status>` or `<status> <code>`. */
export function cell(answer: Answer): string {
  return typeof answer.json?.code === "string" ? `${answer.status} ${answer.json.code}` : String(answer.status);
}

/** An unread answer as `cell` has it. */
export async function cellOf(answer: Response): Promise<string> {
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
  const code = isJson ? JSON.parse(text).code : undefined;
  return typeof code === "string" ? `${answer.status} ${code}` : String(answer.status);
}

export function ok(answer: Answer): Answer {
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/** No temporary file of a write is left anywhere under the folder. */
export async function noTemporaries(folder: string): Promise<void> {
  const left: string[] = [];
  const look = async (at: string) => {
    for await (const entry of Deno.readDir(at)) {
      if (entry.name.startsWith(".orgpods-upload-")) left.push(`${at}/${entry.name}`);
      if (entry.isDirectory) await look(`${at}/${entry.name}`);
    }
  };
  await look(folder);
  assert.deepEqual(left, []);
}
