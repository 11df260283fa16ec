import assert from "node:assert/strict";
import { raise } from "../../server/events/raise.ts";
import { cellOf, type ClockedWorld, withWorld } from "../http/support.ts";

const EVENTS = "/api/compute/org/events";
const as = "officer" as const;

function fill(world: ClockedWorld): void {
  world.db.run("delete from events");
  for (let n = 1; n <= 12; n++) {
    raise(world.db, {
      orgId: n === 12 ? 2 : 1,
      kind: n % 3 === 0 ? "pod.stopped" : "pod.started",
      podId: "own-id",
      runpodId: `pod${n}`,
      subject: `lab ${n}`,
      actor: "Ada",
      details: { n },
    }, world.clock.now() + n);
  }
}

Deno.test("events are newest first, of the own org, with RunPod's id of the pod", () =>
  withWorld(async (world) => {
    fill(world);
    const { events } = (await world.call("GET", EVENTS, { as })).json;
    assert.equal(events.length, 11);
    assert.deepEqual(events[0], {
      id: events[0].id,
      kind: "pod.started",
      pod_id: "pod11",
      subject: "lab 11",
      actor: "Ada",
      details: { n: 11 },
      created_at: "2026-11-30T12:00:00.011+00:00",
    });
    const theirs = (await world.call("GET", "/api/compute/other/events", { as: "otherOfficer" })).json.events;
    assert.deepEqual(theirs.map((one: { pod_id: string }) => one.pod_id), ["pod12"]);
  }));

Deno.test("events page backwards and by kind, without gaps or doubles", () =>
  withWorld(async (world) => {
    fill(world);
    const page = async (query: string): Promise<{ id: number; pod_id: string }[]> =>
      (await world.call("GET", `${EVENTS}?${query}`, { as })).json.events;
    const all = await page("");
    const first = await page("limit=4");
    const rest = await page(`before_id=${first.at(-1)!.id}`);
    assert.deepEqual([...first, ...rest], all);
    assert.deepEqual((await page("kind=pod.stopped")).map((one) => one.pod_id), ["pod9", "pod6", "pod3"]);
    assert.deepEqual((await page("pod_id=pod6")).map((one) => one.pod_id), ["pod6"]);
    assert.deepEqual(await page("pod_id=pod6&kind=pod.started"), []);
    assert.deepEqual(await page("pod_id=pod12"), []);
    assert.deepEqual((await page("kind=pod.stopped&limit=2&before_id=10")).length, 2);
  }));

Deno.test("events refuse a limit, a place or a kind that does not exist, and members", () =>
  withWorld(async (world) => {
    const cases: [string, RegExp][] = [
      ["limit=0", /^limit must be a whole number from 1 to 500$/],
      ["limit=501", /^limit must be a whole number from 1 to 500$/],
      ["before_id=x", /^before_id must be a whole number$/],
      ["pod_id=", /^pod_id must be a pod's id$/],
      ["pod_id=a%20b", /^pod_id must be a pod's id$/],
      ["kind=pod.exploded", /^kind must be one of pod\.created, /],
    ];
    for (const [query, sentence] of cases) {
      const answer = await world.call("GET", `${EVENTS}?${query}`, { as });
      assert.equal(answer.status, 400);
      assert.match(answer.json.error, sentence);
    }
    const member = await world.call("GET", EVENTS, { as: "member", kind: "officer" });
    assert.equal(cellOf(member), "403 not_an_officer");
  }));
