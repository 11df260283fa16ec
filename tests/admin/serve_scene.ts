/**
 * The program `orgpods serve` in a process of its own, over stand-ins that outlive it: for what a demo cannot show, such as
 * a server that is killed and started again, a RunPod key that is not known yet, or pods of another image.
 */
import { join } from "node:path";
import { GUILD, OFFICER_ROLE } from "../../server/demo/people.ts";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { silentLog } from "../../server/log.ts";
import { must, type Reply, type Server, startServe, withDataDir } from "../support/server_process.ts";
import { type Standins, startStandins } from "../support/standins.ts";

export interface ServeScene {
  readonly standins: Standins;
  /** For `inAdmin`. */
  readonly facts: { readonly data_dir: string };
  /** Calls the API of the org `demo` as the operator. */
  ask(method: string, path: string, body?: unknown): Promise<Reply>;
  /** The same; fails unless it is taken. */
  call(method: string, path: string, body?: unknown): Promise<Reply["json"]>;
  /** Kills the server; nothing of it is left but its data directory. */
  kill(): Promise<void>;
  /** Starts it again on the same data directory. */
  start(): Promise<void>;
}

/** Runs `use` over a server with the org `demo`, which has no RunPod key yet. */
export async function withServe(
  options: Parameters<typeof startStandins>[0],
  use: (scene: ServeScene) => Promise<void>,
): Promise<void> {
  const standins = await startStandins(options);
  try {
    const secretsKey = generateSecretKey();
    await withDataDir(secretsKey, async (dir) => {
      const env = { ...standins.env, SECRETS_KEY: secretsKey };
      let server: Server | null = await startServe(dir, { env });
      const org = { prefix: "demo", name: "Demo Society", guild_id: GUILD, officer_role_ids: [OFFICER_ROLE] };
      const running = () => {
        if (server === null) throw new Error("The server is killed");
        return server;
      };
      const ask: ServeScene["ask"] = (method, path, body) =>
        running().operator(method, `/api/compute/demo${path}`, body);
      try {
        await must(running().operator("POST", "/api/operator/orgs", org));
        await use({
          standins,
          facts: { data_dir: dir.path },
          ask,
          call: async (method, path, body) => (await must(ask(method, path, body))).json,
          async kill() {
            await running().close();
            server = null;
          },
          start: async () => void (server = await startServe(dir, { env })),
        });
      } finally {
        await server?.close();
      }
    });
  } finally {
    await standins.close();
  }
}

/** Runs `use` with a host of pods of the image that came before ours, which allows forwarding of Unix sockets. */
export async function withOriginalPods(
  use: (host: ReturnType<typeof createSshdHost>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  const host = createSshdHost({ folder: join(folder, "pods"), flavour: "original", log: silentLog });
  try {
    await use(host);
  } finally {
    await host.close();
    await Deno.remove(folder, { recursive: true });
  }
}
