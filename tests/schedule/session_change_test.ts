import assert from "node:assert/strict";
import { HOUR, isoTime, MINUTE, SECOND } from "../../server/clock.ts";
import { type ClockedWorld, inWorld, refused } from "../pods/support.ts";
import { eventually } from "../support/world.ts";
import {
  added,
  auditOf,
  between,
  extend,
  inMinutes,
  markFinished,
  markStarted,
  onSession,
  stoppedPod,
} from "./session_support.ts";
import { statusAtRunpod } from "./support.ts";

/** A stopped pod with a session from one hour to three hours from now. */
function withSession(test: (world: ClockedWorld, pod: string, id: number) => Promise<void>): Promise<void> {
  return inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    await test(world, pod, (await added(world, pod, between(world, 60, 180, { title: "Workshop" }))).id);
  });
}

Deno.test("PUT changes what it names and nothing else, and is audited", () =>
  withSession(async (world, pod, id) => {
    const before = (await onSession(world, "GET", pod, id)).json.session;
    const change = { title: null, stop_at: isoTime(world.clock.now() + 4 * HOUR), over_budget: true };
    const answer = await onSession(world, "PUT", pod, id, change);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.json.session, { ...before, ...change });
    const [row] = auditOf(world);
    assert.equal(row.action, "PUT /api/compute/:org/pods/:id/sessions/:session");
    const { start_at, stop_at } = before;
    assert.deepEqual(row.details.before, { id, start_at, stop_at });
    assert.deepEqual(row.details.sessions, [{ id, start_at, stop_at: change.stop_at }]);
  }));

Deno.test("PUT checks the rules again and leaves the session as it was", () =>
  withSession(async (world, pod, id) => {
    const before = (await onSession(world, "GET", pod, id)).json;
    const sentences: [Record<string, unknown>, string][] = [
      [{}, "Send title, start_at, stop_at, over_budget or on_gpu_taken"],
      [{ start_at: inMinutes(world, 180) }, "stop_at must be after start_at"],
      [{ stop_at: inMinutes(world, 60 + 24 * 60 + 1) }, "A session can be at most 24 hours long"],
      [{ start_at: inMinutes(world, -60), stop_at: inMinutes(world, 0) }, "stop_at is in the past"],
      [{ title: 7 }, "title must be text of at most 200 characters"],
      [{ repeat: { every_weeks: 1, count: 2, time_zone: "UTC" } }, "Unknown field: repeat"],
    ];
    for (const [body, sentence] of sentences) {
      refused(await onSession(world, "PUT", pod, id, body), 400, "invalid_request", sentence);
    }
    assert.deepEqual((await onSession(world, "GET", pod, id)).json, before);
    refused(await onSession(world, "PUT", pod, 999, { title: "x" }), 404, "session_not_found", "Session not found");
    assert.equal(auditOf(world).length, 1);
  }));

Deno.test("PUT moves the stop of a session that has started, never its start, and nothing of a finished one", () =>
  withSession(async (world, pod, id) => {
    markStarted(world, id);
    const moved = { start_at: inMinutes(world, 90) };
    refused(
      await onSession(world, "PUT", pod, id, moved),
      409,
      "conflict",
      "The session has started, so its start_at cannot be changed; change stop_at",
    );
    const stop = await onSession(world, "PUT", pod, id, {
      start_at: inMinutes(world, 60),
      stop_at: inMinutes(world, 70),
    });
    assert.equal(stop.status, 200, stop.text);
    markFinished(world, id);
    for (const body of [{ title: "x" }, moved]) {
      refused(await onSession(world, "PUT", pod, id, body), 409, "conflict", "The session is over; add a new one");
    }
  }));

Deno.test("PUT of another time clears what the schedule noted about the old one", () =>
  withSession(async (world, pod, id) => {
    const fail = (more: string) =>
      world.db.run(
        `update compute_sessions set error = 'No', error_at = 1, failing_since = 1, starting_at = 1, ${more}`,
      );
    const noted = () => world.db.get("select state, error, failing_since, starting_at from compute_sessions");
    fail("state = 'starting'");
    await onSession(world, "PUT", pod, id, { title: "x", over_budget: true });
    assert.deepEqual({ ...noted() }, { state: "starting", error: "No", failing_since: 1, starting_at: 1 });
    await onSession(world, "PUT", pod, id, { start_at: inMinutes(world, 120) });
    assert.deepEqual({ ...noted() }, { state: "scheduled", error: null, failing_since: null, starting_at: null });
    fail("state = 'running', started = 1");
    await onSession(world, "PUT", pod, id, { stop_at: inMinutes(world, 240) });
    assert.deepEqual({ ...noted() }, { state: "running", error: null, failing_since: null, starting_at: 1 });
  }));

