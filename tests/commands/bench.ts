/** What the tests of the command line share: the real program over the stand-ins, with or without a server. */
import assert from "node:assert/strict";
import { type DataDir, dataDirAt } from "../../server/data_dir.ts";
import { GUILD, OFFICER_ROLE } from "../../server/demo/people.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { type Finished, runProgram } from "../support/process.ts";
import { type Server, startServe, withDataDir } from "../support/server_process.ts";
import { type Standins, startStandins } from "../support/standins.ts";

type StandinOptions = NonNullable<Parameters<typeof startStandins>[0]>;

export interface Bench {
  readonly dir: DataDir;
  readonly standins: Standins;
  readonly env: Record<string, string>;
  /** Runs `orgpods --data-dir … --allow-test-upstreams <args>`; `input` is its standard input. */
  orgpods(args: readonly string[], options?: { input?: string; env?: Record<string, string> }): Promise<Finished>;
  /** The same; fails unless it ends with 0. Its standard output without the last line end. */
  must(args: readonly string[], input?: string): Promise<string>;
  serve(): Promise<Server>;
}

/** A data directory without an org, and the stand-ins it is set to; all gone at the end. */
export async function withBench(use: (bench: Bench) => Promise<void>, options: StandinOptions = {}): Promise<void> {
  const standins = await startStandins(options);
  const servers: Server[] = [];
  try {
    await withDataDir(generateSecretKey(), async (dir) => {
      const env = { ...standins.env };
      const orgpods: Bench["orgpods"] = (args, options = {}) =>
        runProgram("main.ts", {
          args: ["--data-dir", dir.path, "--allow-test-upstreams", ...args],
          env: { ...env, ...options.env },
          ...(options.input === undefined ? {} : { input: options.input }),
        });
      try {
        await use({
          dir,
          standins,
          env,
          orgpods,
          async must(args, input) {
            const done = await orgpods(args, input === undefined ? {} : { input });
            assert.equal(done.code, 0, `${args.join(" ")}: ${done.stderr}`);
            return done.stdout.replace(/\n$/, "");
          },
          async serve() {
            const server = await startServe(dir, { env });
            servers.push(server);
            return server;
          },
        });
      } finally {
        for (const server of servers) await server.close();
      }
    });
  } finally {
    await standins.close();
  }
}

/** The same with the org `demo` and its RunPod key, beside a running server. */
export async function withOrg(
  use: (bench: Bench, server: Server) => Promise<void>,
  options: StandinOptions = {},
): Promise<void> {
  await withBench(async (bench) => {
    const server = await bench.serve();
    await bench.must(["org", "add", "demo", "--name", "Demo", "--guild", GUILD, "--officer-role", OFFICER_ROLE]);
    await bench.must(["org", "secret", "set", "demo", "runpod_api_key"], bench.standins.secrets.runpodKey);
    await use(bench, server);
  }, options);
}

/** Runs the program without a data directory of its own. */
export function run(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  return runProgram("main.ts", { args, env });
}

/** A path in a new temporary folder that is removed at the end; nothing is there yet. */
export async function withFolder(use: (dir: DataDir) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    await use(dataDirAt(`${folder}/data`));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
