import type { Database } from "../db/database.ts";
import { mayAnybodyBeOn } from "../db/stores/connections.ts";
import type { Org } from "../db/stores/organizations.ts";
import { createAudit } from "./audit/write.ts";
import { AUTO_STOP_TIMINGS, type AutoStopTimings, createAutoStopJobs } from "./auto_stop/jobs.ts";
import type { Clock } from "./clock.ts";
import { type Config, REAL_UPSTREAMS } from "./config.ts";
import { createDirectory } from "./discord/directory.ts";
import type { OAuth } from "./discord/oauth.ts";
import { sessionCookie } from "./http/cookies.ts";
import type { Peer } from "./http/env.ts";
import { FILE_TIMINGS, type FileTimings } from "./files/deps.ts";
import { createOwnerSessions } from "./files/owner_sessions.ts";
import { createTemporaries } from "./files/temporaries.ts";
import { tidyPods } from "./files/tidy.ts";
import { createGuards } from "./http/guards.ts";
import { createLimits, LIMIT_RULES, type LimitRule, type Limits } from "./http/limits.ts";
import { buildRouter, type Router } from "./http/router.ts";
import { callbackPath } from "./http/sign_in_routes.ts";
import { createOrgSecrets } from "./identity/org_secrets.ts";
import { countUnreadable } from "./identity/rotate.ts";
import { createSecretBox } from "./identity/secret_box.ts";
import { noteLogin } from "./key_rotation/note_login.ts";
import { createKeyTurns, KEY_TIMINGS, type KeyTimings } from "./key_rotation/turn.ts";
import { lazily } from "./lazily.ts";
import type { Log } from "./log.ts";
import { type Jobs, type Loops, startLoops } from "./loops.ts";
import { createActions } from "./pods/act.ts";
import { POD_TIMINGS, type PodTimings } from "./pods/deps.ts";
import { createPodReader } from "./pods/pod_reader.ts";
import { createReach } from "./pods/reach.ts";
import { createRefresher } from "./pods/refresh.ts";
import { replacePod } from "./pods/replace.ts";
import { closeNeverSent, createSettler } from "./pods/settle.ts";
import { watchTroubles } from "./pods/trouble.ts";
import { SCHEDULE_TIMINGS, type ScheduleTimings } from "./schedule/decide.ts";
import { createPause } from "./schedule/pause.ts";
import { createSchedule } from "./schedule/turn.ts";
import { budgetState } from "./spend/budget.ts";
import { createRunpodAccounts } from "./runpod/accounts.ts";
import type { Limits as RunpodLimits } from "./runpod/request.ts";
import { createAccessTurns } from "./removal/turns.ts";
import { createRemovals } from "./removal/carry_out.ts";
import { createPodSetup, type SetupOptions } from "./setup/setup.ts";
import { createMonthCosts } from "./spend/month_costs.ts";
import { createMoneyTurn } from "./spend/turn.ts";
import { createHostKeys } from "./ssh/host_keys.ts";
import { createOrgKeys } from "./ssh/org_keys.ts";
import { createPool } from "./ssh/pool.ts";
import { createDeliverer } from "./webhooks/deliver.ts";
import { createPost } from "./webhooks/post.ts";
import { type Resolve, systemResolve } from "./webhooks/resolve.ts";
import { createTurns } from "./turns.ts";

/** What the App is made of. The database is open and under the lock; nothing here reads a global. */
export interface AppParts {
  readonly config: Config;
  readonly version: string;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch: typeof fetch;
  /** How the host names of webhooks are resolved; by default as the system does. */
  readonly resolve?: Resolve;
  readonly limitRules?: Record<keyof Limits, LimitRule>;
  readonly timings?: PodTimings;
  readonly mostCertificates?: number;
  readonly scheduleTimings?: ScheduleTimings;
  readonly autoStopTimings?: AutoStopTimings;
  readonly runpodLimits?: RunpodLimits;
  /** Names the machine and folder of the database (see `homeOf`), so that a copy of it is noticed; null: not watched. */
  readonly home?: string | null;
  readonly fileTimings?: FileTimings;
  readonly keyTimings?: KeyTimings;
  readonly setupOptions?: SetupOptions;
}

