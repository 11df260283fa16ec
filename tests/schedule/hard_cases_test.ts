/** Cases in which several things go wrong together, each found by trying to make a pod run on unseen. */
import assert from "node:assert/strict";
import { HOUR, MINUTE } from "../../server/clock.ts";
import { act, type ClockedWorld, inWorld, ORG, refreshed } from "../pods/support.ts";
import { QUICK } from "../spend/support.ts";
import { createRunningPod } from "../support/world.ts";
import { addSession, asked, AT_ONCE, sessionRow, turnAfter } from "./support.ts";

async function stoppedPod(world: ClockedWorld, body: Record<string, unknown> = {}): Promise<string> {
  const id = await createRunningPod(world, body);
  assert.equal((await act(world, id, "stop")).status, 200);
  world.clock.advance(20 * MINUTE);
  asked(world);
  return id;
}

const GPU = { use_cpu_only: false, cloud_type: "SECURE" };

const state = (world: ClockedWorld, id: number) => {
  const row = sessionRow(world, id)!;
  return `${row.state}${row.started === 1 ? " started" : ""}${row.finished === 1 ? " finished" : ""}`;
};

/** A fetch that refuses stops while `refuse.stops` is set. */
function refusingStops(refuse: { stops: boolean }) {
  return (inner: typeof fetch) =>
    (async (input: Request | URL | string, init?: RequestInit) => {
      const request = new Request(input as Request, init);
      const isAction = /\/action$/.test(new URL(request.url).pathname);
      const isStop = refuse.stops && isAction && (await request.clone().text()).includes("stop");
      return isStop ? new Response("{}", { status: 500 }) : await inner(request);
    }) as typeof fetch;
}

Deno.test("the replaced RunPod pod is terminated although its pod was terminated meanwhile", async () => {
  await inWorld({}, async (world) => {
    const old = await stoppedPod(world, GPU);
    addSession(world, old, 0, 60, { onGpuTaken: "fresh_pod" });
    world.runpod.faults.on({ fault: "F27", variant: "problem", times: 1 });
    await turnAfter(world, 0);
    const fresh = (await world.call("GET", `${ORG}/pods`, { as: "officer" })).json.pods[0].id;
    assert.notEqual(fresh, old);
    assert.equal((await act(world, fresh, "terminate")).status, 200);
    for (let i = 0; i < 5; i++) {
      world.clock.advance(MINUTE);
      await world.app.jobs.settle();
      await refreshed(world);
    }
    assert.throws(() => world.runpod.pods.get(old));
  });
});

Deno.test("a lost replacing create does not block later sessions, and the stop of a pod started by hand", async () => {
  await inWorld(AT_ONCE, async (world) => {
    const pod = await stoppedPod(world, GPU);
    addSession(world, pod, 0, 60, { onGpuTaken: "fresh_pod" });
    addSession(world, pod, 24 * 60, 60);
    world.runpod.faults.on({ fault: "F27", variant: "problem", times: 1 });
    world.runpod.faults.on({ fault: "F14", variant: "500", times: 1 });
    await turnAfter(world, 0);
    assert.equal((await act(world, pod, "start")).status, 200);
    for (let m = 0; m < 75; m += 5) {
      await turnAfter(world, 5);
      await world.app.jobs.settle();
    }
    for (let m = 0; m < 24 * 60; m += 30) {
      await turnAfter(world, 30);
      await world.app.jobs.settle();
    }
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
  });
});

Deno.test("later sessions after a lost replacing create are run", async () => {
  await inWorld(AT_ONCE, async (world) => {
    const pod = await stoppedPod(world, GPU);
    addSession(world, pod, 0, 60, { onGpuTaken: "fresh_pod" });
    const later = addSession(world, pod, 24 * 60, 60);
    world.runpod.faults.on({ fault: "F27", variant: "problem", times: 1 });
    world.runpod.faults.on({ fault: "F14", variant: "500", times: 1 });
    await turnAfter(world, 0);
    asked(world);
    for (let m = 0; m < 26 * 60; m += 10) {
      await turnAfter(world, 10);
      if (m % 60 === 0) await world.app.jobs.settle();
    }
    assert.equal(state(world, later), "done started finished");
  });
});

Deno.test("an org that was switched off starts no pods by itself", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    addSession(world, pod, 15, 60);
    const off = await world.call("PATCH", "/api/operator/orgs/org", {
      as: "operator",
      body: { is_active: false, force: true },
    });
    assert.equal(off.status, 200);
    await turnAfter(world, 6);
    assert.deepEqual(asked(world), []);
    assert.notEqual(world.runpod.pods.get(pod).phase, "up");
  });
});