Deno.test("extend puts the stop off, by 120 minutes in all, and says how many are left", () =>
  withSession(async (world, pod, id) => {
    const stopAt = world.clock.now() + 3 * HOUR;
    markStarted(world, id);
    const first = await extend(world, pod, id, 50);
    assert.equal(first.status, 200, first.text);
    assert.deepEqual([first.json.session.stop_at, first.json.session.extended_minutes], [
      isoTime(stopAt + 50 * MINUTE),
      50,
    ]);
    const most = "A session can be extended by at most 120 minutes in all: ";
    refused(await extend(world, pod, id, 71), 409, "conflict", `${most}70 are left`);
    assert.equal((await extend(world, pod, id, 69)).status, 200);
    refused(await extend(world, pod, id, 2), 409, "conflict", `${most}1 is left`);
    assert.equal((await extend(world, pod, id, 1)).json.session.stop_at, isoTime(stopAt + 2 * HOUR));
    refused(await extend(world, pod, id, 1), 409, "conflict", `${most}none are left`);
    for (const minutes of [0, 121, 1.5, "30", null, undefined, -5]) {
      const sentence = "minutes must be a whole number from 1 to 120";
      refused(await extend(world, pod, id, minutes), 400, "invalid_request", sentence);
    }
    const rows = auditOf(world).filter((row) => row.action.endsWith("/extend"));
    assert.deepEqual(rows.map((row) => [row.details.minutes, row.details.extended]), [[1, 120], [69, 119], [50, 50]]);
  }));

Deno.test("extend is for a session within its time or started, and not for one that is over", () =>
  withSession(async (world, pod, id) => {
    const early = "The session has not begun yet; change its stop_at instead";
    refused(await extend(world, pod, id, 30), 409, "conflict", early);
    world.clock.advance(HOUR);
    assert.equal((await extend(world, pod, id, 10)).status, 200);
    world.clock.advance(2 * HOUR + 15 * MINUTE);
    const never = "The time of the session is over and it never started; add a new one";
    refused(await extend(world, pod, id, 30), 409, "conflict", never);
    markStarted(world, id);
    refused(await extend(world, pod, id, 5), 409, "conflict", /^The session would have ended at .* extend it by more$/);
    assert.equal((await extend(world, pod, id, 6)).status, 200);
    markFinished(world, id);
    refused(await extend(world, pod, id, 30), 409, "conflict", "The session is over; add a new one");
  }));

Deno.test("extend may make a session longer than 24 hours", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const { id } = await added(world, pod, between(world, 0, 24 * 60));
    const answer = await extend(world, pod, id, 120);
    assert.equal(answer.json.session.stop_at, isoTime(world.clock.now() + 26 * HOUR));
    assert.equal((await onSession(world, "PUT", pod, id, { title: "Long" })).status, 200);
  }));

Deno.test("DELETE removes a session that has not started and one that is over", () =>
  withSession(async (world, pod, id) => {
    const answer = await onSession(world, "DELETE", pod, id);
    assert.deepEqual([answer.status, answer.json], [200, { deleted: id }]);
    refused(await onSession(world, "GET", pod, id), 404, "session_not_found", "Session not found");
    refused(await onSession(world, "DELETE", pod, id), 404, "session_not_found", "Session not found");
    const [row] = auditOf(world);
    assert.equal(row.action, "DELETE /api/compute/:org/pods/:id/sessions/:session");
    assert.deepEqual([row.details.deleted, row.details.sessions[0].id], ["removed", id]);
    const over = (await added(world, pod, between(world, 60, 120))).id;
    markStarted(world, over);
    markFinished(world, over);
    assert.equal((await onSession(world, "DELETE", pod, over)).status, 200);
    assert.equal((await onSession(world, "GET", pod, over)).status, 404);
  }));