/** The program without its listeners: it answers requests and runs the loops. */
export interface App {
  readonly router: Router;
  /** The jobs that the loops run, for whoever wants a turn at once. */
  readonly jobs: Jobs;
  /** Answers one request; `peer` says where it comes from. */
  fetch(request: Request, peer: Peer): Promise<Response>;
  /** Settles what an earlier run left open and starts the background loops. */
  run(): void;
  /** Stops the loops and ends every connection; the database stays open. */
  close(): Promise<void>;
}

/** Builds every part from its dependencies and hands them over: the one place where wiring happens. */
export function createApp(parts: AppParts): App {
  const { config, version, db, clock, log } = parts;
  const audit = createAudit(db, clock, log);
  const box = createSecretBox(config.secretKeys);
  const secrets = createOrgSecrets(db, box, clock);
  const keys = createOrgKeys(db, box, clock);
  const directory = createDirectory({
    apiUrl: config.discordApiUrl,
    botToken: config.botToken,
    version,
    clock,
    log,
    fetch: parts.fetch,
  });
  const oauth = oauthOf(parts);
  const runpod = createRunpodAccounts({
    baseUrl: config.runpodApiUrl,
    version,
    secrets,
    clock,
    log,
    fetch: parts.fetch,
    ...(parts.runpodLimits === undefined ? {} : { limits: parts.runpodLimits }),
  });
  const hostKeys = createHostKeys(db, clock, log);
  const ssh = createPool({
    verifyHostKey: hostKeys.verify,
    onLogin: (target, fingerprint, keyBlob, privateKey) => {
      hostKeys.pin(target, fingerprint, keyBlob);
      noteLogin(db, keys, target, privateKey);
    },
    // Strangers who take every place for a login would keep the server out, and whoever is to be removed in.
    isKept: (podId) => mayAnybodyBeOn(db, podId, clock.now()),
    clock,
    log,
  });
  const limits = createLimits(clock, parts.limitRules ?? LIMIT_RULES);
  const guards = createGuards({
    db,
    clock,
    directory,
    superadmins: config.superadmins,
    cliName: config.cliName,
    baseUrl: config.baseUrl,
    sessionCookie: sessionCookie(config.baseUrl),
    limits,
    audit,
    log,
  });
  const pause = createPause({ db, clock, log, home: parts.home ?? null, clockOffMs: runpod.clockOffMs });
  const podDeps = {
    db,
    clock,
    log,
    audit,
    runpod,
    keys,
    ssh,
    directory,
    timings: parts.timings ?? POD_TIMINGS,
    ...(parts.mostCertificates === undefined ? {} : { mostCertificates: parts.mostCertificates }),
    deploymentImage: config.podImage,
    inFlight: new Set<string>(),
    moved: pause.moved,
  };
  const reach = createReach(podDeps);
  const refresher = createRefresher(podDeps, (org) => {
    setup.lookAt(org);
    reach.lookAt(org);
    watchTroubles(podDeps, org);
  });
  const setup = createPodSetup(podDeps, parts.setupOptions);
  const removals = createRemovals({ ...podDeps, setup });
  const actions = createActions(podDeps);
  const scheduleTimings = parts.scheduleTimings ?? SCHEDULE_TIMINGS;
  const schedule = createSchedule({
    ...podDeps,
    refresher,
    actions,
    pause,
    schedule: scheduleTimings,
    replace: (org, asker, podId, onDone) => replacePod(podDeps, org, asker, podId, onDone),
  });
  const deliverer = createDeliverer({
    db,
    clock,
    log,
    audit,
    box,
    version,
    random: Math.random,
    post: createPost({ resolve: parts.resolve ?? systemResolve, allowPrivate: config.webhooksAllowPrivate }),
  });
  const autoStopTimings = parts.autoStopTimings ?? AUTO_STOP_TIMINGS;
  const standingDeps = {
    budgetReached: (org: Org, now: number) => budgetState(db, org, now).state === "reached",
    leadMs: scheduleTimings.leadMs,
    monthCosts: createMonthCosts(db),
  };
  const autoStop = createAutoStopJobs({
    ...podDeps,
    actions,
    isPaused: pause.reason,
    ...standingDeps,
  }, autoStopTimings);
  let loops: Loops | null = null;
  // Until the loops run there is nobody to wake.
  const poke = () => loops?.wakeSchedule();
  const settler = createSettler({ ...podDeps, refresher, actions, poke });
  const { bringUpToDate } = setup;
  const keyTimings = parts.keyTimings ?? KEY_TIMINGS;
  const keyTurns = createKeyTurns(
    { ...podDeps, refresher, actions, bringUpToDate, isPaused: pause.reason },
    keyTimings,
  );
  const jobs: Jobs = {
    schedule,
    autoStop,
    settle: settler.turn,
    money: createMoneyTurn(podDeps),
    access: createAccessTurns({ ...podDeps, setup, removals, superadmins: config.superadmins }),
    webhooks: deliverer,
    keys: keyTurns,
  };
  const fileDeps = {
    ...podDeps,
    reach,
    reader: createPodReader(podDeps),
    fileLimits: config.fileLimits,
    fileTimings: parts.fileTimings ?? FILE_TIMINGS,
    owners: createOwnerSessions(ssh),
    temporaries: createTemporaries(log),
    turns: createTurns(),
  };
  const router = buildRouter({
    ...fileDeps,
    setup,
    removals,
    ...standingDeps,
    poke,
    pokeKeys: () => {
      if (loops !== null) keyTurns.begin();
    },
    refresher,
    actions,
    schedule,
    isScheduling: () => loops !== null,
    pause,
    guards,
    limits,
    secrets,
    box,
    deliverer,
    urlRules: {
      allowPrivate: config.webhooksAllowPrivate,
      testDiscord: config.discordUrl === REAL_UPSTREAMS.discordUrl ? null : new URL(config.discordUrl).origin,
    },
    oauth,
    baseUrl: config.baseUrl,
    superadmins: config.superadmins,
    cliName: config.cliName,
    trustedProxies: config.trustedProxies,
    version,
    dataDir: config.dataDir,
    fetch: parts.fetch,
    discordApiUrl: config.discordApiUrl,
    redirectUri: config.baseUrl === null ? null : config.baseUrl + callbackPath,
    clientId: config.clientId,
  });

  return {
    router,
    jobs,
    fetch: async (request, peer) => await router.fetch(request, { peer }),
    run() {
      const unreadable = box.ready ? countUnreadable(db, box) : 0;
      if (unreadable > 0) {
        log.error("SECRETS_KEY cannot decrypt what is stored: put the old key back, behind a comma", { unreadable });
      }
      closeNeverSent(podDeps);
      loops = startLoops({
        ...podDeps,
        refresher,
        jobs,
        settler,
        scheduleTurnMs: scheduleTimings.turnMs,
        keysTurnMs: keyTimings.turnMs,
        autoStopTimings,
        auditRetentionDays: config.auditRetentionDays,
        tidyPods: () => tidyPods(fileDeps),
      });
    },
    async close() {
      // The loops wait for their calls under way, which are given up here.
      const stopped = loops?.stop();
      await refresher.close();
      await deliverer.close();
      await ssh.close();
      await stopped;
      await Promise.all([reach.close(), setup.close(), removals.close()]);
    },
  };
}

/** Sign-in with Discord, or null when it is not set up. Its library is loaded at the first sign-in. */
function oauthOf({ config, version, clock, log, fetch }: AppParts): OAuth | null {
  const { baseUrl, clientId, clientSecret } = config;
  if (baseUrl === null || clientId === null || clientSecret === null) return null;
  const load = lazily(async () => {
    const { createOAuth } = await import("./discord/oauth.ts");
    const urls = { apiUrl: config.discordApiUrl, siteUrl: config.discordUrl };
    return createOAuth({ ...urls, clientId, clientSecret, version, clock, log, fetch });
  });
  return {
    start: async (redirectUri) => await (await load()).start(redirectUri),
    finish: async (callback) => await (await load()).finish(callback),
  };
}
