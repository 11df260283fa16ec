import assert from "node:assert/strict";
import { read } from "../../admin/client/api.ts";
import type { Connection } from "../../admin/client/connection.ts";
import { Refusal } from "../../admin/client/refusal.ts";
import { Problem } from "../../admin/ui/client/problem.ts";
import { createSession, type Session } from "../../admin/ui/client/session.ts";
import { createCache, type Resource } from "../../admin/ui/core/cache.ts";
import { eventually } from "../support/world.ts";

type Answer = () => Response | Promise<Response>;

const ok = () => Response.json({ pods: [], warnings: [] });
const refused = (status: number, body: object, headers = {}) => Response.json(body, { status, headers });

function scene(first: Answer): { session: Session; calls: () => number; answer(next: Answer): void } {
  let answer = first;
  let calls = 0;
  const connection: Connection = {
    baseUrl: "http://admin.test",
    isOperator: true,
    fetch: async () => {
      calls++;
      return await answer();
    },
    close: () => Promise.resolve(),
  };
  const session = createSession({ connection, org: "org", address: null, now: () => 0, reconnectMs: [5] });
  return { session, calls: () => calls, answer: (next) => void (answer = next) };
}

const pods = (session: Session, options = {}) =>
  session.call((api, org) => read(api.org.pods.$get({ param: { org } })), options);

async function problemOf(work: Promise<unknown>): Promise<Problem> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("There was no problem");
}

Deno.test("call throws the server's own sentence and code, and stays connected", async () => {
  const { session } = scene(() => refused(409, { error: "The pod is stopped", code: "conflict", hint: "Start it" }));
  const problem = await problemOf(pods(session));
  assert.deepEqual([problem.kind, problem.sentence, problem.code, problem.facts.status], [
    "refused",
    "The pod is stopped",
    "conflict",
    409,
  ]);
  assert.deepEqual(problem.notes, ["hint: Start it"]);
  assert.equal(session.link.kind, "connected");
  await session.close();
});

Deno.test("a server that is away is lost, and found again by itself", async () => {
  const away = () => Promise.reject(new Refusal("http://x cannot be reached: connection refused", 6));
  const { session, answer } = scene(away);
  let changes = 0;
  session.onLink(() => void changes++);
  assert.equal((await problemOf(pods(session))).kind, "away");
  assert.equal(session.link.kind, "lost");
  answer(ok);
  await eventually(() => session.link.kind === "connected", "it is connected again");
  assert.equal(changes, 2);
  await session.close();
});

Deno.test("an answer of a proxy is away; a 5xx of the server's own is its refusal", async () => {
  const { session, answer } = scene(() => new Response("<h1>Bad gateway</h1>", { status: 502 }));
  assert.equal((await problemOf(pods(session))).kind, "away");
  answer(() => refused(503, { error: "Discord is not available", code: "discord_unavailable" }));
  assert.equal((await problemOf(pods(session))).kind, "refused");
  assert.equal(session.link.kind, "connected");
  await session.close();
});

Deno.test("a 401 signs out, and renew goes on with another token", async () => {
  const { session, answer } = scene(() => refused(401, { error: "Token is invalid!", code: "token_invalid" }));
  assert.equal((await problemOf(pods(session))).kind, "signed_out");
  assert.deepEqual(session.link, { kind: "signed_out", sentence: "Token is invalid!" });
  answer(ok);
  const next = {
    baseUrl: "http://admin.test",
    isOperator: false,
    fetch: () => Promise.resolve(ok()),
    close: () => Promise.resolve(),
  };
  await session.renew(next, "other");
  assert.equal(session.link.kind, "connected");
  assert.equal(session.org, "other");
  await session.close();
});

Deno.test("a 429 is waited for as told, and made again", async () => {
  const { session, answer, calls } = scene(() => {
    answer(ok);
    return refused(429, { error: "Too many", code: "rate_limited" }, { "retry-after": "0" });
  });
  await pods(session);
  assert.equal(calls(), 2);
  await session.close();
});

Deno.test("a 429 that would take too long is a problem at once", async () => {
  const { session, calls } = scene(() =>
    refused(429, { error: "Too many", code: "rate_limited" }, { "retry-after": "600" })
  );
  const problem = await problemOf(pods(session));
  assert.deepEqual([problem.kind, problem.facts.retryAfterMs, calls()], ["busy", 600_000, 1]);
  await session.close();
});

