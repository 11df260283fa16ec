/** Steps of the schedule whose answers were lost: what officers change meanwhile holds, whatever RunPod did. */
import assert from "node:assert/strict";
import { isoTime, MINUTE } from "../../server/clock.ts";
import { createActions } from "../../server/pods/act.ts";
import { createRefresher } from "../../server/pods/refresh.ts";
import { createSettler } from "../../server/pods/settle.ts";
import { act, type ClockedWorld, intentsOf, inWorld, partsOf, refreshed, refused } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { troubles } from "./fault_cases.ts";
import { extend, onSession } from "./session_support.ts";
import { addSession, asked, AT_ONCE, events, sessionRow, turnAfter } from "./support.ts";

/** What becomes of calls to RunPod: all go through; none arrives; actions arrive and their answers are lost. */
type Line = "open" | "cut" | "answers lost";

async function inLossy(
  test: (world: ClockedWorld, line: { state: Line }) => Promise<void>,
): Promise<void> {
  const line: { state: Line } = { state: "open" };
  const wrap = (inner: typeof fetch) =>
    (async (input: Request | URL | string, init?: RequestInit) => {
      const request = new Request(input as Request, init);
      const { pathname } = new URL(request.url);
      if (line.state === "open" || !pathname.startsWith("/v2/")) return await inner(request);
      if (line.state === "answers lost" && pathname.endsWith("/action")) await inner(request);
      throw new TypeError("connection closed");
    }) as typeof fetch;
  await inWorld({ ...AT_ONCE, fetch: wrap }, (world) => test(world, line));
}

const state = (world: ClockedWorld, id: number) => {
  const row = sessionRow(world, id)!;
  return `${row.state}${row.started === 1 ? " started" : ""}${row.finished === 1 ? " finished" : ""}`;
};

/** A pod that ran for a session of an hour and was asked to stop after it; nobody knows yet whether it did. */
async function withLostStop(
  line: Line,
  test: (world: ClockedWorld, its: { pod: string; session: number; line: { state: Line } }) => Promise<void>,
): Promise<void> {
  await inLossy(async (world, its) => {
    const pod = await createRunningPod(world);
    const session = addSession(world, pod, 0, 60);
    await turnAfter(world, 0);
    world.clock.advance(60 * MINUTE);
    await refreshed(world);
    asked(world);
    world.db.run("delete from events");
    its.state = line;
    await turnAfter(world, 1);
    assert.equal(intentsOf(world).at(-1)!.state, "unsettled");
    await test(world, { pod, session, line: its });
  });
}

async function settled(world: ClockedWorld): Promise<void> {
  for (let look = 0; look < 3; look++) {
    world.clock.advance(20_000);
    await world.app.jobs.settle();
  }
}

Deno.test("a session that is put off after its stop got lost is not stopped: the stop is not repeated", async () => {
  for (const how of ["extend", "stop_at"] as const) {
    await withLostStop("cut", async (world, { pod, session, line }) => {
      const later = isoTime(world.clock.now() + 60 * MINUTE);
      const answer = how === "extend"
        ? await extend(world, pod, session, 60)
        : await onSession(world, "PUT", pod, session, { stop_at: later });
      assert.equal(answer.status, 200, answer.text);
      line.state = "open";
      await settled(world);
      await turnAfter(world, 1);
      assert.deepEqual(asked(world), [], how);
      assert.equal(world.runpod.pods.get(pod).phase, "up");
      assert.equal(state(world, session), "running started");
      assert.deepEqual([events(world), await troubles(world)], [[], []]);
      await turnAfter(world, 60);
      assert.deepEqual(asked(world), [`stop ${pod}`], "it ends at its new time");
      assert.equal(state(world, session), "done started finished");
    });
  }
});

Deno.test("a lost stop that did not happen is made up by the next turn, and leaves nothing for officers to look at", async () => {
  await withLostStop("cut", async (world, { pod, session, line }) => {
    line.state = "open";
    await settled(world);
    assert.equal(intentsOf(world).at(-1)!.state, "failed");
    assert.deepEqual(asked(world), [], "the settler does not repeat it");
    await turnAfter(world, 4);
    assert.deepEqual(asked(world), [`stop ${pod}`]);
    assert.equal(state(world, session), "done started finished");
    assert.deepEqual([events(world), await troubles(world)], [["pod.stopped"], []]);
  });
});

Deno.test("a pod that RunPod did stop is started again for a session that was put off meanwhile", async () => {
  await withLostStop("answers lost", async (world, { pod, session, line }) => {
    assert.equal((await extend(world, pod, session, 60)).status, 200);
    line.state = "open";
    await settled(world);
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
    assert.equal(state(world, session), "scheduled");
    asked(world);
    await turnAfter(world, 1);
    assert.deepEqual(asked(world), [`start ${pod}`]);
    await turnAfter(world, 60);
    assert.equal(state(world, session), "done started finished");
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
  });
});

