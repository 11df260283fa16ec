/** Plays a term: the program in this process under a jumping clock, killed again and again, over one database file. */
import { HOUR, isoTime, MINUTE, SECOND } from "../../../server/clock.ts";
import type { ActiveFault } from "../../../server/demo/runpod/faults.ts";
import type { FaultSpec } from "../../../server/demo/runpod/mod.ts";
import { generateSecretKey } from "../../../server/identity/secret_box.ts";
import { SCHEDULE_TIMINGS } from "../../../server/schedule/decide.ts";
import { createStandins, createWorld, testClock, type World } from "../../support/world.ts";
import { checkEnding, type Ending } from "./ending.ts";
import { createLife, Killed, type Life } from "./life.ts";
import {
  actOn,
  actOutside,
  addSession,
  changeSession,
  createPod,
  type Outcome,
  patienceMs,
  type People,
  review,
} from "./people.ts";
import { type Planned, planTerm, type TermSize } from "./plan.ts";
import type { Trouble } from "./plan_trouble.ts";
import { openRecords, type Records } from "./records.ts";
import { createRules } from "./rules.ts";
import { storyOf } from "./story.ts";
import { createWatch } from "./watch.ts";

export const TERM: TermSize = { weeks: 16, pods: 40, sessions: 300 };

const { turnMs, leadMs } = SCHEDULE_TIMINGS;
/** Between two turns when nothing is near: with a pod up, and with none. */
const LONGEST_STEP_MS = { up: HOUR, down: 3 * HOUR } as const;
/** After something happened, the loops are followed turn by turn for this long. */
const NEAR_MS = 6 * MINUTE;
/** Nothing listens where the pods are, so none has an address. */
const NOWHERE: FaultSpec = { fault: "F16", variant: "never-address" };
/** Nothing hangs on the look at money here, so it is rarer than every minute. */
const MONEY_MS = 30 * MINUTE;
/** RunPod's 429 can hold calls back for five minutes after the last one. */
const ECHO_MS = 6 * MINUTE;

export interface TermReport extends Ending {
  readonly seed: number;
  readonly turns: number;
  readonly kills: number;
  /** The rules that did not hold, each with what happened to its pod. */
  readonly broken: readonly { readonly sentence: string; readonly story: readonly string[] }[];
}

export async function playTerm(seed: number, size: TermSize = TERM): Promise<TermReport> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-term-" });
  const term = createTerm(seed, size, `${folder}/orgpods.sqlite`);
  try {
    return await term.play();
  } finally {
    await term.close();
    await Deno.remove(folder, { recursive: true });
  }
}