Deno.test("DELETE ends a session that runs now, and leaves its stop to the schedule", () =>
  withSession(async (world, pod, id) => {
    markStarted(world, id);
    assert.deepEqual((await onSession(world, "DELETE", pod, id)).json, { deleted: id });
    const { session } = (await onSession(world, "GET", pod, id)).json;
    assert.deepEqual([session.stop_at, session.started, session.finished], [isoTime(world.clock.now()), true, false]);
    assert.equal(auditOf(world)[0].details.deleted, "ends now");
    // One whose time was over already does not end later by it.
    world.clock.advance(HOUR);
    await onSession(world, "DELETE", pod, id);
    const again = (await onSession(world, "GET", pod, id)).json.session;
    assert.equal(again.stop_at, session.stop_at);
  }));

Deno.test("DELETE while the pod starts for the session keeps it, so that the pod is stopped; a refused start leaves nothing", () =>
  withSession(async (world, pod, id) => {
    world.db.run("update compute_sessions set starting_at = 1, state = 'starting'");
    world.db.run("update compute_pods set status = 'STARTING' where runpod_id = ?", pod);
    await onSession(world, "DELETE", pod, id);
    const kept = (await onSession(world, "GET", pod, id)).json.session;
    assert.deepEqual([kept.started, kept.stop_at], [true, isoTime(world.clock.now())]);
    const refusedStart = (await added(world, pod, between(world, 60, 120))).id;
    world.db.run("update compute_sessions set starting_at = 1, state = 'starting' where id = ?", refusedStart);
    world.db.run("update compute_pods set status = 'EXITED' where runpod_id = ?", pod);
    await onSession(world, "DELETE", pod, refusedStart);
    assert.equal((await onSession(world, "GET", pod, refusedStart)).status, 404);
  }));

/** Holds an action that RunPod is asked for until it is let go. */
function holdAction(action: "start" | "stop") {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => letGo = resolve);
  let isOn = false;
  let held = false;
  const wrap = (inner: typeof fetch): typeof fetch =>
    (async (input: Request, init?: RequestInit) => {
      const request = new Request(input, init);
      if (request.method === "POST" && (await request.clone().text()).includes(`"${action}"`) && isOn) {
        held = true;
        await released;
      }
      return await inner(request);
    }) as typeof fetch;
  return { wrap, letGo, isHeld: () => held, on: () => void (isOn = true) };
}

Deno.test("a session that is deleted while RunPod is asked to start its pod still ends with a stop", () => {
  const hold = holdAction("start");
  return inWorld({ fetch: hold.wrap }, async (world) => {
    const pod = await stoppedPod(world);
    const { id } = await added(world, pod, between(world, 5, 60));
    hold.on();
    const turn = world.app.jobs.schedule.turn();
    await eventually(hold.isHeld, "RunPod is asked");
    let isDone = false;
    const deletion = onSession(world, "DELETE", pod, id).finally(() => isDone = true);
    // Requests that came in later are answered, and this one waits until it is known what became of the start.
    for (let n = 0; n < 3; n++) assert.equal((await onSession(world, "GET", pod, id)).json.session.state, "starting");
    assert.equal(isDone, false);
    world.clock.advance(SECOND);
    hold.letGo();
    await turn;
    assert.equal((await deletion).status, 200);
    const { session } = (await onSession(world, "GET", pod, id)).json;
    assert.deepEqual([session.started, session.stop_at], [true, isoTime(world.clock.now())]);
    world.clock.advance(5 * MINUTE);
    await world.app.jobs.schedule.turn();
    assert.equal((await onSession(world, "GET", pod, id)).json.session.state, "done");
    assert.equal(await statusAtRunpod(world, pod), "EXITED");
  });
});

Deno.test("a session cannot be put off while RunPod is asked to stop its pod", () => {
  const hold = holdAction("stop");
  return inWorld({ fetch: hold.wrap }, async (world) => {
    const pod = await stoppedPod(world);
    const { id } = await added(world, pod, between(world, 5, 60));
    await world.app.jobs.schedule.turn();
    world.clock.advance(HOUR);
    hold.on();
    const turn = world.app.jobs.schedule.turn();
    await eventually(hold.isHeld, "RunPod is asked");
    const tries = [extend(world, pod, id, 30), onSession(world, "PUT", pod, id, { stop_at: inMinutes(world, 30) })];
    for (let n = 0; n < 3; n++) assert.equal((await onSession(world, "GET", pod, id)).json.session.finished, false);
    hold.letGo();
    await turn;
    for (const answer of await Promise.all(tries)) {
      refused(answer, 409, "conflict", "The session is over; add a new one");
    }
  });
});
