/** RunPod and Discord as stand-ins on sockets of the test's own process, so that they outlive every server it kills. */
import { systemClock } from "../../server/clock.ts";
import { createFakeDiscord, type FakeDiscord } from "../../server/demo/discord/mod.ts";
import { CLIENT_ID, fillDiscord } from "../../server/demo/people.ts";
import { createFakeRunpod, type FakeRunpod, type FakeRunpodOptions } from "../../server/demo/runpod/mod.ts";
import { randomText } from "../../server/identity/tokens.ts";

/** The public address the sign-in is registered under; the servers listen elsewhere, on free ports. */
export const BASE_URL = "http://127.0.0.1:18000";

export interface Standins {
  readonly runpod: FakeRunpod;
  readonly discord: FakeDiscord;
  readonly discordOrigin: string;
  readonly secrets: { readonly runpodKey: string; readonly botToken: string; readonly clientSecret: string };
  readonly signInCode: string;
  readonly demoSecret: string;
  /** The settings of a server over these stand-ins; it needs `--allow-test-upstreams`. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts both, with the people of the demo: an officer, a member and a stranger in one Discord server. */
export async function startStandins(
  options: Partial<Pick<FakeRunpodOptions, "timings" | "podHost" | "clock">> = {},
): Promise<Standins> {
  const secrets = {
    runpodKey: `rpa_${randomText()}`,
    botToken: randomText(),
    clientSecret: randomText(),
  };
  const signInCode = randomText().slice(0, 8);
  const demoSecret = randomText();
  const clock = systemClock;
  // RunPod may have a clock of its own: what it says of the past then is long ago.
  const runpod = createFakeRunpod({ apiKeys: { [secrets.runpodKey]: "full" }, demoSecret, clock, ...options });
  const discord = createFakeDiscord({
    clientId: CLIENT_ID,
    clientSecret: secrets.clientSecret,
    botToken: secrets.botToken,
    redirectUris: [`${BASE_URL}/api/compute/cli/callback`],
    demoSecret,
    signInCode,
    clock,
  });
  fillDiscord(discord);
  const runpodAt = await runpod.listen();
  const discordAt = await discord.listen();
  return {
    runpod,
    discord,
    discordOrigin: discordAt.origin,
    secrets,
    signInCode,
    demoSecret,
    env: {
      BOT_TOKEN: secrets.botToken,
      CLIENT_ID,
      CLIENT_SECRET: secrets.clientSecret,
      ACCOUNTS_BASE_URL: BASE_URL,
      COMPUTE_CLI_NAME: "godfather",
      RUNPOD_API_URL: `${runpodAt.origin}/v2`,
      DISCORD_API_URL: `${discordAt.origin}/api/v10`,
      DISCORD_URL: discordAt.origin,
    },
    async close() {
      await discordAt.close();
      await runpod.close();
    },
  };
}
