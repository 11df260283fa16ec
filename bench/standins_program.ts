/** RunPod and Discord as stand-ins, in a process of their own. Prints their settings as one line of JSON. */
import { systemClock } from "../server/clock.ts";
import { createFakeDiscord } from "../server/demo/discord/mod.ts";
import { CLIENT_ID, fillDiscord } from "../server/demo/people.ts";
import { choosePodHost } from "../server/demo/pods/choose.ts";
import { createFakeRunpod } from "../server/demo/runpod/mod.ts";
import { randomText } from "../server/identity/tokens.ts";
import { silentLog } from "../server/log.ts";
import { stopSignal } from "../server/serve.ts";
import { withFarPods } from "./far_pods.ts";

export interface StandinFacts {
  /** The environment of a server over them. */
  readonly env: Readonly<Record<string, string>>;
  readonly runpodKey: string;
  /** How the pods run. */
  readonly pods: string;
}

const [folder = ""] = Deno.args;
const stopped = stopSignal();
const [runpodKey, botToken, clientSecret, demoSecret] = [randomText(), randomText(), randomText(), randomText()];
const chosen = await choosePodHost({ folder, log: silentLog, clock: systemClock, flavour: "orgpods" });
const podHost = withFarPods(chosen.host);
const runpod = createFakeRunpod({
  apiKeys: { [runpodKey]: "full" },
  demoSecret,
  clock: systemClock,
  podHost,
});
const discord = createFakeDiscord({
  clientId: CLIENT_ID,
  clientSecret,
  botToken,
  redirectUris: [],
  demoSecret,
  signInCode: randomText(),
  clock: systemClock,
});
fillDiscord(discord);
const runpodAt = await runpod.listen();
const discordAt = await discord.listen();
const facts: StandinFacts = {
  env: {
    BOT_TOKEN: botToken,
    CLIENT_ID,
    CLIENT_SECRET: clientSecret,
    ACCOUNTS_BASE_URL: "http://127.0.0.1:18000",
    RUNPOD_API_URL: `${runpodAt.origin}/v2`,
    DISCORD_API_URL: `${discordAt.origin}/api/v10`,
    DISCORD_URL: discordAt.origin,
  },
  runpodKey,
  pods: chosen.why,
};
console.log(JSON.stringify(facts));
await stopped;
await discordAt.close();
await runpod.close();
await podHost.close();
