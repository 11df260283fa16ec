import { openDatabase } from "../../db/open.ts";
import { createApp } from "../app.ts";
import { type Clock, systemClock } from "../clock.ts";
import { readConfig } from "../config.ts";
import { dataDirAt, initDataDir } from "../data_dir.ts";
import { takeLock } from "../data_lock.ts";
import { createOutward } from "../fetch_once.ts";
import type { Peer } from "../http/env.ts";
import { generateSecretKey } from "../identity/secret_box.ts";
import { randomText } from "../identity/tokens.ts";
import { listen, localAccount } from "../listen.ts";
import { describeError, type Log } from "../log.ts";
import { VERSION } from "../version.ts";
import { createFakeDiscord } from "./discord/mod.ts";
import { CLIENT_ID, fillDiscord, GUILD, MEMBER, OFFICER, OFFICER_ROLE } from "./people.ts";
import { choosePodHost } from "./pods/choose.ts";
import { type Api, FAST_AUTO_STOP, FAST_SCHEDULE, planSession, showSession } from "./play.ts";
import { createFakeRunpod } from "./runpod/mod.ts";

/** What the demo prints with `--json`: everything a script needs to play officer and member. */
export interface DemoFacts {
  readonly url: string;
  readonly org: string;
  readonly pod_id: string;
  readonly member: { readonly discord_id: string; readonly token: string };
  readonly officer: { readonly discord_id: string; readonly token: string; readonly cli_token: string };
  readonly runpod_url: string;
  readonly discord_url: string;
  readonly demo_secret: string;
  readonly data_dir: string;
  /** With `fast`: a session of two minutes on a pod of its own. */
  readonly session?: { readonly id: number; readonly pod_id: string };
}

export interface Demo {
  readonly facts: DemoFacts;
  /** What a person types on the stand-in Discord's sign-in page. */
  readonly signInCode: string;
  /** One sentence on how the pods run. */
  readonly pods: string;
  /** With `fast`: shows the session as it plays, line by line, until it is over. */
  readonly show?: (say: (line: string) => Promise<void>, stopped: AbortSignal) => Promise<void>;
  /** Ends everything and removes what the demo made. */
  close(): Promise<void>;
}

const ORG = "demo";
const READY_MS = 60_000;

/**
 * Starts the whole system over stand-ins, in a temporary data directory: the org `demo`, an officer, a member, and one
 * public running CPU pod `workshop`, made through the API like any other. Whatever fails, nothing is left behind.
 */
