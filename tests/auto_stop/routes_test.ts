import assert from "node:assert/strict";
import { HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import { act, type ClockedWorld, create, inWorld, ORG, refused } from "../pods/support.ts";
import { createRunningPod, eventually } from "../support/world.ts";
import { pass, storedPod } from "./support.ts";

const AUTO_STOP =
  "auto_stop_after_minutes must be a whole number from 5 to 10080, 0 for never, or null for the organization's rule";
const MAX_RUN = "max_run_hours must be a whole number from 1 to 744, 0 for never, or null for the organization's rule";

Deno.test("PUT of a pod takes its own rules for stops, shows and audits them", () =>
  inWorld({}, async (world) => {
    const id: string = (await create(world)).json.pod.id;
    const put = (body: unknown) => world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body });
    const first = await put({ auto_stop_after_minutes: 30, max_run_hours: 0 });
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([first.json.pod.auto_stop_after_minutes, first.json.pod.max_run_hours], [30, 0]);
    const second = await put({ max_run_hours: 744 });
    assert.deepEqual([second.json.pod.auto_stop_after_minutes, second.json.pod.max_run_hours], [30, 744]);
    const third = await put({ auto_stop_after_minutes: null, is_public: true });
    assert.deepEqual([third.json.pod.auto_stop_after_minutes, third.json.pod.is_public], [null, true]);
    const details = world.db.all<{ details: string }>(
      "select details from audit_log where action like 'PUT %/pods/:id'",
    )
      .map((row) => JSON.parse(row.details));
    assert.deepEqual(details.map((one) => [one.auto_stop_after_minutes, one.max_run_hours]), [
      [30, 0],
      [undefined, 744],
      [null, undefined],
    ]);
    for (const wrong of [4, 10_081, 1.5, -1, "30", true]) {
      refused(await put({ auto_stop_after_minutes: wrong }), 400, "invalid_request", AUTO_STOP);
    }
    for (const wrong of [745, 0.5, -1, "1", []]) {
      refused(await put({ max_run_hours: wrong }), 400, "invalid_request", MAX_RUN);
    }
    refused(await put({}), 400, "invalid_request", "Send is_public or allowed_users");
  }));

Deno.test("POST keep puts stops off from now on, answers until when, and is audited", () =>
  inWorld({}, async (world) => {
    const id: string = (await create(world)).json.pod.id;
    const keep = (body: unknown, pod = id) => world.call("POST", `${ORG}/pods/${pod}/keep`, { as: "officer", body });
    const until = () => isoTime(world.clock.now() + 90 * MINUTE);
    for (let again = 0; again < 2; again++) {
      const answer = await keep({ minutes: 90 });
      assert.deepEqual([answer.status, answer.json], [200, { id, keep_until: until(), warnings: [] }]);
      world.clock.advance(MINUTE);
    }
    const rows = world.db.all<{ pod_id: string; details: string; actor_kind: string }>(
      "select pod_id, details, actor_kind from audit_log where action like '%/keep'",
    );
    assert.deepEqual(rows.map((row) => [row.pod_id, row.actor_kind, JSON.parse(row.details).minutes]), [
      [id, "officer", 90],
      [id, "officer", 90],
    ]);
    for (const wrong of [0, 1_441, 1.5, "90", null]) {
      const sentence = "minutes must be a whole number from 1 to 1440";
      refused(await keep({ minutes: wrong }), 400, "invalid_request", sentence);
    }
    refused(await keep({ minutes: 90, why: "x" }), 400, "invalid_request", "Unknown field: why");
    refused(await keep({ minutes: 90 }, "nosuch"), 404, "pod_not_found");
  }));

Deno.test("POST keep of a pod that is stopped is 409", () =>
  inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    assert.equal((await act(world, id, "stop")).status, 200);
    const answer = await world.call("POST", `${ORG}/pods/${id}/keep`, { as: "officer", body: { minutes: 5 } });
    const sentence = "The pod is not running (EXITED), so there is no stop to put off; start it";
    refused(answer, 409, "conflict", sentence);
    assert.equal(storedPod(world).keep_until, null);
  }));

/** Calls to RunPod that change something wait while it is held, and all calls fail while it is cut. */
function lossy() {
  let held: PromiseWithResolvers<void> | null = null;
  const line = { isCut: false, isHeld: false };
  return {
    line,
    hold: () => void (held = Promise.withResolvers()),
    letGo: () => held?.resolve(),
    fetch: (inner: typeof fetch) =>
      (async (input: Request | URL | string, init?: RequestInit) => {
        const request = new Request(input as Request, init);
        const { pathname } = new URL(request.url);
        if (held !== null && pathname.endsWith("/action")) {
          line.isHeld = true;
          await held.promise;
        }
        if (line.isCut && pathname.startsWith("/v2/")) throw new TypeError("connection closed");
        return await inner(request);
      }) as typeof fetch,
  };
}

async function ranTooLong(world: ClockedWorld): Promise<string> {
  const id = await createRunningPod(world);
  await pass(world, 24 * HOUR, HOUR);
  return id;
}

Deno.test("POST keep waits for a stop that is on its way, and says that it came too late", () => {
  const { fetch, line, hold, letGo } = lossy();
  return inWorld({ fetch }, async (world) => {
    const id = await ranTooLong(world);
    hold();
    const turn = world.app.jobs.autoStop.stops.turn();
    await eventually(() => line.isHeld, "RunPod is asked");
    const kept = world.call("POST", `${ORG}/pods/${id}/keep`, { as: "officer", body: { minutes: 60 } });
    letGo();
    await turn;
    refused(await kept, 409, "conflict", /^The pod is not running/);
  });
});

Deno.test("a pod that is kept after its stop got lost is not stopped: the stop is not repeated", () => {
  const { fetch, line } = lossy();
  return inWorld({ runpodLimits: { attempts: 1, callMs: 500 }, fetch }, async (world) => {
    const id = await ranTooLong(world);
    line.isCut = true;
    await world.app.jobs.autoStop.stops.turn();
    const kept = await world.call("POST", `${ORG}/pods/${id}/keep`, { as: "officer", body: { minutes: 120 } });
    assert.equal(kept.status, 200, kept.text);
    assert.match(
      kept.json.warnings[0],
      /^The pod was asked to stop before this, and it is not known yet whether it did/,
    );
    line.isCut = false;
    for (let look = 0; look < 4; look++) {
      world.clock.advance(20_000);
      await world.app.jobs.settle();
      await world.app.jobs.autoStop.stops.turn();
    }
    assert.equal(world.runpod.pods.get(id).phase, "up");
    const again = await world.call("POST", `${ORG}/pods/${id}/keep`, { as: "officer", body: { minutes: 120 } });
    assert.deepEqual(again.json.warnings, [], "the lost stop is settled");
    await pass(world, 121 * MINUTE, 20 * MINUTE);
    await world.app.jobs.autoStop.stops.turn();
    assert.equal(world.runpod.pods.get(id).phase, "exited");
  });
});
