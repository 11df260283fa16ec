import assert from "node:assert/strict";
import { DAY, HOUR, isoTime } from "../../server/clock.ts";
import { type ClockedWorld, inWorld, ORG, refused } from "../pods/support.ts";
import { createRunningPod, eventually, PEOPLE } from "../support/world.ts";
import {
  added,
  auditOf,
  between,
  inMinutes,
  markFinished,
  markStarted,
  onSession,
  post,
  stoppedPod,
} from "./session_support.ts";

const count = (world: ClockedWorld) => world.db.get<{ n: number }>("select count(*) as n from compute_sessions")!.n;
const list = (world: ClockedWorld, pod: string, query = "") =>
  world.call("GET", `${ORG}/pods/${pod}/sessions${query}`, { as: "officer" });
const ofOrg = (world: ClockedWorld, query = "") => world.call("GET", `${ORG}/sessions${query}`, { as: "officer" });
// deno-lint-ignore no-explicit-any
const ids = (json: any): number[] => json.sessions.map((session: { id: number }) => session.id);

Deno.test("a session is stored, shown whole, and audited", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world, { name: "lab-1" });
    const made = await post(world, pod, between(world, 60, 180, { title: " Workshop " }));
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(Object.keys(made.json), ["session"]);
    const { session } = made.json;
    assert.deepEqual(session, {
      id: session.id,
      pod_id: pod,
      pod_name: "lab-1",
      title: "Workshop",
      start_at: isoTime(world.clock.now() + HOUR),
      stop_at: isoTime(world.clock.now() + 3 * HOUR),
      started: false,
      finished: false,
      state: "scheduled",
      error: null,
      error_at: null,
      todo: null,
      series_id: null,
      extended_minutes: 0,
      over_budget: false,
      on_gpu_taken: "wait",
      created_by: PEOPLE.officer,
      created_at: isoTime(world.clock.now()),
    });
    assert.match(session.start_at, /\+00:00$/);
    assert.deepEqual((await onSession(world, "GET", pod, session.id)).json, { session });
    assert.deepEqual((await list(world, pod)).json, { sessions: [session] });
    const [row] = auditOf(world);
    assert.deepEqual([row.action, row.pod_id, row.status, row.actor_id], [
      "POST /api/compute/:org/pods/:id/sessions",
      pod,
      201,
      PEOPLE.officer,
    ]);
    const { id, start_at, stop_at } = session;
    assert.deepEqual(row.details.sessions, [{ id, start_at, stop_at }]);
  }));

Deno.test("a session that breaks a rule is refused with its sentence, and nothing is stored", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const sentences: [unknown, string][] = [
      [between(world, 60, 60), "stop_at must be after start_at"],
      [between(world, 0, 24 * 60 + 1), "A session can be at most 24 hours long"],
      [between(world, -60, 0), "stop_at is in the past"],
      [between(world, 60, 120, { titel: "Workshop" }), "Unknown field: titel"],
      [[], "Send start_at and stop_at"],
      [null, "Send start_at and stop_at"],
    ];
    for (const [body, sentence] of sentences) refused(await post(world, pod, body), 400, "invalid_request", sentence);
    const other = await world.call("POST", `${ORG}/pods/nosuchpod/sessions`, {
      as: "officer",
      body: between(world, 60, 120),
    });
    refused(other, 404, "pod_not_found", "Pod not found");
    assert.equal(count(world), 0);
    assert.deepEqual(auditOf(world), []);
  }));

Deno.test("a series is that many sessions, each deletable by itself", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    // 30 November 2026: Phoenix is at -07:00 all the year.
    const made = await post(world, pod, {
      start_at: "2026-12-03T18:00-07:00",
      stop_at: "2026-12-03T20:00-07:00",
      title: "Reading group",
      repeat: { every_weeks: 2, count: 3, time_zone: "america/phoenix" },
    });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.json.session, made.json.sessions[0]);
    assert.deepEqual(made.json.sessions.map((one: { start_at: string }) => one.start_at), [
      "2026-12-04T01:00:00+00:00",
      "2026-12-18T01:00:00+00:00",
      "2027-01-01T01:00:00+00:00",
    ]);
    const [first, second, third] = made.json.sessions;
    assert.match(first.series_id, /^[0-9a-f-]{36}$/);
    assert.equal(first.series_id, third.series_id);
    assert.equal((await onSession(world, "DELETE", pod, second.id)).status, 200);
    assert.deepEqual(ids((await list(world, pod)).json), [first.id, third.id]);
    assert.equal(auditOf(world).at(-1).details.sessions.length, 3);
  }));

