/** A server in a process of its own, and calls to it as operator, officer and member. */
import { type DataDir, dataDirAt, initDataDir } from "../../server/data_dir.ts";
import { GUILD, OFFICER_ROLE } from "../../server/demo/people.ts";
import { openDatabase } from "../../db/open.ts";
import { type Program, startProgram } from "./process.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Server {
  readonly program: Program;
  readonly url: string;
  /** Over TCP. Rejects with a TypeError when the server dies before it answers. */
  call(method: string, path: string, options?: CallOptions): Promise<Reply>;
  /** Over the operator's socket. */
  operator(method: string, path: string, body?: unknown): Promise<Reply>;
  close(): Promise<void>;
}

/** The origin for calls over the operator's socket: for a host that NO_PROXY names, fetch would leave the socket out. */
export const OPERATOR = "http://operator.test";

/** Waits for the server's own word that it is ready. */
export async function serverOf(program: Program, dir: DataDir): Promise<Server> {
  try {
    const [, url] = await program.line(/"message":"orgpods is ready".*"url":"([^"]+)"/) as unknown as [string, string];
    const tcp = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const unix = Deno.createHttpClient({ proxy: { transport: "unix", path: dir.socket } });
    return {
      program,
      url,
      call: (method, path, options = {}) => send(tcp, method, url + path, options),
      operator: (method, path, body) => send(unix, method, `${OPERATOR}${path}`, { body }),
      async close() {
        tcp.close();
        unix.close();
        await program.close();
      },
    };
  } catch (error) {
    await program.close();
    throw error;
  }
}

/** One request over a client that the caller made and closes. */
export async function send(client: Deno.HttpClient, method: string, url: string, options: CallOptions): Promise<Reply> {
  const { token, body, headers, signal } = options;
  const answer = await fetch(url, {
    client,
    method,
    redirect: "manual",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : null };
}

export interface ServeOptions {
  readonly env: Readonly<Record<string, string>>;
  /** Before the word `serve`. */
  readonly global?: readonly string[];
  /** After it; without, a free port and the stand-ins are taken. */
  readonly args?: readonly string[];
}

/** Starts `orgpods serve` and waits until it is ready. */
export async function startServe(dir: DataDir, options: ServeOptions): Promise<Server> {
  return await serverOf(startServeProgram(dir, options), dir);
}

/** The same without waiting, for starts that are refused. */
export function startServeProgram(dir: DataDir, { env, global = [], args }: ServeOptions): Program {
  const own = args ?? ["--port", "0", "--allow-test-upstreams"];
  return startProgram("main.ts", { args: ["--data-dir", dir.path, ...global, "serve", ...own], env });
}

/** A new data directory in a temporary folder, removed at the end. */
export async function withDataDir(secretsKey: string, use: (dir: DataDir) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    const dir = dataDirAt(`${folder}/data`);
    initDataDir(dir, secretsKey);
    openDatabase(dir.database).close();
    await use(dir);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Adds the org `demo` with a RunPod key, over the operator's socket. */
export async function addOrg(server: Server, runpodKey: string): Promise<void> {
  await must(server.operator("POST", "/api/operator/orgs", {
    prefix: "demo",
    name: "Demo Society",
    guild_id: GUILD,
    officer_role_ids: [OFFICER_ROLE],
  }));
  await must(server.operator("PUT", "/api/operator/orgs/demo/secrets/runpod_api_key", { value: runpodKey }));
}

export async function tokenOf(server: Server, kind: "cli" | "officer", discordId: string): Promise<string> {
  const body = { kind, discord_id: discordId };
  return (await must(server.operator("POST", "/api/compute/demo/tokens", body))).json.token;
}

export async function must(reply: Promise<Reply>): Promise<Reply> {
  const answer = await reply;
  if (answer.status >= 300) throw new Error(`Refused with ${answer.status}: ${answer.text}`);
  return answer;
}

/** Polls until `check` gives something; fails after `deadlineMs`. */
export async function untilTrue<T>(
  what: string,
  check: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  deadlineMs = 60_000,
): Promise<T> {
  const until = performance.now() + deadlineMs;
  for (;;) {
    const found = await check();
    if (found) return found as T;
    if (performance.now() > until) throw new Error(`It did not come about: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