Deno.test("a call ends at its deadline, and when it is given up", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const { session } = scene(() => promise);
  const late = await problemOf(pods(session, { deadlineMs: 10 }));
  assert.equal(late.kind, "late");
  assert.match(late.sentence, /No answer within 0.01 s/);
  const stop = new AbortController();
  const given = problemOf(pods(session, { signal: stop.signal, deadlineMs: null }));
  stop.abort();
  assert.equal((await given).kind, "stopped");
  resolve(ok());
  await session.close();
});

Deno.test("a mistake in the program is thrown as it is", async () => {
  const { session } = scene(ok);
  await assert.rejects(session.call(() => Promise.reject(new RangeError("x"))), RangeError);
  await session.close();
});

interface CacheScene {
  readonly cache: ReturnType<typeof createCache>;
  readonly loads: string[];
  fail: Problem | null;
  isLinked: boolean;
}

function cacheScene(): CacheScene & { show(...resources: Resource<string>[]): void } {
  const scene: CacheScene = {
    loads: [],
    fail: null,
    isLinked: true,
    cache: createCache({
      call: async (work) => {
        if (scene.fail !== null) throw scene.fail;
        return await work(null as never, "org", new AbortController().signal);
      },
      now: () => 1_000,
      isLinked: () => scene.isLinked,
      onChange: () => {},
    }),
  };
  const show = (...resources: Resource<string>[]) => scene.cache.show(new Map(resources.map((one) => [one.key, one])));
  return Object.assign(scene, { show });
}

const resource = (loads: string[], key: string, everyMs: number | null, delayMs?: number): Resource<string> => ({
  key,
  everyMs,
  ...(delayMs === undefined ? {} : { delayMs }),
  load: () => {
    loads.push(key);
    return Promise.resolve(`${key} ${loads.filter((one) => one === key).length}`);
  },
});

Deno.test("a cache loads what is shown, again and again, and stops when it is not shown any more", async () => {
  const scene = cacheScene();
  const pods = resource(scene.loads, "pods", 5);
  scene.show(pods);
  await eventually(() => scene.loads.length >= 3, "it is loaded again and again");
  scene.show();
  await eventually(() => !scene.cache.read(pods).isLoading, "the last load ends");
  const { length } = scene.loads;
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(scene.loads.length, length);
  scene.cache.close();
});

Deno.test("a cache keeps the last good value when a load fails", async () => {
  const scene = cacheScene();
  const one = resource(scene.loads, "one", null);
  scene.show(one);
  await eventually(() => scene.cache.read(one).value === "one 1", "it is loaded");
  scene.fail = new Problem("refused", "No");
  scene.cache.refresh();
  await eventually(() => scene.cache.read(one).problem?.sentence === "No", "it failed");
  assert.equal(scene.cache.read(one).value, "one 1");
  assert.equal(scene.cache.read(one).at, 1_000);
  scene.cache.close();
});

Deno.test("a cache asks for nothing that is only scrolled past", async () => {
  const scene = cacheScene();
  const slow = resource(scene.loads, "slow", null, 50);
  scene.show(slow);
  scene.show();
  await new Promise((resolve) => setTimeout(resolve, 80));
  assert.deepEqual(scene.loads, []);
  scene.cache.close();
});

Deno.test("a cache loads nothing while the server is lost, and everything shown once it is back", async () => {
  const scene = cacheScene();
  const one = resource(scene.loads, "one", null);
  scene.isLinked = false;
  scene.show(one);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.deepEqual(scene.loads, []);
  scene.isLinked = true;
  scene.cache.refresh();
  await eventually(() => scene.cache.read(one).value === "one 1", "it is loaded");
  scene.cache.close();
});

Deno.test("a refresh reaches what is shown again later", async () => {
  const scene = cacheScene();
  const one = resource(scene.loads, "one", null);
  scene.show(one);
  await eventually(() => scene.cache.read(one).value === "one 1", "it is loaded");
  scene.show();
  scene.cache.refresh();
  assert.deepEqual(scene.loads, ["one"]);
  scene.show(one);
  await eventually(() => scene.cache.read(one).value === "one 2", "it is loaded anew");
  scene.cache.close();
});
