import assert from "node:assert/strict";
import { createRunningPod, eventually, PEOPLE } from "../support/world.ts";
import {
  act,
  attention,
  type ClockedWorld,
  intentsOf,
  inWorld,
  listed,
  ORG,
  refreshed,
  refused,
  requests,
} from "./support.ts";

const actions = (world: ClockedWorld) =>
  world.runpod.requests.flatMap((one) =>
    one.method === "DELETE"
      ? ["terminate"]
      : one.path.endsWith("/action")
      ? [(one.body as { action: string }).action]
      : []
  );

Deno.test("stop, start, restart and terminate reach RunPod once each and are answered with id and action", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.clock.advance(180_000);
    const statuses: string[] = [];
    for (const action of ["restart", "stop", "start", "terminate"]) {
      const answer = await act(world, id, action);
      assert.equal(answer.status, 200, answer.text);
      const loses = action === "stop" || action === "restart";
      const warnings = loses ? ["The pod had no volume: every file on it is lost."] : [];
      assert.deepEqual(answer.json, { id, action, warnings });
      statuses.push((await listed(world))[0]?.status ?? "none");
      world.clock.advance(1_000);
    }
    assert.deepEqual(statuses, ["STARTING", "EXITED", "STARTING", "none"]);
    assert.deepEqual(actions(world), ["restart", "stop", "start", "terminate"]);
    assert.deepEqual(intentsOf(world).map((one) => [one.action, one.state, one.asked_by]), [
      ["create", "done", PEOPLE.officer],
      ["restart", "done", PEOPLE.officer],
      ["stop", "done", PEOPLE.officer],
      ["start", "done", PEOPLE.officer],
      ["terminate", "done", PEOPLE.officer],
    ]);
    const audit = world.db.all<{ details: string; pod_id: string }>(
      "select * from audit_log where action like '%/action'",
    );
    assert.deepEqual(audit.map((row) => JSON.parse(row.details).action), ["restart", "stop", "start", "terminate"]);
    assert.ok(audit.every((row) => row.pod_id === id));
    assert.equal(world.runpod.pods.list().length, 0);
  });
});

Deno.test("an action body is strict and an unknown pod is 404", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const send = (body: unknown, pod = id) => world.call("POST", `${ORG}/pods/${pod}/action`, { as: "officer", body });
    const sentence = "action must be one of start, stop, restart, terminate";
    for (const body of [{}, { action: "reset" }, { action: null }, { action: ["stop"] }]) {
      refused(await send(body), 400, "invalid_request", sentence);
    }
    refused(await send({ action: "stop", force: true }), 400, "invalid_request", "Unknown field: force");
    for (const pod of ["nosuchpod00000", "..%2f..", "x".repeat(65)]) {
      refused(await send({ action: "stop" }, pod), 404, "pod_not_found", "Pod not found");
    }
    assert.deepEqual(actions(world), []);
  });
});

Deno.test("a terminated pod leaves the lists but its certificates and its rows stay, its id is not found", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const row = world.db.get<{ id: string }>("select id from compute_pods")!;
    world.db.run(
      "insert into compute_connections (org_id, pod_id, runpod_id, discord_id, username, is_admin, serial, key_fingerprint, " +
        "ca_fingerprint, valid_after, valid_before, port_forwarding, created_at) " +
        "values (1, ?, ?, '12345', 'bob', 0, '7', 'f', 'c', 0, 1, 0, 1)",
      row.id,
      id,
    );
    world.clock.advance(180_000);
    assert.equal((await act(world, id, "terminate")).status, 200);
    assert.deepEqual(await refreshed(world), []);
    assert.equal(world.db.all("select 1 from compute_connections where serial = '7'").length, 1);
    const kept = world.db.get<{ state: string; terminated_by: string; host: unknown; cost_per_hour: number }>(
      "select * from compute_pods",
    );
    assert.deepEqual([kept?.state, kept?.terminated_by, kept?.host, kept?.cost_per_hour], [
      "terminated",
      PEOPLE.officer,
      null,
      0,
    ]);
    refused(await act(world, id, "terminate"), 404, "pod_not_found");
    assert.deepEqual(await attention(world), []);
  });
});