function createTerm(seed: number, size: TermSize, path: string) {
  const plan = planTerm(seed, size);
  const clock = testClock(plan.from - 10 * MINUTE);
  const standins = createStandins({ clock, runpod: { balance: 1_000_000 } });
  const { runpod, discord } = standins;
  const SECRETS_KEY = generateSecretKey();
  runpod.faults.on(NOWHERE);

  let records: Records;
  const rules = createRules({ records: () => records, watch: () => watch, runpod });
  const watch = createWatch(runpod, clock, rules.onOrder);
  let life: Life = createLife();
  let world: World | null = null;
  let token = "";
  let upAt = 0;
  let downMs = 0;
  let [turns, kills] = [0, 0];
  let moneyAt = 0;
  let eventfulAt = clock.now();
  let disturbedAt = clock.now();
  const troubles = new Map<Trouble, ActiveFault>();
  let retries: { readonly planned: Planned; readonly until: number }[] = [];

  const live = async () => {
    life = createLife();
    world = await createWorld({
      clock,
      standins,
      database: path,
      env: { SECRETS_KEY },
      fetch: (inner) => life.fetch(watch.fetch(inner)),
      // A kill loses nothing that was handed to the system; only a power failure would.
      wrapDatabase: (db) => {
        db.exec("pragma synchronous = off");
        return life.database(db);
      },
      timings: { settleWaitMs: 30, settleEveryMs: 4, createCallMs: 150 },
      runpodLimits: { attempts: 1, callMs: 200 },
    });
    // One for all lives: a new one would take the place of the old.
    if (token === "") token = await world.token("officer", "officer");
  };

  /** Takes the dead program away. */
  const bury = async () => {
    const dead = world;
    world = null;
    if (dead === null) return;
    life.end();
    await unlessKilled(() => dead.app.close());
    dead.db.close();
    kills++;
    upAt = clock.now() + downMs;
    disturbedAt = eventfulAt = clock.now();
  };

  /** Runs something of the program; null when it was killed in it. */
  async function unlessKilled<T>(work: () => Promise<T>): Promise<T | null> {
    try {
      const result = await work();
      return life.isOver ? null : result;
    } catch (error) {
      if (!(error instanceof Killed) && !life.isOver) throw error;
      return null;
    }
  }

  const people: People = {
    records: () => records,
    watch,
    runpod,
    now: clock.now,
    async call(method, url, body) {
      const present = world;
      if (present === null) return null;
      const answer = await watch.as(
        "officer",
        () => unlessKilled(() => present.call(method, url, { token, ...(body === undefined ? {} : { body }) })),
      );
      if (life.isOver) await bury();
      else if (answer !== null && answer.status === 500) {
        rules.break(`${isoTime(clock.now())} ${method} ${url}: ${present.logLines.at(-1)}`);
      }
      return answer;
    },
  };

  const isLasting = ({ left }: ActiveFault) => left === null;
  const switchOff = (trouble: Trouble) => {
    if (trouble.upstream === "discord") return discord.faults.clear();
    troubles.delete(trouble);
    const active = new Set(runpod.faults.active());
    runpod.faults.clear();
    runpod.faults.on(NOWHERE);
    // One that is used up is not switched on again.
    for (const [other, fault] of [...troubles]) {
      const { left, ...spec } = fault;
      if (active.has(fault)) troubles.set(other, runpod.faults.on({ ...spec, times: left ?? 0 }));
      else troubles.delete(other);
    }
  };

  const happen = async (planned: Planned): Promise<Outcome> => {
    switch (planned.kind) {
      case "create_pod":
        return await createPod(people, planned.pod);
      case "add_session":
        return await addSession(people, planned.session);
      case "officer":
        return await actOn(people, planned.pod, planned.action);
      case "extend":
      case "delete":
      case "move":
        return await changeSession(people, planned);
      case "review":
        return await review(people);
      case "outside":
        return await actOutside(people, planned);
      case "trouble":
        if (planned.trouble.upstream === "discord") {
          discord.faults.set({ fault: "D20", variant: planned.trouble.variant });
        } else troubles.set(planned.trouble, runpod.faults.on(planned.trouble.spec));
        return "done";
      case "trouble_ends":
        switchOff(planned.trouble);
        return "done";
      case "kill":
        life.doom(planned.death);
        downMs = planned.downMs;
        return "done";
    }
  };

  const advanceTo = (at: number) => clock.advance(Math.max(0, at - clock.now()));
  const tryOne = async (planned: Planned, until: number) => {
    if (movesSomething(planned)) eventfulAt = clock.now();
    if (await happen(planned) === "again" && clock.now() < until) retries.push({ planned, until });
  };

  /** The turns of the loops, as they come in five minutes; true when the program lived through them. */
  const runTurns = async (): Promise<boolean> => {
    const jobs = () => world!.app.jobs;
    const inTurn = [
      () => jobs().settle(),
      () => jobs().schedule.turn(),
      () => jobs().autoStop.stops.turn(),
    ];
    if (clock.now() - moneyAt >= MONEY_MS) inTurn.push(() => jobs().money.turn());
    if (inTurn.length > 3) moneyAt = clock.now();
    turns++;
    for (const turn of inTurn) if (await unlessKilled(turn) === null && life.isOver) return false;
    // What was left open is looked at again before the next turn.
    for (let looks = 0; looks < 2 && records.openIntents().length > 0; looks++) {
      clock.advance(40 * SECOND);
      if (await unlessKilled(jobs().settle) === null && life.isOver) return false;
    }
    return true;
  };

  const usesLeft = () => runpod.faults.active().reduce((sum, fault) => sum + (fault.left ?? 0), 0);
  const tick = async () => {
    if (world === null) {
      disturbedAt = clock.now();
      if (clock.now() < upAt) return;
      await live();
    }
    const before = usesLeft();
    const changed = watch.changes.length;
    if (!await runTurns()) return await bury();
    reportErrors(world!);
    const isDisturbed = [...troubles.values()].some(isLasting) || usesLeft() !== before;
    if (isDisturbed) disturbedAt = clock.now();
    if (watch.changes.length !== changed) eventfulAt = clock.now();
    rules.whenCalm(clock.now(), disturbedAt + ECHO_MS);
    runpod.requests.length = 0;
  };

  const reportErrors = ({ logLines }: World) => {
    for (const line of logLines) {
      if (/"level":"error"/.test(line) && !/could not be stopped/.test(line)) rules.break(line);
    }
    logLines.length = 0;
  };

  /** When the next turn is worth making: five minutes from now while something is near, else up to an hour. */
  const nextTurn = (nextPlanned: number): number => {
    const now = clock.now();
    const isNear = now - Math.max(eventfulAt, disturbedAt) < NEAR_MS || retries.length > 0 ||
      records.openIntents().some((one) => one.action !== "create");
    const step = runpod.pods.list().some((pod) => pod.phase === "up") ? LONGEST_STEP_MS.up : LONGEST_STEP_MS.down;
    const wanted = isNear ? now + 1 : Math.min(now + step, nextPlanned, records.nextEdge(now, leadMs));
    return Math.max(Math.ceil(wanted / turnMs), Math.floor(now / turnMs) + 1) * turnMs;
  };

  return {
    async play(): Promise<TermReport> {
      await live();
      records = openRecords(path);
      const waiting = [...plan.happenings];
      while (clock.now() < plan.to) {
        const at = Math.min(nextTurn(waiting.find(movesSomething)?.at ?? Infinity), plan.to);
        while (waiting.length > 0 && waiting[0]!.at <= at) {
          const planned = waiting.shift()!;
          advanceTo(planned.at);
          await tryOne(planned, planned.at + patienceMs(planned));
        }
        advanceTo(at);
        await tick();
        const again = retries;
        retries = [];
        for (const { planned, until } of again) await tryOne(planned, until);
      }
      await recover();
      const ending = await checkEnding({ world: world!, records, watch, rules, from: plan.from - 10 * MINUTE });
      const broken = rules.broken.map((sentence) => ({ sentence, story: storyOf(sentence, records, watch) }));
      return { seed, turns, kills, broken, ...ending };
    },
    async close() {
      if (world !== null) await world.close();
      records?.close();
      await runpod.close();
    },
  };

  /** Everything works again, and an officer looks through what is left. */
  async function recover(): Promise<void> {
    for (const trouble of [...troubles.keys()]) switchOff(trouble);
    discord.faults.clear();
    life.doom(null);
    upAt = 0;
    for (let turn = 0; turn < 24; turn++) {
      advanceTo(clock.now() + turnMs);
      await tick();
      if (turn % 6 === 5) await review(people);
    }
  }
}

/** After these the program should have a look soon; the others wait for the next turn. */
function movesSomething({ kind }: Planned): boolean {
  return ["officer", "outside", "extend", "delete", "move"].includes(kind);
}
