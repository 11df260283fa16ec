import type { Command } from "commander";
import { VERSION } from "../../../server/version.ts";
import type { Shell } from "../shell.ts";
import { example, type Run, whole } from "./values.ts";

interface ServeFlags {
  readonly host?: string;
  readonly port?: number;
  readonly init?: boolean;
}

/** `init`, `serve`, `demo`, `secrets` and `version`: what concerns the server as a whole. */
export function addServerCommands(program: Command, run: Run): void {
  program.command("init")
    .description("Make a data directory with an empty database and a settings file.")
    .addHelpText("after", example("orgpods --data-dir /var/lib/orgpods init"))
    .action(() => run(async (shell) => await (await import("../server.ts")).init(shell)));

  program.command("serve")
    .description("Serve the HTTP API until SIGTERM or Ctrl-C.")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <number>", "port to listen on, 0 for a free one (default: 8787)", whole(0, 65_535))
    .option("--init", "make the data directory when there is none")
    .option("--allow-test-upstreams", "take other addresses for RunPod and Discord")
    .addHelpText("after", example("orgpods --data-dir /var/lib/orgpods serve --port 8787"))
    .action((flags: ServeFlags & { allowTestUpstreams?: boolean }) => run((shell) => serve(shell, flags)));

  program.command("demo")
    .description("Try everything with stand-ins for RunPod and Discord, and a pod you can ssh into.")
    .option("--port <number>", "port to listen on, 0 for a free one", whole(0, 65_535), 8787)
    .option("--fast", "shorten the schedule's waits and play a session of two minutes")
    .addHelpText("after", example("orgpods demo --port 0 --json"))
    .action((flags: { port: number; fast?: boolean }) =>
      run(async ({ options, env }) => {
        const { demo } = await import("../../../server/demo/demo.ts");
        // RunPod and Discord are on this machine here, and a proxy of the network (HTTP_PROXY) does not lead to it.
        for (const name of ["NO_PROXY", "no_proxy"]) {
          Deno.env.set(name, ["127.0.0.1", env(name) ?? ""].filter((part) => part !== "").join(","));
        }
        const allowPrivate = env("ORGPODS_WEBHOOKS_ALLOW_PRIVATE");
        return await demo({
          port: flags.port,
          json: options.json === true,
          fast: flags.fast === true,
          ...(allowPrivate === undefined ? {} : { env: { ORGPODS_WEBHOOKS_ALLOW_PRIVATE: allowPrivate } }),
        });
      })
    );

  const secrets = program.command("secrets").description("The key that encrypts secrets at rest.")
    .addHelpText("after", example("orgpods secrets rotate"));
  secrets.command("keygen").description("Print a new key for SECRETS_KEY.")
    .addHelpText("after", example("orgpods secrets keygen"))
    .action(() => run(async (shell) => await (await import("../server.ts")).keygen(shell)));
  secrets.command("rotate").description("Encrypt every secret anew with the first key of SECRETS_KEY.")
    .addHelpText("after", example("orgpods secrets rotate"))
    .action(() => run(async (shell) => await (await import("../secret.ts")).rotate(shell)));

  program.command("version")
    .description("Print the version.")
    .addHelpText("after", example("orgpods version --json"))
    .action(() =>
      run((shell) =>
        shell.print(
          shell.options.json ? JSON.stringify({ version: VERSION, deno: Deno.version.deno }) : `orgpods ${VERSION}`,
        )
      )
    );
}

async function serve(shell: Shell, flags: ServeFlags & { readonly allowTestUpstreams?: boolean }): Promise<number> {
  const { refuseRemote } = await import("../refuse_remote.ts");
  refuseRemote(shell, "serve");
  const { dataDir, envFile, allowTestUpstreams = flags.allowTestUpstreams } = shell.options;
  const { serve } = await import("../../../server/serve.ts");
  return await serve({
    dataDir,
    ...(flags.host === undefined ? {} : { host: flags.host }),
    ...(flags.port === undefined ? {} : { port: flags.port }),
    ...(flags.init === undefined ? {} : { init: flags.init }),
    ...(envFile === undefined ? {} : { envFile }),
    ...(allowTestUpstreams === undefined ? {} : { allowTestUpstreams }),
  });
}
