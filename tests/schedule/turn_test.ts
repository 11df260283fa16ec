import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import { createRunningPod, eventually } from "../support/world.ts";
import { type ClockedWorld, inWorld, ORG } from "../pods/support.ts";
import { addSession, asked, AT_ONCE, events, sessionRow, statusAtRunpod, turnAfter } from "./support.ts";

/** A pod that was made, ran, and was stopped by an officer; the calls of that are forgotten. */
async function stoppedPod(world: ClockedWorld, body: Record<string, unknown> = {}): Promise<string> {
  const id = await createRunningPod(world, body);
  const stopped = await world.call("POST", `${ORG}/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
  assert.equal(stopped.status, 200);
  world.clock.advance(20 * MINUTE);
  world.db.run("delete from events");
  asked(world);
  return id;
}

const state = (world: ClockedWorld, id: number) => {
  const row = sessionRow(world, id)!;
  return `${row.state}${row.started === 1 ? " started" : ""}${row.finished === 1 ? " finished" : ""}`;
};

Deno.test("the schedule starts a pod 10 minutes before its session and stops it after", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const session = addSession(world, pod, 15, 60);
    await turnAfter(world, 4);
    assert.deepEqual(asked(world), []);
    await turnAfter(world, 1);
    assert.deepEqual(asked(world), [`start ${pod}`]);
    assert.equal(state(world, session), "starting started");
    await turnAfter(world, 5);
    assert.equal(state(world, session), "running started");
    assert.equal(await statusAtRunpod(world, pod), "RUNNING");
    await turnAfter(world, 60);
    assert.deepEqual(asked(world), []);
    await turnAfter(world, 5);
    assert.deepEqual(asked(world), [`stop ${pod}`]);
    assert.equal(state(world, session), "done started finished");
    assert.equal(await statusAtRunpod(world, pod), "EXITED");
    await turnAfter(world, 5);
    assert.deepEqual(asked(world), []);
    assert.deepEqual(events(world), ["pod.started", "pod.stopped"]);
  });
});

Deno.test("the schedule keeps a pod through overlapping sessions and stops it after the last", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const first = addSession(world, pod, 0, 60);
    const second = addSession(world, pod, 30, 60);
    const third = addSession(world, pod, 100, 30);
    await turnAfter(world, 0);
    assert.deepEqual(asked(world), [`start ${pod}`]);
    for (let minute = 5; minute < 130; minute += 5) await turnAfter(world, 5);
    assert.deepEqual(asked(world), []);
    assert.deepEqual([first, second, third].map((id) => state(world, id)), [
      "done started finished",
      "done started finished",
      "running started",
    ]);
    await turnAfter(world, 5);
    assert.deepEqual(asked(world), [`stop ${pod}`]);
  });
});

Deno.test("the schedule stops a running pod after its session and leaves others alone", async () => {
  await inWorld({}, async (world) => {
    const pod = await createRunningPod(world);
    const other = await createRunningPod(world);
    asked(world);
    const session = addSession(world, pod, 0, 30);
    await turnAfter(world, 0);
    assert.deepEqual(asked(world), []);
    assert.equal(state(world, session), "running started");
    await turnAfter(world, 30);
    assert.deepEqual(asked(world), [`stop ${pod}`]);
    assert.equal(await statusAtRunpod(world, other), "RUNNING");
  });
});

Deno.test("the schedule respects an officer's stop during a session, and one that comes right before its own", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const session = addSession(world, pod, 0, 60);
    await turnAfter(world, 0);
    const stop = () => world.call("POST", `${ORG}/pods/${pod}/action`, { as: "officer", body: { action: "stop" } });
    assert.equal((await stop()).status, 200);
    asked(world);
    for (let minute = 0; minute < 60; minute += 5) await turnAfter(world, 5);
    assert.deepEqual(asked(world), []);
    assert.equal(state(world, session), "done started finished");
  });
});

/** A fetch that lets the calls that change something wait while it is held. */
function holding() {
  let hold: Promise<void> | null = null;
  let release = () => {};
  return {
    fetch: (inner: typeof globalThis.fetch): typeof globalThis.fetch => async (input, init) => {
      if (hold !== null && init?.method === "POST") await hold;
      return await inner(input, init);
    },
    hold: () => hold = new Promise((resolve) => release = resolve),
    release() {
      hold = null;
      release();
    },
  };
}

Deno.test("the schedule decides on what is true when its turn comes: a stop on its way is waited for", async () => {
  const gate = holding();
  await inWorld(gate, async (world) => {
    const pod = await createRunningPod(world);
    addSession(world, pod, 0, 30);
    await turnAfter(world, 0);
    world.clock.advance(30 * MINUTE);
    asked(world);
    gate.hold();
    const stop = world.call("POST", `${ORG}/pods/${pod}/action`, { as: "officer", body: { action: "stop" } });
    const sent = "select 1 from compute_intents where action = 'stop' and state = 'sent'";
    await eventually(() => world.db.get(sent) !== undefined, "the stop is on its way");
    const turns = Promise.all([world.app.jobs.schedule.turn(), world.app.jobs.schedule.turn()]);
    world.clock.advance(1_000);
    gate.release();
    assert.equal((await stop).status, 200);
    await turns;
    assert.deepEqual(asked(world), [`stop ${pod}`]);
  });
});

Deno.test("the schedule stops the pod of a session that was deleted while it ran", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const session = addSession(world, pod, 0, 60);
    await turnAfter(world, 0);
    const path = `${ORG}/pods/${pod}/sessions/${session}`;
    assert.equal((await world.call("DELETE", path, { as: "officer" })).status, 200);
    asked(world);
    await turnAfter(world, 5);
    assert.deepEqual(asked(world), [`stop ${pod}`]);
    assert.equal(await statusAtRunpod(world, pod), "EXITED");
  });
});

Deno.test("the schedule stops a pod whose session was deleted while the pod was being started", async () => {
  const gate = holding();
  await inWorld(gate, async (world) => {
    const pod = await stoppedPod(world);
    const session = addSession(world, pod, 0, 60);
    gate.hold();
    const turn = world.app.jobs.schedule.turn();
    await eventually(() => sessionRow(world, session)!.state === "starting", "the pod is being started");
    const deleted = world.call("DELETE", `${ORG}/pods/${pod}/sessions/${session}`, { as: "officer" });
    gate.release();
    await turn;
    assert.equal((await deleted).status, 200);
    await turnAfter(world, 5);
    assert.equal(await statusAtRunpod(world, pod), "EXITED");
  });
});

Deno.test("the schedule tries a refused start again on each turn, tells it once, and ends with the window", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world, { use_cpu_only: false, cloud_type: "SECURE" });
    const session = addSession(world, pod, 0, 20);
    world.runpod.faults.on({ fault: "F27", variant: "problem" });
    for (let minute = 0; minute < 20; minute += 5) {
      await turnAfter(world, minute === 0 ? 0 : 5);
      assert.deepEqual(asked(world), [`start ${pod}`]);
    }
    assert.equal(state(world, session), "starting");
    assert.match(sessionRow(world, session)!.error!, /^The start did not succeed: .*not enough free GPUs/);
    assert.deepEqual(events(world), ["session.failed"]);
    await turnAfter(world, 5);
    assert.deepEqual(asked(world), []);
    assert.equal(state(world, session), "failed finished");
    assert.deepEqual(events(world), ["session.failed", "session.failed"]);
    const details = world.db.all<{ details: string }>("select details from events order by id").map((one) =>
      JSON.parse(one.details)
    );
    assert.deepEqual(details.map((one) => [one.tried_again, one.what_happens]), [
      [true, `The start is tried again every 5 minutes until ${details[0].stop_at}`],
      [false, "Nothing is tried any more"],
    ]);
  });
});

Deno.test("a session whose start was never stored, because the program ended, is done once its pod is stopped", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const session = addSession(world, pod, 0, 60);
    const asked = "update compute_sessions set state = 'starting', starting_at = ? where id = ?";
    world.db.run(asked, world.clock.now(), session);
    const start = { as: "officer", body: { action: "start" } } as const;
    assert.equal((await world.call("POST", `${ORG}/pods/${pod}/action`, start)).status, 200);
    await turnAfter(world, 61);
    assert.equal(await statusAtRunpod(world, pod), "EXITED");
    assert.equal(state(world, session), "done started finished");
    assert.deepEqual(events(world), ["pod.started", "pod.stopped"]);
  });
});

Deno.test("the schedule stops a pod again that came up without its GPU, and starts it when there is one", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world, { use_cpu_only: false, cloud_type: "SECURE" });
    const session = addSession(world, pod, 0, 60);
    world.runpod.faults.on({ fault: "F28", variant: "zero", times: 1 });
    await turnAfter(world, 0);
    assert.deepEqual(asked(world), [`start ${pod}`, `stop ${pod}`]);
    assert.equal(state(world, session), "starting");
    assert.match(sessionRow(world, session)!.error!, /started without its GPU.* was stopped again/);
    await turnAfter(world, 5);
    assert.deepEqual(asked(world), [`start ${pod}`]);
    assert.equal(state(world, session), "starting started");
    assert.equal(sessionRow(world, session)!.error, null);
  });
});

Deno.test("the schedule puts a fresh pod in the place of one whose GPU is taken, where the session says so", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world, { use_cpu_only: false, cloud_type: "SECURE", env: { HF_HOME: "/x" } });
    const session = addSession(world, pod, 0, 60, { onGpuTaken: "fresh_pod" });
    world.runpod.faults.on({ fault: "F27", variant: "problem", times: 1 });
    await turnAfter(world, 0);
    const calls = asked(world);
    assert.deepEqual(calls, [`start ${pod}`, "POST"]);
    assert.equal(state(world, session), "starting started");
    const { pods } = (await world.call("GET", `${ORG}/pods`, { as: "officer" })).json;
    assert.equal(pods.length, 1);
    assert.notEqual(pods[0].id, pod);
    const fresh = world.runpod.pods.get(pods[0].id);
    assert.equal(fresh.env["HF_HOME"], "/x");
    for (const _ of [1, 2]) {
      world.clock.advance(MINUTE);
      await world.app.jobs.settle();
    }
    assert.throws(() => world.runpod.pods.get(pod));
    // The old id still leads to the pod.
    assert.equal((await world.call("GET", `${ORG}/pods/${pod}`, { as: "officer" })).json.pod.id, pods[0].id);
    world.clock.advance(60 * MINUTE);
    await world.app.jobs.schedule.turn();
    assert.equal(await statusAtRunpod(world, pods[0].id), "EXITED");
  });
});

Deno.test("the schedule does its missed stop after an outage of RunPod, and no start whose window is over", async () => {
  await inWorld(AT_ONCE, async (world) => {
    const running = await createRunningPod(world);
    const stopped = await stoppedPod(world);
    const first = addSession(world, running, 0, 30);
    const second = addSession(world, stopped, 25, 20);
    await turnAfter(world, 0);
    asked(world);
    world.runpod.faults.on({ fault: "F34", variant: "refused-like" });
    for (let minute = 0; minute < 60; minute += 10) await turnAfter(world, 10);
    assert.equal(await statusAtRunpod(world, running), "runpod_unavailable");
    assert.equal(state(world, second), "starting");
    world.runpod.faults.off("F34");
    asked(world);
    await world.app.jobs.settle();
    await turnAfter(world, 10);
    await world.app.jobs.settle();
    await turnAfter(world, 5);
    assert.equal(world.runpod.pods.get(running).phase, "exited");
    assert.equal(world.runpod.pods.get(stopped).phase, "exited");
    assert.equal(state(world, first), "done started finished");
    assert.equal(state(world, second), "failed finished");
    assert.equal(asked(world).filter((one) => one.startsWith("start")).length, 0);
  });
});

Deno.test("one pod whose answers hang does not keep the others from their sessions", async () => {
  let slow = "";
  const fetch = (inner: typeof globalThis.fetch): typeof globalThis.fetch => (input, init) =>
    slow !== "" && String(input).includes(`${slow}/action`)
      ? new Promise((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(new DOMException("Aborted", "AbortError")))
      )
      : inner(input, init);
  await inWorld({ ...AT_ONCE, fetch }, async (world) => {
    const [first, second] = [await stoppedPod(world), await stoppedPod(world)];
    const stuck = addSession(world, first, 0, 60);
    addSession(world, second, 0, 60);
    slow = first;
    const turn = world.app.jobs.schedule.turn();
    await eventually(() => world.runpod.pods.get(second).phase === "up", "the other pod is started");
    await turn;
    assert.match(sessionRow(world, stuck)!.error!, /not known yet/);
  });
});

Deno.test("a pod that is terminated or lost during its session ends the session, and nothing is asked of it", async () => {
  await inWorld({}, async (world) => {
    const [terminated, lost] = [await createRunningPod(world), await createRunningPod(world)];
    const first = addSession(world, terminated, 0, 60);
    const second = addSession(world, lost, 0, 60);
    await turnAfter(world, 0);
    const body = { action: "terminate" };
    await world.call("POST", `${ORG}/pods/${terminated}/action`, { as: "officer", body });
    world.runpod.pods.deleteOutside(lost);
    asked(world);
    await turnAfter(world, 5);
    await turnAfter(world, 5);
    assert.deepEqual(asked(world), []);
    assert.equal(state(world, first), "done started finished");
    assert.equal(state(world, second), "failed started finished");
    assert.match(sessionRow(world, second)!.error!, /RunPod no longer has the pod/);
  });
});

Deno.test("the last turn of an org is told, with the pods that failed", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    addSession(world, pod, 0, 60);
    world.runpod.faults.on({ fault: "F27", variant: "other", times: 1 });
    await turnAfter(world, 0);
    const { paused, last_run } = (await world.call("GET", `${ORG}/schedule`, { as: "officer" })).json;
    assert.equal(paused, null);
    assert.deepEqual({ ...last_run, at: "" }, { at: "", ok: false, started: [], stopped: [], failed: [pod] });
  });
});

Deno.test("the schedule starts a pod again whose start RunPod accepted and never carried out", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const session = addSession(world, pod, 0, 60);
    world.runpod.faults.on({ fault: "F29", variant: "200-but-not-yet", ms: 24 * 60 * MINUTE, times: 1 });
    await turnAfter(world, 0);
    assert.equal(state(world, session), "starting started");
    await turnAfter(world, 5);
    await turnAfter(world, 5);
    assert.equal(await statusAtRunpod(world, pod), "RUNNING");
    assert.equal(state(world, session), "running started");
    assert.deepEqual(asked(world), [`start ${pod}`, `start ${pod}`]);
  });
});
