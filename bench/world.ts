import { GUILD, MEMBER, OFFICER, OFFICER_ROLE } from "../server/demo/people.ts";
import { openDatabase } from "../db/open.ts";
import { type DataDir, dataDirAt, initDataDir } from "../server/data_dir.ts";
import { generateSecretKey } from "../server/identity/secret_box.ts";
import { type Program, startProgram } from "../tests/support/process.ts";
import { type Server, serverOf } from "../tests/support/server_process.ts";
import type { StandinFacts } from "./standins_program.ts";

const ORG = "bench";
const PODS = 3;
const READY_MS = 60_000;

/** A data directory with one org, pods that run, a member and an officer; and the stand-ins it was made with. */
export interface BenchWorld {
  /** For whatever a bench writes; removed at the end. */
  readonly folder: string;
  readonly dir: DataDir;
  readonly org: string;
  /** For servers over the stand-ins. */
  readonly env: Readonly<Record<string, string>>;
  readonly memberToken: string;
  readonly officerToken: string;
  readonly podIds: readonly string[];
  /** How the pods run, in one sentence. */
  readonly pods: string;
  /** The server with generous limits, in a process of its own; `settings` are added to its environment. */
  startServer(settings?: Readonly<Record<string, string>>): Promise<Server>;
  close(): Promise<void>;
}

/** Builds the world through the API of a real server, which is stopped again at the end. */
export async function createBenchWorld(): Promise<BenchWorld> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-bench-" });
  const standins = startProgram("bench/standins_program.ts", { args: [`${folder}/pods`] });
  const close = async () => {
    await stop(standins);
    await Deno.remove(folder, { recursive: true });
  };
  try {
    const [line] = await standins.line(/^\{.*\}$/m);
    const { env, runpodKey, pods } = JSON.parse(line) as StandinFacts;
    const dir = dataDirAt(`${folder}/data`);
    initDataDir(dir, generateSecretKey());
    openDatabase(dir.database).close();
    const startServer: BenchWorld["startServer"] = (settings) =>
      serverOf(startProgram("bench/server_program.ts", { args: [dir.path], env: { ...env, ...settings } }), dir);
    const server = await startServer();
    const made = await fill(server, runpodKey).finally(() => stop(server.program));
    return { folder, dir, org: ORG, env, pods, ...made, startServer, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Ends a program as systemd would; one that has ended already is left alone. */
export async function stop(program: Program): Promise<void> {
  try {
    program.kill("SIGTERM");
  } catch (error) {
    if (!(error instanceof TypeError && /already terminated/.test(error.message))) throw error;
  }
  await program.ended();
}

async function fill(server: Server, runpodKey: string) {
  // deno-lint-ignore no-explicit-any
  const must = async (method: string, path: string, body?: unknown): Promise<any> => {
    const reply = await server.operator(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path} answered ${reply.status}: ${reply.text}`);
    return reply.json;
  };
  const base = `/api/compute/${ORG}`;
  const org = { prefix: ORG, name: "Bench Society", guild_id: GUILD, officer_role_ids: [OFFICER_ROLE] };
  await must("POST", "/api/operator/orgs", org);
  await must("PUT", `/api/operator/orgs/${ORG}/secrets/runpod_api_key`, { value: runpodKey });
  const member = await must("POST", `${base}/tokens`, { kind: "cli", discord_id: MEMBER.id });
  const officer = await must("POST", `${base}/tokens`, { kind: "officer", discord_id: OFFICER.id });
  const podIds: string[] = [];
  for (let index = 0; index < PODS; index++) {
    podIds.push(await addPod(server, ORG, { name: `pod ${index}`, use_cpu_only: true, is_public: true }));
  }
  return { memberToken: member.token as string, officerToken: officer.token as string, podIds };
}

/** Creates a pod and returns its id once the server has logged in to it. */
export async function addPod(server: Server, org: string, body: Record<string, unknown>): Promise<string> {
  const base = `/api/compute/${org}/pods`;
  const made = await server.operator("POST", base, body);
  if (made.status !== 201) throw new Error(`No pod: ${made.text}`);
  const { id } = made.json.pod as { readonly id: string };
  const until = performance.now() + READY_MS;
  for (;;) {
    const { pod } = (await server.operator("GET", `${base}/${id}`)).json;
    if (pod?.reachable === true && pod.port_forwarding !== null) return id;
    if (performance.now() > until) throw new Error(`The pod did not get ready: ${JSON.stringify(pod)}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