export async function startDemo(options: {
  readonly port: number;
  readonly log: Log;
  readonly clock?: Clock;
  /** Shortens the schedule's waits and plans a session that begins at once. */
  readonly fast?: boolean;
  /** Settings beside the demo's own. */
  readonly env?: Readonly<Record<string, string>>;
}): Promise<Demo> {
  const { log, clock = systemClock } = options;
  const undo: (() => Promise<void> | void)[] = [];
  /** Undoes all of it; a step that fails is logged and does not keep the others from their turn. */
  const close = async () => {
    let failed = false;
    for (const step of undo.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        failed = true;
        log.error("Something of the demo could not be ended or removed", { error: describeError(error) });
      }
    }
    if (failed) throw new Error("Something of the demo could not be ended or removed");
  };
  try {
    const folder = await Deno.makeTempDir({ prefix: "orgpods-demo-" });
    undo.push(() => Deno.remove(folder, { recursive: true }));
    const chosen = await choosePodHost({ folder: `${folder}/pods`, log, clock, flavour: "orgpods" });
    undo.push(() => chosen.host.close());

    const demoSecret = randomText();
    const runpodKey = `rpa_demo_${randomText()}`;
    const runpod = createFakeRunpod({ apiKeys: { [runpodKey]: "full" }, demoSecret, clock, podHost: chosen.host });
    undo.push(() => runpod.close());
    const runpodAt = await runpod.listen();

    const dataDir = `${folder}/data`;
    const port = options.port === 0 ? freePort() : options.port;
    const url = `http://127.0.0.1:${port}`;
    const secrets = { client: randomText(), bot: randomText(), signIn: randomText().slice(0, 8) };
    const discord = createFakeDiscord({
      clientId: CLIENT_ID,
      clientSecret: secrets.client,
      botToken: secrets.bot,
      redirectUris: [`${url}/api/compute/cli/callback`],
      demoSecret,
      signInCode: secrets.signIn,
      clock,
      applicationName: "orgpods demo",
    });
    const discordAt = await discord.listen();
    undo.push(() => discordAt.close());
    fillDiscord(discord);

    const dir = dataDirAt(dataDir);
    const secretsKey = generateSecretKey();
    initDataDir(dir, secretsKey);
    const config = readConfig({ dataDir, port, allowTestUpstreams: true }, {
      SECRETS_KEY: secretsKey,
      BOT_TOKEN: secrets.bot,
      CLIENT_ID,
      CLIENT_SECRET: secrets.client,
      ACCOUNTS_BASE_URL: url,
      COMPUTE_CLI_NAME: "godfather",
      RUNPOD_API_URL: `${runpodAt.origin}/v2`,
      DISCORD_API_URL: `${discordAt.origin}/api/v10`,
      DISCORD_URL: discordAt.origin,
      ...options.env,
    });
    const lock = takeLock(dir);
    undo.push(() => lock.release());
    const db = openDatabase(dir.database);
    undo.push(() => db.close());
    const outward = createOutward();
    undo.push(() => outward.close());
    const short = { scheduleTimings: FAST_SCHEDULE, autoStopTimings: FAST_AUTO_STOP };
    const app = createApp({
      config,
      version: VERSION,
      db,
      clock,
      log,
      fetch: outward.fetch,
      ...(options.fast ? short : {}),
    });
    undo.push(() => app.close());
    const listening = await listen(app, config, dir, log);
    undo.push(() => listening.close(1_000));
    app.run();

    const api = apiClient(app.fetch);
    await api("POST", "/api/operator/orgs", {
      prefix: ORG,
      name: "Demo Society",
      guild_id: GUILD,
      officer_role_ids: [OFFICER_ROLE],
    });
    await api("PUT", `/api/operator/orgs/${ORG}/secrets/runpod_api_key`, { value: runpodKey });
    const tokenOf = async (kind: "cli" | "officer", id: string) =>
      (await api<{ token: string }>("POST", `/api/compute/${ORG}/tokens`, { kind, discord_id: id, name: "demo" }))
        .token;
    const officer = {
      discord_id: OFFICER.id,
      token: await tokenOf("officer", OFFICER.id),
      cli_token: await tokenOf("cli", OFFICER.id),
    };
    const member = { discord_id: MEMBER.id, token: await tokenOf("cli", MEMBER.id) };
    const made = await api<{ pod: { id: string } }>("POST", `/api/compute/${ORG}/pods`, {
      name: "workshop",
      use_cpu_only: true,
      is_public: true,
    }, officer.token);
    await untilReachable(() => api("GET", `/api/compute/${ORG}/pods`), made.pod.id);
    const played = options.fast ? await prepareSession(api, clock) : null;
    return {
      facts: {
        url: listening.url,
        org: ORG,
        pod_id: made.pod.id,
        member,
        officer,
        runpod_url: runpodAt.origin,
        discord_url: discordAt.origin,
        demo_secret: demoSecret,
        data_dir: dataDir,
        ...(played === null ? {} : { session: played.facts }),
      },
      ...(played === null ? {} : { show: played.show }),
      signInCode: secrets.signIn,
      pods: chosen.why,
      close,
    };
  } catch (error) {
    await Promise.allSettled([close()]); // What fails in it is logged; why the demo did not start matters more.
    throw error;
  }
}

/** A second pod, stopped again once it ran, and the session that will start it. */
async function prepareSession(api: Api, clock: Clock): Promise<{
  facts: { id: number; pod_id: string };
  show: NonNullable<Demo["show"]>;
}> {
  const base = `/api/compute/${ORG}`;
  const body = { name: "evening-class", use_cpu_only: true, is_public: true };
  const { pod } = await api<{ pod: { id: string } }>("POST", `${base}/pods`, body);
  await untilReachable(() => api("GET", `${base}/pods`), pod.id);
  await api("POST", `${base}/pods/${pod.id}/action`, { action: "stop" });
  const session = await planSession(api, base, pod.id, clock.now());
  return {
    facts: { id: session.id, pod_id: pod.id },
    show: (say, stopped) => showSession(api, base, pod.id, session, say, stopped),
  };
}

/** A port that is free now; the sign-in's redirect address must be known before the server listens. */
function freePort(): number {
  const probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr as Deno.NetAddr;
  probe.close();
  return port;
}

/** Calls the App in process: as the operator, or with a token as whoever owns it. */
function apiClient(send: (request: Request, peer: Peer) => Promise<Response>) {
  return async <T>(method: string, path: string, body?: unknown, token?: string): Promise<T> => {
    const request = new Request(`http://127.0.0.1${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await send(request, {
      isOperator: token === undefined,
      account: localAccount(),
      address: "127.0.0.1",
    });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`The demo could not be set up: ${method} ${path} answered ${answer.status} ${text}`);
    }
    return JSON.parse(text) as T;
  };
}

interface PodState {
  readonly id: string;
  readonly status: string | null;
  readonly reachable: boolean | null;
  readonly unreachable_reason: string | null;
  readonly port_forwarding: boolean | null;
}

/** Waits until the pod runs, the server has logged in to it, and knows whether members may forward ports on it. */
async function untilReachable(list: () => Promise<{ pods: PodState[] }>, podId: string): Promise<void> {
  const until = performance.now() + READY_MS;
  let last: PodState | undefined;
  while (performance.now() < until) {
    last = (await list()).pods.find((pod) => pod.id === podId);
    if (last?.reachable === true && last.port_forwarding !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`The demo's pod did not get ready: ${JSON.stringify(last ?? null)}`);
}
