/** What the kill tests share: one data directory, stand-ins that live on, and a server that is killed and started again. */
import assert from "node:assert/strict";
import type { DataDir } from "../../server/data_dir.ts";
import { tryLock } from "../../server/data_lock.ts";
import { MEMBER, OFFICER } from "../../server/demo/people.ts";
import type { PodHost } from "../../server/demo/pods/host.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import type { AttentionView } from "../../server/pods/attention.ts";
import { startProgram } from "./process.ts";
import { addOrg, must, type Reply, type Server, serverOf, tokenOf, untilTrue, withDataDir } from "./server_process.ts";
import type { Step } from "./kill_steps.ts";
import { type Standins, startStandins } from "./standins.ts";

const API = "/api/compute/demo";

export interface AuditLine {
  readonly id: number;
  readonly action: string;
  readonly pod_id: string | null;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface KillScene {
  readonly standins: Standins;
  readonly dir: DataDir;
  /** The server's `SECRETS_KEY`. */
  readonly secretsKey: string;
  /** Over the operator's socket; the path is whole. */
  operator(method: string, path: string, body?: unknown): Promise<Reply>;
  /** As the member, by the CLI token. */
  asMember(method: string, path: string, body?: unknown): Promise<Reply>;
  /** As the officer. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Arms the step, makes the request, sees the server die without an answer, and starts it again. */
  killedAt(step: Step, ...request: Parameters<KillScene["call"]>): Promise<void>;
  /** Arms the step for an action; the server dies when it comes to it by itself. */
  arm(step: Step, action: string): Promise<void>;
  /** Waits for the death that was armed, and starts the server again. */
  reborn(): Promise<void>;
  /** For another person; the token is of the kind that members have. */
  callAs(discordId: string): Promise<KillScene["call"]>;
  /**
   * The same for what the server does by itself: `wake` makes it begin, and may be answered or not. `action`: what RunPod
   * is asked for; null where it is asked for nothing.
   */
  killedWhile(step: Step, action: string | null, wake: () => Promise<unknown>): Promise<void>;
  podNamed(name: string): Promise<{ id: string; status: string } | undefined>;
  attention(): Promise<AttentionView[]>;
  /** Everything is settled or waits for an officer; fails when that does not come about. */
  settled(): Promise<AttentionView[]>;
  /** Audit rows after the last call of this function, oldest first. */
  newAudit(): Promise<AuditLine[]>;
  /** Every pod that RunPod holds is in the list or among what needs attention, by id or by its name at RunPod. */
  nothingUnseen(): Promise<void>;
}

export interface KillOptions {
  /** How often the schedule has a turn; without, as seldom as it really has. */
  readonly turnMs?: number;
  /** Pods that are really there; without, they are made up. */
  readonly podHost?: PodHost;
}

export async function withKillScene(
  use: (scene: KillScene) => Promise<void>,
  { turnMs, podHost }: KillOptions = {},
): Promise<void> {
  const standins = await startStandins({
    timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 },
    ...(podHost === undefined ? {} : { podHost }),
  });
  try {
    const secretsKey = generateSecretKey();
    await withDataDir(
      secretsKey,
      (dir) => {
        const env = { ...standins.env, SECRETS_KEY: secretsKey };
        const args = [dir.path, ...(turnMs === undefined ? [] : [String(turnMs)])];
        const start = () => serverOf(startProgram("tests/support/killable_server.ts", { args, env }), dir);
        return inDirectory(standins, { dir, secretsKey }, start, use);
      },
    );
  } finally {
    await standins.close();
  }
}

async function inDirectory(
  standins: Standins,
  { dir, secretsKey }: { readonly dir: DataDir; readonly secretsKey: string },
  start: () => Promise<Server>,
  use: (scene: KillScene) => Promise<void>,
): Promise<void> {
  let server: Server = await start();
  try {
    await addOrg(server, standins.secrets.runpodKey);
    const token = await tokenOf(server, "officer", OFFICER.id);
    const memberToken = await tokenOf(server, "cli", MEMBER.id);
    let lastAudit = 0;
    const call: KillScene["call"] = (method, path, body, headers = {}) =>
      server.call(method, API + path, { token, body, headers });
    const attention = async () => (await must(call("GET", "/attention"))).json.attention as AttentionView[];
    const pods = async () =>
      (await must(call("GET", "/pods"))).json.pods as { id: string; name: string; status: string }[];
    const newAudit = async () => {
      const page = (await must(call("GET", "/audit?limit=500"))).json.audit as AuditLine[];
      const rows = page.filter((row) => row.id > lastAudit).reverse();
      lastAudit = rows.at(-1)?.id ?? lastAudit;
      return rows;
    };
    await newAudit();
    const arm = async (what: string) => {
      await server.program.send(what);
      await server.program.line(new RegExp(`^dies at ${what.split(" ")[0]}$`, "m"));
    };
    const reborn = async () => {
      assert.equal((await server.program.ended()).signal, "SIGKILL");
      const lock = tryLock(dir);
      assert.ok(lock, "the lock of a killed server is free at once");
      lock.release();
      await server.close();
      server = await start();
    };
    await use({
      standins,
      dir,
      secretsKey,
      operator: (method, path, body) => server.operator(method, path, body),
      asMember: (method, path, body) => server.call(method, API + path, { token: memberToken, body }),
      arm: (step, action) => arm(`${step} ${action}`),
      reborn,
      call,
      async callAs(discordId) {
        const own = await tokenOf(server, "cli", discordId);
        return (method, path, body, headers = {}) => server.call(method, API + path, { token: own, body, headers });
      },
      attention,
      newAudit,
      podNamed: async (name) => (await pods()).find((pod) => pod.name === name),
      async killedAt(step, ...request) {
        await arm(step);
        await assert.rejects(call(...request), TypeError);
        await reborn();
      },
      async killedWhile(step, action, wake) {
        await arm(action === null ? step : `${step} ${action}`);
        await wake().catch((error) => {
          if (!(error instanceof TypeError)) throw error;
        });
        await reborn();
      },
      settled: () =>
        untilTrue("nothing is unsettled", async () => {
          const views = await attention();
          return views.some((view) => view.kind === "action_unsettled") ? null : views;
        }),
      async nothingUnseen() {
        const [shown, views] = [await pods(), await attention()];
        for (const pod of standins.runpod.pods.list()) {
          const inList = shown.some((one) => one.id === pod.id);
          const inAttention = views.some((view) => view.pod_id === pod.id || view.what.includes(pod.name));
          assert.ok(inList || inAttention, `RunPod's pod ${pod.name} is nowhere to be seen`);
        }
      },
    });
  } finally {
    await server.close();
  }
}