Deno.test("a replaced pod that still runs does not run on unseen when its pod is terminated", async () => {
  const refuse = { stops: false };
  await inWorld({ ...AT_ONCE, fetch: refusingStops(refuse) }, async (world) => {
    const old = await stoppedPod(world, GPU);
    addSession(world, old, 0, 60, { onGpuTaken: "fresh_pod" });
    world.runpod.faults.on({ fault: "F28", variant: "zero", times: 1 });
    refuse.stops = true;
    await turnAfter(world, 0);
    refuse.stops = false;
    const fresh = (await world.call("GET", `${ORG}/pods`, { as: "officer" })).json.pods[0].id;
    assert.notEqual(fresh, old);
    assert.equal((await act(world, fresh, "terminate")).status, 200);
    for (let i = 0; i < 60; i++) {
      world.clock.advance(MINUTE);
      await world.app.jobs.settle();
      await refreshed(world);
    }
    assert.deepEqual(world.runpod.pods.list(), []);
  });
});

Deno.test("a restart of the container between stop_at and the turn does not make the pod somebody's own", async () => {
  await inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const session = addSession(world, pod, 0, 60);
    await turnAfter(world, 0);
    for (let m = 0; m < 58; m += 2) {
      world.clock.advance(2 * MINUTE);
      await refreshed(world);
    }
    const stop = sessionRow(world, session)!.stop_at;
    world.clock.advance(stop - world.clock.now() + 20_000);
    await refreshed(world);
    world.runpod.pods.restart(pod);
    world.clock.advance(MINUTE);
    await refreshed(world);
    await turnAfter(world, 2);
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
  });
});

Deno.test("a container that restarts once a day does not run for ever", async () => {
  await inWorld(QUICK, async (world) => {
    const id = await createRunningPod(world);
    for (let h = 0; h < 30; h++) {
      world.clock.advance(HOUR);
      if (h === 22) {
        world.runpod.pods.restart(id);
        world.clock.advance(20_000);
      }
      await refreshed(world);
      await world.app.jobs.autoStop.stops.turn();
    }
    assert.equal(world.runpod.pods.get(id).phase, "exited");
  });
});

Deno.test("a session goes on, and is stopped, after RunPod's list left its pod out for ten seconds", async () => {
  let hide = "";
  await inWorld({
    fetch: (inner) =>
      (async (input: Request | URL | string, init?: RequestInit) => {
        const answer = await inner(input, init);
        const url = new URL(input instanceof Request ? input.url : String(input));
        const method = init?.method ?? (input instanceof Request ? input.method : "GET");
        if (hide === "" || method !== "GET" || url.pathname !== "/v2/pods") return answer;
        const body = await answer.json();
        const list = Array.isArray(body) ? body : body.items ?? body.pods ?? body.data;
        list.splice(0, list.length, ...list.filter((one: { id: string }) => one.id !== hide));
        return new Response(JSON.stringify(body), {
          status: answer.status,
          headers: { "content-type": "application/json" },
        });
      }) as typeof fetch,
  }, async (world) => {
    const pod = await stoppedPod(world);
    addSession(world, pod, 0, 120);
    await turnAfter(world, 0);
    await turnAfter(world, 5);
    hide = pod;
    for (let i = 0; i < 3; i++) {
      world.clock.advance(3_000);
      await world.call("GET", `${ORG}/pods`, { as: "officer" });
    }
    await world.app.jobs.schedule.turn();
    hide = "";
    await turnAfter(world, 5);
    for (let m = 0; m < 150; m += 10) await turnAfter(world, 10);
    assert.equal(world.runpod.pods.get(pod).phase, "exited");
  });
});

Deno.test("a pod without its GPU that could not be stopped is no running session", async () => {
  const refuse = { stops: false };
  await inWorld({ ...AT_ONCE, fetch: refusingStops(refuse) }, async (world) => {
    const pod = await stoppedPod(world, { use_cpu_only: false, cloud_type: "SECURE" });
    const session = addSession(world, pod, 0, 60);
    world.runpod.faults.on({ fault: "F28", variant: "zero", times: 1 });
    refuse.stops = true;
    await turnAfter(world, 0);
    refuse.stops = false;
    await turnAfter(world, 5);
    assert.ok(!/running/.test(state(world, session)));
  });
});
