/** RunPod hangs for one org: the others have their turns all the same. */
import assert from "node:assert/strict";
import { setMeta } from "../../db/stores/meta.ts";
import { podByRunpodId } from "../../db/stores/pods.ts";
import { insertSession } from "../../db/stores/sessions.ts";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { act, type ClockedWorld, inWorld, requests } from "../pods/support.ts";
import { createRunningPod, eventually, OTHER_RUNPOD_KEY } from "../support/world.ts";
import { addSession, AT_ONCE } from "./support.ts";

const OTHER = "/api/compute/other";

interface Scene {
  readonly world: ClockedWorld;
  /** From now on no call of the other org is answered. */
  hang(): void;
  /** The calls of the other org that hung, such as `GET /pods/abc`. */
  readonly hung: readonly string[];
  /** What waits fails, and calls go through again. */
  letGo(): void;
  /** Nothing that my org asks for arrives. */
  cutMine(isCut: boolean): void;
}

async function inTwoOrgs(test: (scene: Scene) => Promise<void>, turnMs = 5 * MINUTE): Promise<void> {
  let gate: PromiseWithResolvers<void> | null = null;
  const hung: string[] = [];
  let isMineCut = false;
  const wrap = (inner: typeof fetch) =>
    (async (input: Request | URL | string, init?: RequestInit) => {
      const request = new Request(input as Request, init);
      if (!new URL(request.url).pathname.startsWith("/v2/")) return await inner(request);
      const isOther = request.headers.get("authorization")?.includes(OTHER_RUNPOD_KEY) ?? false;
      if (isOther && gate !== null) {
        hung.push(`${request.method} ${new URL(request.url).pathname.slice("/v2".length)}`);
        await gate.promise;
        throw new TypeError("connection closed");
      }
      if (!isOther && isMineCut) throw new TypeError("connection closed");
      return await inner(request);
    }) as typeof fetch;
  // The waits of the program itself are so long that only the test ends a call.
  const runpodLimits = { ...AT_ONCE.runpodLimits, callMs: 60_000, attemptMs: 60_000 };
  await inWorld({ runpodLimits, scheduleTimings: { turnMs }, fetch: wrap }, async (world) => {
    const letGo = () => {
      gate?.resolve();
      gate = null;
    };
    try {
      await test({
        world,
        hang: () => void (gate = Promise.withResolvers()),
        hung,
        letGo,
        cutMine: (isCut) => void (isMineCut = isCut),
      });
    } finally {
      letGo();
    }
  });
}

async function podOfOther(world: ClockedWorld): Promise<string> {
  const made = await world.call("POST", `${OTHER}/pods`, { as: "otherOfficer", body: { use_cpu_only: true } });
  assert.equal(made.status, 201, made.text);
  return made.json.pod.id;
}

Deno.test("an org whose RunPod hangs does not keep the sessions of another org waiting", async () => {
  await inTwoOrgs(async ({ world, hang, hung, letGo }) => {
    const mine = await createRunningPod(world);
    assert.equal((await act(world, mine, "stop")).status, 200);
    const theirs = await podOfOther(world);
    world.runpod.pods.stop(theirs);
    world.clock.advance(20 * MINUTE);
    await world.call("GET", `${OTHER}/pods`, { as: "otherOfficer" });
    insertSession(world.db, {
      orgId: 2,
      podId: podByRunpodId(world.db, 2, theirs)!.id,
      title: null,
      startAt: world.clock.now(),
      stopAt: world.clock.now() + HOUR,
      seriesId: null,
      overBudget: false,
      onGpuTaken: "wait",
      createdBy: null,
    }, world.clock.now());
    hang();
    const first = world.app.jobs.schedule.turn();
    await eventually(() => hung.length > 0, "the other org's call hangs");
    // A session of mine comes up only now, so it is the next turn's.
    addSession(world, mine, 0, 60);
    const next = world.app.jobs.schedule.turn();
    await eventually(() => world.runpod.pods.get(mine).phase === "up", "my pod is started");
    assert.equal(requests(world, "POST", `/pods/${theirs}/action`).length, 0);
    letGo();
    await Promise.all([first, next]);
  });
});