Deno.test("a pod that RunPod no longer has can be terminated, and a stop of it is refused", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.clock.advance(180_000);
    world.runpod.pods.deleteOutside(id);
    await refreshed(world);
    assert.equal((await refreshed(world))[0].status, "GONE");
    refused(await act(world, id, "stop"), 400, "runpod_refused", /^RunPod answered 404/);
    assert.equal((await refreshed(world))[0].status, "GONE");
    assert.equal((await act(world, id, "terminate")).status, 200);
    assert.deepEqual(await refreshed(world), []);
    assert.deepEqual(await attention(world), []);
  });
});

Deno.test("an action that RunPod refuses with 409 is a success when the pod is as wanted already", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    assert.equal((await act(world, id, "start")).status, 200, "it runs already");
    world.runpod.pods.stop(id);
    assert.equal((await act(world, id, "stop")).status, 200, "it is stopped already");
    assert.equal((await refreshed(world))[0].status, "EXITED");
    const asked = actions(world).length;
    refused(
      await act(world, id, "restart"),
      409,
      "conflict",
      "The pod is stopped, so there is nothing to restart; start it",
    );
    assert.equal(actions(world).length, asked, "RunPod is not asked");
    assert.equal((await act(world, id, "start")).status, 200);
    assert.deepEqual(await attention(world), []);
  });
});

for (const action of ["stop", "restart", "terminate"]) {
  Deno.test(`an action that RunPod refuses with 409 is refused when the pod is not as wanted: ${action}`, async () => {
    await inWorld({}, async (world) => {
      const id = await createRunningPod(world);
      world.clock.advance(180_000);
      world.runpod.faults.on({ fault: "F24", times: 1 });
      refused(await act(world, id, action), 400, "runpod_refused", /^RunPod answered 409: action/);
      assert.equal(intentsOf(world).at(-1)!.state, "failed");
      const [pod] = await refreshed(world);
      assert.deepEqual([pod.id, pod.status], [id, "RUNNING"]);
      assert.deepEqual(await attention(world), []);
    });
  });
}

Deno.test("two actions on one pod go one after the other, on two pods at the same time", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  let holding = "";
  await inWorld({
    fetch: (inner) => async (input, init) => {
      if (holding !== "" && String(input).includes(holding) && init?.method === "POST") await held;
      return await inner(input, init);
    },
  }, async (world) => {
    const first = await createRunningPod(world);
    const second = await createRunningPod(world);
    holding = `/pods/${first}/action`;
    const stopping = act(world, first, "stop");
    const starting = act(world, first, "start");
    assert.equal((await act(world, second, "stop")).status, 200);
    await eventually(
      () => intentsOf(world).some((one) => one.action === "stop" && one.state === "sent"),
      "the stop is sent",
    );
    assert.equal(intentsOf(world).filter((one) => one.action === "start").length, 0, "the start has to wait");
    release();
    assert.equal((await stopping).status, 200);
    assert.equal((await starting).status, 200);
    const sent = world.runpod.requests.filter((one) => one.path.includes(`${first}/action`));
    assert.deepEqual(sent.map((one) => (one.body as { action: string }).action), ["stop", "start"]);
    assert.equal(world.runpod.pods.get(first).phase, "up");
  });
});

Deno.test("an action after one that failed on the same pod is not held up by it", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.runpod.faults.on({ fault: "F24", times: 1 });
    const both = [act(world, id, "stop"), act(world, id, "stop")];
    refused(await both[0]!, 400, "runpod_refused");
    assert.equal((await both[1]!).status, 200);
  });
});

Deno.test("two terminates at once end in one success and one 404", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.clock.advance(180_000);
    const answers = await Promise.all([act(world, id, "terminate"), act(world, id, "terminate")]);
    assert.deepEqual(answers.map((one) => one.status).sort(), [200, 404]);
    assert.equal(requests(world, "DELETE", /./).length, 1);
  });
});

Deno.test("a list that was asked while a stop was on its way does not win over the stop's answer", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  let holding = false;
  await inWorld({
    fetch: (inner) => async (input, init) => {
      const isStop = holding && String(input).endsWith("/action");
      if (isStop) await held;
      return await inner(input, init);
    },
  }, async (world) => {
    const id = await createRunningPod(world);
    holding = true;
    const stopping = act(world, id, "stop");
    await eventually(() => intentsOf(world).at(-1)!.state === "sent", "the stop is on its way");
    world.clock.advance(2_000);
    assert.equal((await listed(world))[0].status, "RUNNING");
    world.clock.advance(500);
    release();
    assert.equal((await stopping).status, 200);
    const stored = world.db.get<{ status: string }>("select status from compute_pods");
    assert.equal(stored?.status, "EXITED");
  });
});