Deno.test("a series in an unknown zone, or over 100 sessions, stores nothing", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const series = (count: number, time_zone = "Europe/Berlin") =>
      post(world, pod, between(world, 60, 120, { repeat: { every_weeks: 1, count, time_zone } }));
    const mars = await series(2, "Mars/Base");
    refused(mars, 400, "invalid_request", /^repeat\.time_zone is not the name of a time zone: Mars\/Base\. Send/);
    assert.equal((await series(99)).status, 201);
    const most = "A pod can have at most 100 upcoming sessions";
    refused(await series(2), 400, "invalid_request", most);
    assert.equal(count(world), 99);
    assert.equal((await series(1)).json.sessions.length, 1);
    refused(await post(world, pod, between(world, 60, 120)), 400, "invalid_request", most);
    const [last] = (await list(world, pod, "?limit=1")).json.sessions;
    markFinished(world, last.id);
    assert.equal((await post(world, pod, between(world, 60, 120))).status, 201);
  }));

Deno.test("a fresh pod may take the place of one that keeps no files, and of no other", () =>
  inWorld({}, async (world) => {
    const fresh = { on_gpu_taken: "fresh_pod" };
    const bare = await createRunningPod(world, { use_cpu_only: false });
    assert.equal((await added(world, bare, between(world, 60, 120, fresh))).on_gpu_taken, "fresh_pod");
    const keeps = await createRunningPod(world, { use_cpu_only: false, volume_in_gb: 20 });
    const why = /^on_gpu_taken cannot be fresh_pod: the pod keeps its files on a volume of its host/;
    refused(await post(world, keeps, between(world, 60, 120, fresh)), 400, "invalid_request", why);
    const { id } = await added(world, keeps, between(world, 60, 120));
    refused(await onSession(world, "PUT", keeps, id, fresh), 400, "invalid_request", why);
  }));

Deno.test("a pod that RunPod no longer has takes no new session, a terminated one is not found", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    world.db.run("update compute_pods set status = 'GONE' where runpod_id = ?", pod);
    const gone = await post(world, pod, between(world, 60, 120));
    refused(gone, 409, "conflict", /^RunPod no longer has this pod, .* terminate this one to take it off the list$/);
    world.db.run("update compute_pods set status = 'EXITED' where runpod_id = ?", pod);
    const ended = await world.call("POST", `${ORG}/pods/${pod}/action`, {
      as: "officer",
      body: { action: "terminate" },
    });
    assert.equal(ended.status, 200, ended.text);
    for (const answer of [await post(world, pod, between(world, 60, 120)), await list(world, pod)]) {
      refused(answer, 404, "pod_not_found", "Pod not found");
    }
  }));

Deno.test("the sessions of a pod come by start, and page back from the last", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const made: number[] = [];
    for (const start of [300, 60, 180, 60, 420]) made.push((await added(world, pod, between(world, start, 500))).id);
    const [e, a, c, b, last] = made;
    const inOrder = [a, b, c, e, last];
    assert.deepEqual(ids((await list(world, pod)).json), inOrder);
    assert.deepEqual(ids((await list(world, pod, "?limit=2")).json), [e, last]);
    assert.deepEqual(ids((await list(world, pod, `?limit=2&before=${e}`)).json), [b, c]);
    assert.deepEqual(ids((await list(world, pod, `?limit=2&before=${b}`)).json), [a]);
    assert.deepEqual(ids((await list(world, pod, `?before=${c}`)).json), [a, b]);
    refused(await list(world, pod, "?limit=0"), 400, "invalid_request", "limit must be a whole number from 1 to 500");
    refused(await list(world, pod, "?before=x"), 400, "invalid_request", "before must be the id of a session");
    refused(await list(world, pod, "?before=4711"), 404, "session_not_found", "Session not found");
  }));

Deno.test("the sessions of the org begin a day ago, with all that are not finished, and can be narrowed", () =>
  inWorld({}, async (world) => {
    const [one, two] = [await stoppedPod(world, { name: "one" }), await stoppedPod(world, { name: "two" })];
    const old = (await added(world, one, between(world, 1, 2))).id;
    const stuck = (await added(world, one, between(world, 1, 3))).id;
    markFinished(world, old);
    markStarted(world, stuck);
    world.clock.advance(3 * DAY);
    const soon = (await added(world, two, between(world, 60, 120))).id;
    const later = (await added(world, one, between(world, 600, 700))).id;
    const all = await ofOrg(world);
    assert.deepEqual(ids(all.json), [stuck, soon, later]);
    assert.deepEqual([all.json.from, all.json.to, all.json.more], [isoTime(world.clock.now() - DAY), null, false]);
    assert.deepEqual(all.json.sessions[1], (await onSession(world, "GET", two, soon)).json.session);
    const from = encodeURIComponent(inMinutes(world, -5 * 24 * 60));
    assert.deepEqual(ids((await ofOrg(world, `?from=${from}`)).json), [old, stuck, soon, later]);
    // An unescaped "+" arrives as a space.
    const past = inMinutes(world, 120).replace("Z", "+00:00");
    assert.deepEqual(ids((await ofOrg(world, `?from=${past}`)).json), [later]);
    assert.deepEqual(ids((await ofOrg(world, `?to=${inMinutes(world, 600)}`)).json), [stuck, soon]);
    assert.deepEqual(ids((await ofOrg(world, "?state=running")).json), [stuck]);
    const cut = await ofOrg(world, "?limit=2");
    assert.deepEqual([ids(cut.json), cut.json.more], [[stuck, soon], true]);
    refused(
      await ofOrg(world, "?from=monday"),
      400,
      "invalid_request",
      "from must be an ISO 8601 time with a timezone",
    );
    refused(
      await ofOrg(world, "?state=late"),
      400,
      "invalid_request",
      "state must be one of scheduled, starting, running, done, missed, failed",
    );
    const other = await world.call("GET", "/api/compute/other/sessions", { as: "otherOfficer" });
    assert.deepEqual(other.json.sessions, []);
  }));

