/** The world of a walk: pods with an SSH server, odd names, sessions, and all that can happen to them meanwhile. */
import { DAY, HOUR, MINUTE, SECOND } from "../../../server/clock.ts";
import { CATALOGUE } from "../../../server/demo/discord/fault_catalogue.ts";
import { choosePodHost } from "../../../server/demo/pods/choose.ts";
import { type FaultInfo, FAULTS } from "../../../server/demo/runpod/fault_table.ts";
import { silentLog } from "../../../server/log.ts";
import type { Random } from "../../schedule/term/random.ts";
import { createWorld, eventually, PEOPLE, type TestClock, type World } from "../../support/world.ts";
import type { ScreenFacts } from "../screen_params.ts";
import { createSky, type Sky } from "./weather.ts";

export interface Scene {
  readonly world: World & { readonly clock: TestClock };
  readonly sky: Sky;
  readonly facts: ScreenFacts;
  /** Something that happens beside the admin, told in a few words. */
  happen(): Promise<string>;
  close(): Promise<void>;
}

const SETTLE_MS = 30 * SECOND;

/** Real time, which can be moved on. */
function movedClock(): TestClock {
  let ahead = 0;
  return { now: () => Date.now() + ahead, advance: (ms) => void (ahead += ms) };
}

/** Makes the world in a folder of its own; the names are those of the first pods. */
export async function createScene(folder: string, random: Random, names: readonly string[]): Promise<Scene> {
  const clock = movedClock();
  const { host: podHost } = await choosePodHost({
    folder: `${folder}/pods`,
    log: silentLog,
    clock,
    flavour: "orgpods",
  });
  const limits = { attempts: 2, attemptMs: 300, firstWaitMs: 20, maxWaitMs: 200, leastMs: 10, callMs: 800 };
  const made = await createWorld({
    clock,
    podHost,
    runpod: { timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } },
    runpodLimits: limits,
    timings: { createCallMs: 400 },
  });
  const world = Object.assign(made, { clock });
  const close = async () => {
    await world.close();
    await podHost.close();
  };
  const must = async (path: string, body: unknown) => {
    const { status, json, text } = await world.call("POST", `/api/compute/org/${path}`, { as: "officer", body });
    if (status >= 300) throw new Error(`${path} answered ${status}: ${text}`);
    return json;
  };
  let facts: ScreenFacts;
  try {
    const made = [];
    for (const name of names) made.push((await must("pods", { name, use_cpu_only: true, is_public: true })).pod);
    const [pod] = made;
    const at = Math.ceil(clock.now() / HOUR) * HOUR + DAY;
    const times = { start_at: new Date(at).toISOString(), stop_at: new Date(at + HOUR).toISOString() };
    const { session } = await must(`pods/${pod.id}/sessions`, { ...times, title: "Evening" });
    const hook = { name: "hook", format: "signed", url: "https://93.184.216.34/hook", kinds: ["pod.started"] };
    const { webhook } = await must("webhooks", hook);
    facts = { pod: { id: pod.id, name: pod.name }, sessionId: session.id, webhookId: webhook.id };
    await eventually(
      async () => (await podsOf(world)).every(({ status, reachable }) => status === "RUNNING" && reachable === true),
      "the pods run and can be reached",
      () => {},
      SETTLE_MS,
    );
  } catch (error) {
    await close();
    throw error;
  }
  const peer = { isOperator: true, account: "test", address: "192.0.2.9" };
  const sky = createSky(random, async (request) => {
    const isOperator = !request.headers.has("authorization");
    return await world.app.fetch(request, { ...peer, isOperator });
  });
  return { world, sky, facts, close, happen: () => happen(world, random, names) };
}

// deno-lint-ignore no-explicit-any
async function podsOf(world: World): Promise<any[]> {
  return (await world.call("GET", "/api/compute/org/pods", { as: "officer" })).json?.pods ?? [];
}

type Happening = readonly [weight: number, what: string, work: () => unknown];

async function happen(world: Scene["world"], random: Random, names: readonly string[]): Promise<string> {
  const base = "/api/compute/org/pods";
  const call = (method: string, path: string, body?: unknown) =>
    world.call(method, path, { as: "officer", ...(body === undefined ? {} : { body }) });
  const pods = await podsOf(world);
  const pod = pods.length === 0 ? null : random.pick(pods);
  const at = new Date(Math.ceil(world.clock.now() / HOUR) * HOUR + random.int(0, 50) * HOUR);
  const runpodFault = () => {
    const switchable = (FAULTS as readonly FaultInfo[]).filter(({ variants }) => variants.length > 0);
    const { id, variants } = random.pick(switchable);
    world.runpod.faults.on({ fault: id, variant: random.pick(variants), times: random.int(1, 4), ms: 200 });
  };
  const discordFault = () => {
    const [fault, { variants, byRoute }] = random.pick(Object.entries(CATALOGUE));
    const [variant, { ms }] = random.pick(Object.entries(variants));
    if (byRoute) world.discord.faults.set({ fault, variant, times: random.int(1, 4), ...(ms ? { ms: 200 } : {}) });
  };
  const happenings: Happening[] = [
    [3, "time passes", () => world.clock.advance(random.pick([SECOND, 20 * SECOND, MINUTE, 10 * MINUTE, HOUR, DAY]))],
    [4, "RunPod has a fault", runpodFault],
    [2, "Discord has a fault", discordFault],
    [2, "all faults end", () => {
      world.runpod.faults.clear();
      world.discord.faults.clear();
    }],
    [1, "the schedule takes a turn", () => world.app.jobs.schedule.turn()],
    ...(pods.length > 8 ? [] : [
      [
        3,
        "another officer makes a pod",
        () => call("POST", base, { name: random.pick(names), use_cpu_only: true, is_public: true }),
      ],
    ] as Happening[]),
    ...(pod === null ? [] : [
      [1, "another officer terminates a pod", () => call("POST", `${base}/${pod.id}/action`, { action: "terminate" })],
      [1, "another officer stops a pod", () => call("POST", `${base}/${pod.id}/action`, { action: "stop" })],
      [1, "another officer starts a pod", () => call("POST", `${base}/${pod.id}/action`, { action: "start" })],
      [2, "another officer changes who may enter", () =>
        call("PUT", `${base}/${pod.id}`, {
          is_public: random.chance(0.5),
          allowed_users: random.chance(0.5) ? [PEOPLE.member, PEOPLE.stranger, "12345"] : [],
        })],
      [2, "another officer plans a session", () =>
        call("POST", `${base}/${pod.id}/sessions`, {
          title: random.pick(names),
          start_at: at.toISOString(),
          stop_at: new Date(at.getTime() + HOUR).toISOString(),
        })],
    ] as Happening[]),
  ];
  const weighted = happenings.flatMap((one) => Array.from({ length: one[0] }, () => one));
  const [, what, work] = random.pick(weighted);
  await work();
  return what;
}