Deno.test("the loops of a server do not wait for an org whose RunPod hangs either, and end when its calls have", async () => {
  await inTwoOrgs(async ({ world, hang, hung, letGo }) => {
    const mine = await createRunningPod(world);
    assert.equal((await act(world, mine, "stop")).status, 200);
    await podOfOther(world);
    world.clock.advance(20 * MINUTE);
    hang();
    world.app.run();
    await eventually(() => hung.length > 0, "the other org's call hangs");
    addSession(world, mine, 0, 60);
    await eventually(() => world.runpod.pods.get(mine).phase === "up", "my pod is started");
    letGo();
  }, 20);
});

Deno.test("open actions of an org whose RunPod hangs do not hold up those of another org", async () => {
  await inTwoOrgs(async ({ world, hang, hung, letGo, cutMine }) => {
    const theirs = await podOfOther(world);
    const mine = await createRunningPod(world);
    const now = world.clock.now();
    for (let count = 0; count < 2; count++) {
      world.db.run(
        "insert into compute_intents (id, org_id, pod_id, runpod_id, action, state, request, asked_by, asked_at, sent_at) " +
          `values (?, 2, ?, ?, 'stop', 'unsettled', '{"audit":{}}', '1', ?, ?)`,
        `older-${count}`,
        podByRunpodId(world.db, 2, theirs)!.id,
        theirs,
        now,
        now,
      );
    }
    cutMine(true);
    await act(world, mine, "stop");
    cutMine(false);
    world.clock.advance(MINUTE);
    hang();
    const first = world.app.jobs.settle();
    await eventually(() => hung.length > 0, "the other org's call hangs");
    await eventually(() => world.runpod.pods.get(mine).phase === "exited", "my stop is finished");
    // And a later turn is not held up either.
    world.clock.advance(MINUTE);
    const next = world.app.jobs.settle();
    const open = "select 1 from compute_intents where org_id = 1 and state = 'unsettled'";
    await eventually(() => world.db.get(open) === undefined, "my stop is settled");
    letGo();
    await Promise.all([first, next]);
  });
});

Deno.test("the settler looks after stops and terminates before other open actions of an org, and after few pods at once", async () => {
  await inTwoOrgs(async ({ world, hang, hung, letGo }) => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count++) ids.push(await podOfOther(world));
    const now = world.clock.now();
    const actions = ["start", "start", "start", "start", "stop", "terminate"];
    for (const [index, id] of ids.entries()) {
      world.db.run(
        "insert into compute_intents (id, org_id, pod_id, runpod_id, action, state, request, asked_by, asked_at, sent_at) " +
          `values (?, 2, ?, ?, ?, 'unsettled', '{"audit":{}}', '1', ?, ?)`,
        `open-${index}`,
        podByRunpodId(world.db, 2, id)!.id,
        id,
        actions[index]!,
        now + index,
        now + index,
      );
    }
    world.clock.advance(MINUTE);
    hang();
    const turn = world.app.jobs.settle();
    await eventually(() => hung.length === 4, "four pods are looked at");
    assert.deepEqual(hung, [4, 5, 0, 1].map((index) => `GET /pods/${ids[index]}`));
    letGo();
    await turn;
    assert.deepEqual(ids.map((id) => requests(world, "GET", `/pods/${id}`).length > 0), [
      false,
      false,
      true,
      true,
      false,
      false,
    ]);
  });
});

Deno.test("that a pause cannot be told does not end the turns of the schedule", async () => {
  await inWorld({}, async (world) => {
    setMeta(world.db, "paused", "A second server seems to work on a copy");
    world.db.exec("create trigger full before insert on events begin select raise(abort, 'disk is full'); end");
    await world.app.jobs.schedule.turn();
    await Promise.all([world.app.jobs.schedule.turn(), world.app.jobs.schedule.turn()]);
    assert.ok(world.logLines.some((line) => line.includes("That the server is paused could not be told")));
    world.db.exec("drop trigger full");
    await world.app.jobs.schedule.turn();
    const told = world.db.all<{ org_id: number }>("select org_id from events where kind = 'server.paused'");
    assert.deepEqual(told.map((row) => row.org_id), [1, 2]);
  });
});
