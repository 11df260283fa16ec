import assert from "node:assert/strict";
import { MINUTE } from "../../server/clock.ts";
import { act, attention, type ClockedWorld, inWorld, ORG, refreshed } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { addSession, events, turnAfter } from "./support.ts";

const podEvents = (world: ClockedWorld) => events(world).filter((kind) => kind.startsWith("pod."));

Deno.test("a stop outside orgpods is told also right after the pod was created or started here", async () => {
  await inWorld({}, async (world) => {
    const pod = await createRunningPod(world);
    world.clock.advance(10_000);
    world.runpod.pods.stop(pod);
    await refreshed(world);
    assert.deepEqual(podEvents(world), ["pod.created", "pod.stopped"]);
    world.clock.advance(10_000);
    assert.equal((await act(world, pod, "start")).status, 200);
    world.clock.advance(10_000);
    await refreshed(world);
    world.runpod.pods.stop(pod);
    world.clock.advance(10_000);
    await refreshed(world);
    assert.deepEqual(podEvents(world), ["pod.created", "pod.stopped", "pod.started", "pod.stopped"]);
    const external = world.db.all("select outcome from audit_log where actor_kind = 'external'");
    assert.deepEqual(external.map((row) => row.outcome), ["stopped", "stopped"]);
  });
});

Deno.test("a session whose pod was stopped outside needs attention, one whose pod an officer stopped does not", async () => {
  await inWorld({}, async (world) => {
    const [outside, byHand] = [await createRunningPod(world), await createRunningPod(world)];
    addSession(world, outside, 0, 60);
    addSession(world, byHand, 0, 60);
    await turnAfter(world, 0);
    world.clock.advance(MINUTE);
    world.runpod.pods.stop(outside);
    assert.equal((await act(world, byHand, "stop")).status, 200);
    world.clock.advance(MINUTE);
    await refreshed(world);
    const entries = await attention(world);
    assert.deepEqual(entries.map((one) => [one.kind, one.pod_id]), [["session_pod_down", outside]]);
    assert.match(entries[0]!.what, /Session 1 \(Workshop\) should be running and its pod is down: Stopped outside/);
  });
});

Deno.test("a session that is refused its start needs attention, and the turn counts as failed", async () => {
  await inWorld({}, async (world) => {
    const pod = await createRunningPod(world);
    assert.equal((await act(world, pod, "stop")).status, 200);
    await world.call("PUT", `${ORG}/module`, { as: "officer", body: { enabled: false, force: true } });
    addSession(world, pod, 0, 60);
    await turnAfter(world, 0);
    await world.call("PUT", `${ORG}/module`, { as: "officer", body: { enabled: true } });
    const [entry] = await attention(world);
    assert.equal(entry?.kind, "session_failing");
    assert.match(entry!.what, /Session 1 \(Workshop\): Compute is switched off/);
    const { last_run } = (await world.call("GET", `${ORG}/schedule`, { as: "officer" })).json;
    assert.deepEqual(last_run.failed, [pod]);
  });
});

Deno.test("an action that finds the pod as wanted says so and raises no event", async () => {
  await inWorld({}, async (world) => {
    const pod = await createRunningPod(world);
    const again = await act(world, pod, "start");
    assert.equal(again.status, 200);
    assert.deepEqual(again.json.warnings, ["Nothing was done: the pod was running already."]);
    assert.deepEqual(podEvents(world), ["pod.created"]);
  });
});
