import assert from "node:assert/strict";
import { isoTime, MINUTE } from "../../server/clock.ts";
import { type ClockedWorld, inWorld, refused } from "../pods/support.ts";
import { createRunningPod } from "../support/world.ts";
import { added, auditOf, between, markFinished, markStarted, onSession, post, stoppedPod } from "./session_support.ts";

/** A stopped pod with a weekly series of four sessions, the first from one hour to two hours from now. */
function withSeries(test: (world: ClockedWorld, pod: string, ids: number[]) => Promise<void>): Promise<void> {
  return inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const repeat = { every_weeks: 1, count: 4, time_zone: "UTC" };
    const made = await post(world, pod, between(world, 60, 120, { title: "Workshop", repeat }));
    assert.equal(made.status, 201, made.text);
    await test(world, pod, made.json.sessions.map((one: { id: number }) => one.id));
  });
}

const left = (world: ClockedWorld): number[] =>
  world.db.all<{ id: number }>("select id from compute_sessions order by id").map((one) => one.id);

Deno.test("DELETE with series removes the unfinished sessions of the series from that one on, under one audit row", () =>
  withSeries(async (world, pod, ids) => {
    const single = (await added(world, pod, between(world, 60, 120))).id;
    const rows = auditOf(world).length;
    const answer = await onSession(world, "DELETE", pod, `${ids[1]}?series=true`);
    assert.deepEqual([answer.status, answer.json], [200, { deleted: ids[1], sessions: ids.slice(1) }]);
    assert.deepEqual(left(world), [ids[0], single]);
    assert.equal(auditOf(world).length, rows + 1);
    const [row] = auditOf(world);
    assert.deepEqual(row.details.sessions.map((one: { id: number }) => one.id), ids.slice(1));
    assert.deepEqual([row.details.deleted, row.details.end_now, row.details.title], ["removed", [], "Workshop"]);
    assert.match(row.details.series_id, /^[0-9a-f-]{36}$/);
  }));

Deno.test("DELETE with series ends the session that runs now, and leaves those that are over", () =>
  withSeries(async (world, pod, ids) => {
    markFinished(world, ids[0]!);
    markStarted(world, ids[1]!);
    const answer = await onSession(world, "DELETE", pod, `${ids[0]}?series=true`);
    assert.deepEqual(answer.json, { deleted: ids[0], sessions: ids.slice(1) });
    assert.deepEqual(left(world), ids.slice(0, 2));
    const running = (await onSession(world, "GET", pod, ids[1]!)).json.session;
    assert.deepEqual([running.stop_at, running.finished], [isoTime(world.clock.now()), false]);
    assert.deepEqual(auditOf(world)[0].details.end_now, [ids[1]]);
  }));

Deno.test("DELETE with series refuses a session without a series, one with nothing left, and another word", () =>
  withSeries(async (world, pod, ids) => {
    const single = (await added(world, pod, between(world, 60, 120))).id;
    const rows = auditOf(world).length;
    const remove = (what: string) => onSession(world, "DELETE", pod, what);
    refused(await remove(`${single}?series=true`), 409, "conflict", /^The session \d+ is not one of a series/);
    refused(await remove(`${ids[0]}?series=yes`), 400, "invalid_request", "series must be true or false");
    refused(await remove("999?series=true"), 404, "session_not_found");
    for (const id of ids) markFinished(world, id);
    refused(await remove(`${ids[0]}?series=true`), 409, "conflict", /the series has no session that is not over$/);
    assert.equal(auditOf(world).length, rows);
    assert.deepEqual((await remove(`${ids[0]}?series=false`)).json, { deleted: ids[0] });
  }));

Deno.test("the schedule stops the pod of a series that is removed while one of its sessions runs", () =>
  inWorld({}, async (world) => {
    const pod = await createRunningPod(world);
    const repeat = { every_weeks: 1, count: 2, time_zone: "UTC" };
    const made = await post(world, pod, between(world, 0, 60, { repeat }));
    await world.app.jobs.schedule.turn();
    assert.equal((await onSession(world, "DELETE", pod, `${made.json.session.id}?series=true`)).status, 200);
    world.clock.advance(5 * MINUTE);
    await world.app.jobs.schedule.turn();
    const [row] = world.db.all<{ state: string; finished: number }>("select state, finished from compute_sessions");
    assert.deepEqual({ ...row }, { state: "done", finished: 1 });
    const { status } = (await world.call("GET", `/api/compute/org/pods/${pod}`, { as: "officer" })).json.pod;
    assert.equal(status, "EXITED");
  }));