Deno.test("a stop that an officer asked for after the lost one is not undone for a session that was put off", async () => {
  await withLostStop("answers lost", async (world, { pod, session, line }) => {
    assert.equal((await extend(world, pod, session, 60)).status, 200);
    line.state = "open";
    assert.equal((await act(world, pod, "stop")).status, 200);
    await settled(world);
    asked(world);
    for (let turn = 0; turn < 4; turn++) await turnAfter(world, 5);
    assert.deepEqual(asked(world), []);
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
  });
});

Deno.test("a stop that never happens although the schedule asks for it again and again is told once", async () => {
  let refuse = false;
  const wrap = (inner: typeof fetch) =>
    (async (input: Request | URL | string, init?: RequestInit) => {
      const request = new Request(input as Request, init);
      if (refuse && request.method === "POST" && request.url.endsWith("/action")) {
        return new Response("", { status: 500 });
      }
      return await inner(request);
    }) as typeof fetch;
  await inWorld({ ...AT_ONCE, fetch: wrap }, async (world) => {
    const pod = await createRunningPod(world);
    addSession(world, pod, 0, 10);
    await turnAfter(world, 0);
    world.db.run("delete from events");
    refuse = true;
    for (let minute = 0; minute < 10; minute += 5) {
      await turnAfter(world, minute === 0 ? 11 : 5);
      await settled(world);
    }
    assert.deepEqual(events(world), [], "not before a quarter of an hour");
    for (let minute = 0; minute < 30; minute += 5) {
      await turnAfter(world, 5);
      await settled(world);
    }
    const told = world.db.all<{ details: string }>("select details from events where kind = 'pod.failed'")
      .filter((event) => !event.details.includes("unreachable"));
    assert.equal(told.length, 1);
    assert.match(told[0]!.details, /does not happen, although it is asked for again and again/);
    assert.ok(!(await troubles(world)).includes("action_not_done"));
    refuse = false;
    await turnAfter(world, 5);
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
  });
});

/** A session whose start was asked for, done by RunPod, and never answered. */
async function withLostStart(
  test: (world: ClockedWorld, its: { pod: string; session: number; line: { state: Line } }) => Promise<void>,
): Promise<void> {
  await inLossy(async (world, line) => {
    const pod = await createRunningPod(world);
    assert.equal((await act(world, pod, "stop")).status, 200);
    world.clock.advance(20 * MINUTE);
    await refreshed(world);
    const session = addSession(world, pod, 0, 60);
    line.state = "answers lost";
    await world.app.jobs.schedule.turn();
    line.state = "open";
    assert.equal(intentsOf(world).at(-1)!.state, "unsettled");
    await test(world, { pod, session, line });
  });
}

Deno.test("a session cannot be moved away from a pod that was started for it, before the schedule knows it either", async () => {
  await withLostStart(async (world, { pod, session }) => {
    const moved = () => {
      const [start_at, stop_at] = [48, 49].map((hours) => isoTime(world.clock.now() + hours * 60 * MINUTE));
      return onSession(world, "PUT", pod, session, { start_at, stop_at });
    };
    refused(await moved(), 409, "conflict", /is being started for the session, and it is not known yet/);
    world.clock.advance(3_000);
    await world.app.jobs.settle();
    assert.deepEqual([world.runpod.pods.get(pod).phase, state(world, session)], ["up", "starting"]);
    refused(await moved(), 409, "conflict", /^The pod may have been started for the session.*delete the session/);
    assert.equal((await onSession(world, "DELETE", pod, session)).status, 200);
    await turnAfter(world, 5);
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
  });
});

Deno.test("the schedule is woken when a step of its own turns out to be done, and for nobody else's", async () => {
  await withLostStart(async (world, { pod, line }) => {
    let wakes = 0;
    const parts = partsOf(world);
    const refresher = createRefresher(parts, () => {});
    const settler = createSettler({ ...parts, refresher, actions: createActions(parts), poke: () => void wakes++ });
    world.clock.advance(3_000);
    await settler.turn();
    assert.deepEqual([intentsOf(world).at(-1)!.state, wakes], ["done", 1]);
    line.state = "answers lost";
    await act(world, pod, "stop");
    line.state = "open";
    world.clock.advance(3_000);
    await settler.turn();
    assert.deepEqual([intentsOf(world).at(-1)!.state, wakes], ["done", 1]);
    await refresher.close();
  });
});
