/**
 * A whole orgpods in the test's own process, over the strict stand-ins, without sockets: a fresh database, a clock the
 * test moves, an org with an officer, a member and more people, and calls as any of them.
 */
import { Database } from "../../db/database.ts";
import { openDatabase } from "../../db/open.ts";
import { allOrgs } from "../../db/stores/organizations.ts";
import { type App, createApp } from "../../server/app.ts";
import type { Clock } from "../../server/clock.ts";
import { type Config, readConfig } from "../../server/config.ts";
import { createFakeDiscord, type FakeDiscord } from "../../server/demo/discord/mod.ts";
import type { PodHost } from "../../server/demo/pods/host.ts";
import { createFakeRunpod, type FakeRunpod, type FakeRunpodOptions } from "../../server/demo/runpod/mod.ts";
import { LIMITS, type Limits } from "../../server/runpod/request.ts";
import { FILE_TIMINGS, type FileTimings } from "../../server/files/deps.ts";
import type { Peer } from "../../server/http/env.ts";
import { LIMIT_RULES } from "../../server/http/limits.ts";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { KEY_TIMINGS, type KeyTimings } from "../../server/key_rotation/turn.ts";
import { createLog, type Log } from "../../server/log.ts";
import { POD_TIMINGS, type PodTimings } from "../../server/pods/deps.ts";
import { SCHEDULE_TIMINGS, type ScheduleTimings } from "../../server/schedule/decide.ts";

export const GUILD = "900000000000000001";
export const OTHER_GUILD = "900000000000000002";
export const OFFICER_ROLE = "900000000000000010";
export const OTHER_OFFICER_ROLE = "900000000000000020";
export const CLIENT_ID = "900000000000000099";

/** The cast. `stranger` is on no server, `exOfficer` lost the role, `removed` was a member, `blocked` is one. */
export const PEOPLE = {
  officer: "200000000000000001",
  member: "200000000000000002",
  stranger: "200000000000000003",
  exOfficer: "200000000000000004",
  removed: "200000000000000005",
  blocked: "200000000000000006",
  otherOfficer: "200000000000000007",
  pending: "200000000000000008",
  superadmin: "200000000000000009",
} as const;
export type Person = keyof typeof PEOPLE;

/** A clock that stands still until it is moved. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(start = Date.UTC(2026, 10, 30, 12)): TestClock {
  let now = start;
  return { now: () => now, advance: (ms) => void (now += ms) };
}

export interface WorldOptions {
  readonly clock?: Clock;
  readonly podHost?: PodHost;
  readonly runpod?: Partial<FakeRunpodOptions>;
  readonly timings?: Partial<PodTimings>;
  readonly fileTimings?: Partial<FileTimings>;
  readonly env?: Readonly<Record<string, string>>;
  readonly database?: string;
  /** Wraps what leaves the program. */
  readonly fetch?: (inner: typeof fetch) => typeof fetch;
  readonly wrapDatabase?: (db: Database) => Database;
  readonly scheduleTimings?: Partial<ScheduleTimings>;
  readonly keyTimings?: Partial<KeyTimings>;
  readonly home?: string;
  /** Waits of the calls to RunPod; by default the real ones. */
  readonly runpodLimits?: Partial<Limits>;
  /** Stand-ins that outlive this world; without them it has its own. */
  readonly standins?: WorldStandins;
}

export interface WorldStandins {
  readonly runpod: FakeRunpod;
  readonly discord: FakeDiscord;
}