Deno.test("a session of another pod, or a number that is none, is not found", () =>
  inWorld({}, async (world) => {
    const [one, two] = [await stoppedPod(world, { name: "one" }), await stoppedPod(world, { name: "two" })];
    const { id } = await added(world, one, between(world, 60, 120));
    for (const method of ["GET", "DELETE"]) {
      refused(await onSession(world, method, two, id), 404, "session_not_found", "Session not found");
      for (const text of ["x", "0", "-1", "1.0", "01", "1e3"]) {
        refused(await onSession(world, method, one, text), 404, "route_not_found", "There is no such route");
      }
    }
    assert.equal(count(world), 1);
  }));

Deno.test("POST warns of times that the pod has a session at already, and of a series that meets a skipped hour", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const body = between(world, 60, 120);
    assert.equal("warnings" in (await post(world, pod, body)).json, false);
    const again = await post(world, pod, body);
    assert.deepEqual([again.status, again.json.warnings], [
      201,
      ["The pod has a session at these times already: session 1"],
    ]);
    markFinished(world, 1);
    markFinished(world, 2);
    assert.equal("warnings" in (await post(world, pod, body)).json, false, "those are over");
    const night = { start_at: "2027-03-07T02:30:00-05:00", stop_at: "2027-03-07T05:00:00-05:00" };
    const repeat = { every_weeks: 1, count: 2, time_zone: "America/New_York" };
    const series = await post(world, pod, { ...night, repeat });
    assert.deepEqual(series.json.warnings, [
      "The clocks of America/New_York skip 02:30 on 2027-03-14: 03:00 is taken in its place",
    ]);
    assert.equal(series.json.sessions[1].start_at, "2027-03-14T07:00:00+00:00");
  }));

Deno.test("POST names a field it does not know and one that is missing", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const { start_at, stop_at } = between(world, 60, 120);
    const missing = (name: string) => `${name} must be an ISO 8601 time with a timezone`;
    const cases: [unknown, string][] = [
      [{ start: start_at, stop_at }, "Unknown field: start"],
      [{ stop_at }, missing("start_at")],
      [{ start_at }, missing("stop_at")],
      [{}, missing("start_at")],
    ];
    for (const [body, sentence] of cases) refused(await post(world, pod, body), 400, "invalid_request", sentence);
  }));

Deno.test("what to do is said for sessions that came to nothing or are tried again", () =>
  inWorld({}, async (world) => {
    const pod = await stoppedPod(world);
    const { id } = await added(world, pod, between(world, 60, 120));
    const todo = async (change: string) => {
      world.db.run(`update compute_sessions set started = 0, finished = 0, failing_since = null, ${change}`);
      return (await onSession(world, "GET", pod, id)).json.session.todo;
    };
    assert.match(await todo("state = 'missed', finished = 1"), /^Add a session anew/);
    assert.match(await todo("state = 'failed', finished = 1"), /^Nothing is tried any more\./);
    assert.match(await todo("state = 'failed', finished = 1, started = 1"), /stop it by hand .*it costs money/);
    assert.match(
      await todo("state = 'starting', failing_since = 1"),
      /^The start is tried again at every turn until 20/,
    );
    assert.match(await todo("state = 'running', failing_since = 1, started = 1"), /^The stop is tried again/);
    assert.equal(await todo("state = 'running', started = 1"), null);
    assert.equal(await todo("state = 'done', started = 1, finished = 1"), null);
  }));

Deno.test("the schedule starts the pod at once for a session that is due when it is added or moved", () =>
  inWorld({}, async (world) => {
    const [one, two] = [await stoppedPod(world, { name: "one" }), await stoppedPod(world, { name: "two" })];
    const later = await added(world, two, between(world, 60, 120));
    world.app.run();
    // Its own first turn is over; the next one would come in five minutes.
    await eventually(() => world.app.jobs.schedule.lastRun(1) !== null, "the first turn");
    const isStarted = (pod: string, id: number) => async () =>
      (await onSession(world, "GET", pod, id)).json.session.started === true;
    const due = await added(world, one, between(world, 5, 60));
    await eventually(isStarted(one, due.id), "the first pod is started");
    assert.equal(await isStarted(two, later.id)(), false);
    assert.equal((await onSession(world, "PUT", two, later.id, { start_at: inMinutes(world, 5) })).status, 200);
    await eventually(isStarted(two, later.id), "the second pod is started");
  }));
