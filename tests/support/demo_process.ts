/**
 * The demo as a program of its own, as a user starts it: a separate process, its one line of JSON, and what a test needs to
 * play the operator, the officers, the members and the outside world against it.
 */
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { GUILD } from "../../server/demo/people.ts";
import type { DemoFacts } from "../../server/demo/start.ts";
import { startProgram } from "./process.ts";
import { OPERATOR } from "./server_process.ts";

/** Far above what an end takes. */
const END_MS = 60_000;

export interface DemoEnd {
  readonly code: number;
  readonly signal: string | null;
  /** Everything that came on standard output, from the first byte. */
  readonly stdout: string;
  readonly stderr: string;
}

export interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

export interface DemoProcess {
  readonly facts: DemoFacts;
  readonly pid: number;
  /** The folder that holds everything of this demo. */
  readonly folder: string;
  /** Calls the API below `/api/compute/<org>`. */
  call(method: string, path: string, token: string, body?: unknown): Promise<Answer>;
  /** Calls the API as the operator, over the socket in the data directory; the path is a whole one. */
  operator(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Turns a handle of a stand-in, such as `/_demo/faults`, and gives its answer; fails unless it was taken. */
  // deno-lint-ignore no-explicit-any
  control(standIn: "runpod" | "discord", path: string, body: unknown): Promise<any>;
  /** Signs in with Discord as a browser does, and gives the token the last page shows. */
  signIn(discordId: string): Promise<string>;
  /** Puts somebody new on the Discord server and gives them a token for the CLI. */
  addMember(discordId: string, username: string): Promise<{ readonly discord_id: string; readonly token: string }>;
  leave(discordId: string): Promise<void>;
  /** An officer's act on the demo's pod. */
  act(action: "start" | "stop" | "restart" | "terminate"): Promise<void>;
  /** Rows of the running demo's database, read beside it. */
  rows(sql: string, ...values: SQLInputValue[]): Record<string, unknown>[];
  /** Sends a signal and waits for the end. */
  end(signal: Deno.Signal): Promise<DemoEnd>;
  /** Kills it if it still runs. */
  close(): Promise<void>;
}

/** Starts `main.ts demo` and waits for its line; fails with what it wrote on standard error when none comes. */
export async function startDemoProcess(env: Readonly<Record<string, string>> = {}): Promise<DemoProcess> {
  const program = startProgram("main.ts", { args: ["demo", "--port", "0", "--json"], env });
  const facts = await program.line(/^(\{.*\})\n/).then(([line]) => JSON.parse(line) as DemoFacts, async (error) => {
    await program.close();
    throw error;
  });
  const end = async (signal: Deno.Signal): Promise<DemoEnd> => {
    program.kill(signal);
    const { code, signal: endedBy } = await program.ended(END_MS);
    return { code, signal: endedBy, stdout: program.stdout(), stderr: program.stderr() };
  };
  const folder = facts.data_dir.replace(/\/[^/]+$/, "");
  return { facts, pid: program.pid, folder, end, close: () => program.close(), ...playersOf(facts) };
}

/** Runs `use` against a demo of its own, which is ended afterwards. */
export async function withDemo(use: (demo: DemoProcess) => Promise<void>): Promise<void> {
  const demo = await startDemoProcess();
  try {
    await use(demo);
  } finally {
    await demo.end("SIGTERM").finally(demo.close);
  }
}

/** Everybody who may call something. */
function playersOf(facts: DemoFacts): Omit<DemoProcess, "facts" | "pid" | "folder" | "end" | "close"> {
  const operator = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const socket = { transport: "unix", path: `${facts.data_dir}/operator.sock` } as const;
    using client = Deno.createHttpClient({ proxy: socket });
    return await ask(`${OPERATOR}${path}`, { method, body, client });
  };
  const control = async (standIn: "runpod" | "discord", path: string, body: unknown) => {
    const origin = standIn === "runpod" ? facts.runpod_url : facts.discord_url;
    const headers = { "x-demo-secret": facts.demo_secret };
    const { status, json } = await ask(origin + path, { method: "POST", body, headers });
    if (status >= 300) throw new Error(`The stand-in refused ${JSON.stringify(body)}: ${JSON.stringify(json)}`);
    return json;
  };
  const call: DemoProcess["call"] = (method, path, token, body) => {
    const headers = { authorization: `Bearer ${token}` };
    return ask(`${facts.url}/api/compute/${facts.org}${path}`, { method, body, headers });
  };
  return {
    operator,
    control,
    call,
    async signIn(discordId) {
      const begun = await fetch(`${facts.url}/api/compute/${facts.org}/cli/login`, { redirect: "manual" });
      await begun.body?.cancel();
      const cookie = begun.headers.get("set-cookie")!.split(";")[0]!;
      const request = { authorize_url: begun.headers.get("location"), user_id: discordId };
      const { location } = await control("discord", "/_demo/sign-in", request);
      const page = await (await fetch(location, { headers: { cookie } })).text();
      const token = /<pre>(.*)<\/pre>/.exec(page)?.[1];
      if (token === undefined) throw new Error(`The sign-in showed no token: ${page}`);
      return token;
    },
    async addMember(discordId, username) {
      await control("discord", "/_demo/world", { action: "add_user", id: discordId, username });
      await control("discord", "/_demo/world", { action: "join", guild_id: GUILD, user_id: discordId });
      const request = { kind: "cli", discord_id: discordId };
      const { status, json } = await operator("POST", `/api/compute/${facts.org}/tokens`, request);
      if (status !== 201) throw new Error(`No token for ${username}: ${JSON.stringify(json)}`);
      return { discord_id: discordId, token: json.token };
    },
    leave: (discordId) => control("discord", "/_demo/world", { action: "leave", guild_id: GUILD, user_id: discordId }),
    async act(action) {
      const { status, json } = await call("POST", `/pods/${facts.pod_id}/action`, facts.officer.token, { action });
      if (status !== 200) throw new Error(`${action} was refused: ${JSON.stringify(json)}`);
    },
    rows(sql, ...values) {
      const file = new DatabaseSync(`${facts.data_dir}/orgpods.sqlite`, { readOnly: true, timeout: 5_000 });
      try {
        return file.prepare(sql).all(...values);
      } finally {
        file.close();
      }
    },
  };
}

interface Wish {
  readonly method: string;
  readonly body: unknown;
  readonly headers?: Record<string, string>;
  readonly client?: Deno.HttpClient;
}

async function ask(url: string, { method, body, headers = {}, client }: Wish): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(client === undefined ? {} : { client }),
  });
  const text = await answer.text();
  return { status: answer.status, json: text === "" ? null : JSON.parse(text) };
}