export interface World {
  readonly app: App;
  readonly db: Database;
  readonly clock: Clock;
  readonly config: Config;
  readonly runpod: FakeRunpod;
  readonly discord: FakeDiscord;
  readonly logLines: string[];
  /** Calls the API; `as` is a person (with the kind of token their route wants), the operator, or nobody. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  token(person: Person, kind: "cli" | "officer", org?: string): Promise<string>;
  close(): Promise<void>;
}

export interface CallOptions {
  readonly as?: Person | "operator";
  /** Which token the person shows; by default the officer token, on `/me` routes the CLI token. */
  readonly kind?: "cli" | "officer";
  readonly token?: string;
  readonly body?: unknown;
  /** A body as raw text. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly address?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

export const RUNPOD_KEY = "rpa_test_0123456789abcdef";
export const OTHER_RUNPOD_KEY = "rpa_other_0123456789abcdef";
const BOT_TOKEN = "bot-token-for-tests-0123456789";
export const SIGN_IN_CODE = "letmein";
export const DEMO_SECRET = "demo-secret-for-tests";
const RUNPOD_ORIGIN = "http://127.0.0.1:18001";
const DISCORD_ORIGIN = "http://127.0.0.1:18002";
export const BASE_URL = "http://127.0.0.1:18000";

function populate({ world }: FakeDiscord): void {
  for (const [name, id] of Object.entries(PEOPLE)) {
    world.addUser({ id, username: name.toLowerCase(), global_name: name });
  }
  world.addGuild({ id: GUILD, name: "Test Society", owner_id: PEOPLE.officer });
  world.addGuild({ id: OTHER_GUILD, name: "Other Society", owner_id: PEOPLE.otherOfficer });
  world.addRole({ guild_id: GUILD, id: OFFICER_ROLE, name: "Officers", position: 2 });
  world.addRole({ guild_id: OTHER_GUILD, id: OTHER_OFFICER_ROLE, name: "Officers", position: 2 });
  world.setRoles(GUILD, PEOPLE.officer, [OFFICER_ROLE]);
  world.setRoles(OTHER_GUILD, PEOPLE.otherOfficer, [OTHER_OFFICER_ROLE]);
  for (const person of ["member", "exOfficer", "blocked"] as const) {
    world.addMember({ guild_id: GUILD, user_id: PEOPLE[person] });
  }
  world.addMember({ guild_id: GUILD, user_id: PEOPLE.pending, pending: true });
  world.setIntent(true);
}

/** Answers by origin: what the program sends to "RunPod" and "Discord" goes to the stand-ins in this process. */
function routedFetch(runpod: FakeRunpod, discord: FakeDiscord): typeof fetch {
  return ((input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const { origin } = new URL(request.url);
    if (origin === RUNPOD_ORIGIN) return runpod.fetch(request);
    if (origin === DISCORD_ORIGIN) return discord.fetch(request);
    return Promise.reject(new TypeError(`No such host in the test: ${origin}`));
  }) as typeof fetch;
}

/** RunPod with two accounts, and Discord with the cast and its two servers. */
export function createStandins(
  options: Pick<WorldOptions, "podHost" | "runpod"> & { readonly clock: Clock },
): WorldStandins {
  const { clock } = options;
  const runpod = createFakeRunpod({
    apiKeys: {
      [RUNPOD_KEY]: "full",
      [OTHER_RUNPOD_KEY]: { rights: "full", account: "other" },
      rpa_readonly_0123456789: "read",
    },
    demoSecret: DEMO_SECRET,
    clock,
    ...(options.podHost === undefined ? {} : { podHost: options.podHost }),
    ...options.runpod,
  });
  const discord = createFakeDiscord({
    clientId: CLIENT_ID,
    clientSecret: "client-secret-for-tests-0123",
    botToken: BOT_TOKEN,
    redirectUris: [`${BASE_URL}/api/compute/cli/callback`],
    demoSecret: DEMO_SECRET,
    signInCode: SIGN_IN_CODE,
    clock,
  });
  populate(discord);
  return { runpod, discord };
}

/** Makes a world; one over a database file that has its orgs already goes on with them. */
export async function createWorld(options: WorldOptions = {}): Promise<World> {
  const clock = options.clock ?? testClock();
  const logLines: string[] = [];
  const log: Log = createLog((line) => void logLines.push(line), clock.now);
  const { runpod, discord } = options.standins ?? createStandins({ ...options, clock });
  const config = readConfig({ dataDir: "/nonexistent", port: 0, allowTestUpstreams: true }, {
    SECRETS_KEY: generateSecretKey(),
    BOT_TOKEN,
    CLIENT_ID,
    CLIENT_SECRET: "client-secret-for-tests-0123",
    ACCOUNTS_BASE_URL: BASE_URL,
    COMPUTE_CLI_NAME: "godfather",
    RUNPOD_API_URL: `${RUNPOD_ORIGIN}/v2`,
    DISCORD_API_URL: `${DISCORD_ORIGIN}/api/v10`,
    DISCORD_URL: DISCORD_ORIGIN,
    SYS_ADMIN: PEOPLE.superadmin,
    ...options.env,
  });
  const opened = openDatabase(options.database ?? ":memory:");
  const db = options.wrapDatabase?.(opened) ?? opened;
  const routed = routedFetch(runpod, discord);
  const app = createApp({
    config,
    version: "0.0.0-test",
    db,
    clock,
    log,
    fetch: options.fetch?.(routed) ?? routed,
    limitRules: LIMIT_RULES,
    timings: { ...POD_TIMINGS, settleWaitMs: 400, settleEveryMs: 20, createCallMs: 400, ...options.timings },
    scheduleTimings: { ...SCHEDULE_TIMINGS, ...options.scheduleTimings },
    keyTimings: { ...KEY_TIMINGS, ...options.keyTimings },
    home: options.home ?? null,
    runpodLimits: { ...LIMITS, ...options.runpodLimits },
    fileTimings: { ...FILE_TIMINGS, ...options.fileTimings },
  });

  const tokens = new Map<string, Promise<string>>();
  const world: World = {
    app,
    db,
    clock,
    config,
    runpod,
    discord,
    logLines,
    async call(method, path, o = {}) {
      const org = /^\/api\/compute\/([^/]+)\//.exec(path)?.[1] ?? "org";
      const kind = o.kind ?? (/\/me(\/|$|\?)/.test(path) ? "cli" : "officer");
      const person = o.as === undefined || o.as === "operator" ? null : o.as;
      const token = o.token ?? (person === null ? null : await world.token(person, kind, org));
      const body = o.raw ?? (o.body === undefined ? null : JSON.stringify(o.body));
      const headers = new Headers({
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === null ? {} : { "content-type": "application/json" }),
        ...o.headers,
      });
      const peer: Peer = { isOperator: o.as === "operator", account: "test", address: o.address ?? "192.0.2.1" };
      const answer = await app.fetch(new Request(BASE_URL + path, { method, headers, body }), peer);
      const text = await answer.text();
      const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
      return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : null };
    },
    token(person, kind, org = "org") {
      const key = `${person}/${kind}/${org}`;
      const known = tokens.get(key);
      if (known !== undefined) return known;
      // The promise is kept, because a second token of the same person would revoke the first.
      const made = world.call("POST", `/api/compute/${org}/tokens`, {
        as: "operator",
        body: { kind, discord_id: PEOPLE[person] },
      }).then((answer) => {
        if (answer.status !== 201) throw new Error(`No token for ${key}: ${answer.text}`);
        return answer.json.token as string;
      });
      tokens.set(key, made);
      return made;
    },
    async close() {
      await app.close();
      if (options.standins === undefined) await runpod.close();
      db.close();
    },
  };
  if (allOrgs(db).length > 0) return world;

  for (
    const org of [
      { prefix: "org", name: "Test Society", guild_id: GUILD, officer_role_ids: [OFFICER_ROLE] },
      { prefix: "other", name: "Other Society", guild_id: OTHER_GUILD, officer_role_ids: [OTHER_OFFICER_ROLE] },
    ]
  ) {
    const added = await world.call("POST", "/api/operator/orgs", { as: "operator", body: org });
    if (added.status !== 201) throw new Error(`The org could not be added: ${added.text}`);
  }
  for (const [org, value] of [["org", RUNPOD_KEY], ["other", OTHER_RUNPOD_KEY]]) {
    const set = await world.call("PUT", `/api/operator/orgs/${org}/secrets/runpod_api_key`, {
      as: "operator",
      body: { value },
    });
    if (set.status !== 200) throw new Error(`The RunPod key could not be set: ${set.text}`);
  }
  db.run(
    "insert into blocked_users (org_id, pod_id, discord_id, blocked_at) values (1, '', ?, ?)",
    PEOPLE.blocked,
    clock.now(),
  );
  return world;
}

/** Polls until `check` gives something, moving a test clock along when there is one; fails after `ms` real milliseconds. */
export async function eventually<T>(
  check: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  what: string,
  step: () => void = () => {},
  ms = 60_000,
): Promise<T> {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const found = await check();
    if (found) return found as T;
    step();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`Never happened: ${what}`);
}

/** Creates a pod as an officer and lets the clock bring it up; returns its RunPod id. */
export async function createRunningPod(
  world: World & { readonly clock: TestClock },
  body: Record<string, unknown> = {},
): Promise<string> {
  const made = await world.call("POST", "/api/compute/org/pods", {
    as: "officer",
    body: { use_cpu_only: true, is_public: true, ...body },
  });
  if (made.status !== 201) throw new Error(`No pod: ${made.text}`);
  const id: string = made.json.pod.id;
  await eventually(
    async () =>
      (await world.call("GET", `/api/compute/org/pods/${id}`, { as: "officer" })).json.pod?.status === "RUNNING",
    "the pod runs",
    () => world.clock.advance(2_000),
  );
  return id;
}
