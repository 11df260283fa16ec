import assert from "node:assert/strict";
import { myPods } from "../../server/pods/me.ts";
import { createRunningPod, PEOPLE, type Person, RUNPOD_KEY } from "../support/world.ts";
import {
  act,
  type ClockedWorld,
  create,
  inWorld,
  listed,
  ORG,
  orgNamed,
  partsOf,
  refused,
  requests,
} from "./support.ts";

const mine = (world: ClockedWorld, as: Person, query = "") => world.call("GET", `${ORG}/me/pods${query}`, { as });
const lists = (world: ClockedWorld) => requests(world, "GET", "/pods").length;

// deno-lint-ignore no-explicit-any
const names = (json: any) => json.pods.map((pod: { name: string }) => pod.name);

Deno.test("me/pods lists public pods and those that name the caller; an officer sees all, a blocked member none", async () => {
  await inWorld({}, async (world) => {
    await createRunningPod(world, { name: "public", is_public: true });
    await createRunningPod(world, { name: "listed", is_public: false, allowed_users: [PEOPLE.member, PEOPLE.blocked] });
    await createRunningPod(world, { name: "private", is_public: false });
    await createRunningPod(world, { name: "blocked-here", is_public: true });
    const here = world.db.get<{ id: string }>("select id from compute_pods where name = 'blocked-here'")!.id;
    world.db.run(
      "insert into blocked_users (org_id, pod_id, discord_id, blocked_at) values (1, ?, ?, 0)",
      here,
      PEOPLE.member,
    );
    const rows: [Person, string[]][] = [
      ["member", ["public", "listed"]],
      ["exOfficer", ["public", "blocked-here"]],
      ["officer", ["public", "listed", "private", "blocked-here"]],
      ["blocked", []],
    ];
    for (const [person, expected] of rows) {
      const { status, json } = await mine(world, person);
      assert.equal(status, 200);
      assert.deepEqual(names(json), expected, person);
    }
    const { json } = await mine(world, "member");
    const [first] = json.pods;
    assert.deepEqual(Object.keys(first).sort(), [
      "id",
      "is_public",
      "keeps_files",
      "name",
      "next_session",
      "stale",
      "status",
      "stops_at",
    ]);
    assert.deepEqual([first.next_session, first.stops_at], [null, null]);
    assert.deepEqual([first.status, first.is_public, first.stale, first.keeps_files], ["RUNNING", true, false, false]);
    assert.deepEqual([json.stale, json.warnings], [false, []]);
    assert.match(json.as_of, /^2026-11-30T12:\d\d:\d\d(\.\d+)?\+00:00$/);
  });
});

Deno.test("me/pods refuses who is no member, whatever pods there are", async () => {
  await inWorld({}, async (world) => {
    await createRunningPod(world);
    for (const person of ["stranger", "pending", "superadmin", "otherOfficer"] as const) {
      refused(await mine(world, person), 403, "not_a_member", "You are no longer a member of this organization");
    }
    refused(await world.call("GET", `${ORG}/me/pods`, { as: "operator" }), 403, "no_discord_user");
  });
});

Deno.test("me/pods lists running pods only, with state=all the stopped ones too", async () => {
  await inWorld({}, async (world) => {
    await createRunningPod(world, { name: "runs" });
    const stopped = await createRunningPod(world, { name: "stopped" });
    await act(world, stopped, "stop");
    await create(world, { name: "starting", is_public: true });
    assert.deepEqual(names((await mine(world, "member")).json), ["runs"]);
    const all = await mine(world, "member", "?state=all");
    assert.deepEqual(names(all.json), ["runs", "stopped", "starting"]);
    assert.deepEqual(all.json.pods[1].status, "EXITED");
    assert.deepEqual(names((await mine(world, "member", "?state=running&x=1")).json), ["runs"]);
    refused(await mine(world, "member", "?state=stopped"), 400, "invalid_request", "state must be running or all");
  });
});

Deno.test("me/pods of an org without pods asks RunPod nothing", async () => {
  await inWorld({}, async (world) => {
    for (const person of ["member", "officer", "stranger"] as const) await mine(world, person);
    world.clock.advance(10_000);
    const { json } = await mine(world, "member");
    assert.deepEqual(json, { pods: [], stale: false, as_of: null, warnings: [] });
    assert.equal(world.runpod.requests.length, 2, "the two key checks of the set-up");
  });
});

Deno.test("me/pods asks RunPod for one list in five seconds, however many members ask", async () => {
  await inWorld({}, async (world) => {
    await createRunningPod(world);
    for (const person of ["member", "officer", "exOfficer"] as const) await world.token(person, "cli");
    world.clock.advance(5_001);
    const before = lists(world);
    const people = ["member", "officer", "exOfficer", "member", "officer"] as const;
    await Promise.all(people.map((person) => mine(world, person)));
    assert.equal(lists(world), before + 1);
    world.clock.advance(5_000);
    await mine(world, "member");
    assert.equal(lists(world), before + 1);
    world.clock.advance(1);
    await mine(world, "member");
    assert.equal(lists(world), before + 2);
  });
});

Deno.test("me/pods answers 200 with what is known when RunPod refuses, and asks again only after five seconds", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    const asOf = (await mine(world, "member")).json.as_of;
    world.clock.advance(6_000);
    world.runpod.pods.stop(id);
    world.runpod.faults.on({ fault: "F1", variant: "401" });
    const { status, json } = await mine(world, "member");
    assert.equal(status, 200);
    assert.deepEqual([json.pods.length, json.pods[0].status, json.pods[0].stale, json.stale], [
      1,
      "RUNNING",
      true,
      true,
    ]);
    assert.equal(json.as_of, asOf);
    assert.deepEqual(json.warnings, ["RunPod answered 401: missing bearer token. These are the last known states."]);
    const before = lists(world);
    await mine(world, "member");
    assert.equal(lists(world), before);
    world.runpod.faults.clear();
    world.clock.advance(5_001);
    const later = await mine(world, "member");
    assert.deepEqual([later.json.pods, later.json.stale, later.json.warnings], [[], false, []]);
  });
});

Deno.test("me/pods answers 200 with what is known when RunPod cannot be reached", async () => {
  let cut = () => {};
  let down = false;
  await inWorld({
    fetch: (inner) => (input, init) => {
      if (!down || !new URL(String(input)).pathname.startsWith("/v2/")) return inner(input, init);
      cut();
      return Promise.reject(new TypeError("error sending request"));
    },
  }, async (world) => {
    await createRunningPod(world);
    world.clock.advance(60_000);
    cut = () => world.clock.advance(15_000); // No time is left for a repeat.
    down = true;
    const { status, json } = await mine(world, "member");
    assert.equal(status, 200);
    assert.deepEqual([json.pods.length, json.stale], [1, true]);
    assert.deepEqual(json.warnings, ["RunPod could not be reached. These are the last known states."]);
  });
});

Deno.test("me/pods answers 200 without a RunPod key", async () => {
  await inWorld({}, async (world) => {
    await createRunningPod(world);
    const gone = await world.call("DELETE", `${ORG}/integrations/runpod?force=true`, { as: "officer" });
    assert.equal(gone.status, 200, gone.text);
    world.clock.advance(6_000);
    const { status, json } = await mine(world, "member");
    assert.equal(status, 200);
    assert.deepEqual([json.pods.length, json.stale], [1, true]);
    assert.match(json.warnings[0], /has no RunPod API key/);
    assert.ok(!JSON.stringify(json).includes(RUNPOD_KEY));
  });
});

Deno.test("a pod that RunPod no longer has is not among the running ones", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.clock.advance(180_000);
    world.runpod.pods.deleteOutside(id);
    const first = await mine(world, "member");
    assert.deepEqual([first.json.pods.length, first.json.pods[0].stale], [1, true]);
    world.clock.advance(6_000);
    assert.deepEqual((await mine(world, "member")).json.pods, []);
    assert.equal((await listed(world))[0].status, "GONE");
  });
});

Deno.test("myPods gives RunPod only the time that Discord left of the answer's four seconds", async () => {
  await inWorld({}, async (world) => {
    await createRunningPod(world);
    const times: number[] = [];
    const refresher = {
      refresh: (_org: unknown, options: { timeoutMs: number }) => {
        times.push(options.timeoutMs);
        return Promise.resolve({ fresh: true, error: null });
      },
      recent: () => null,
      lastSuccess: () => null,
      close: () => Promise.resolve(),
    };
    const deps = { ...partsOf(world), refresher };
    const me = {
      kind: "member",
      discordId: PEOPLE.member,
      username: "member",
      name: "member",
      isOfficer: false,
      isSuperadmin: false,
      via: "token",
      tokenId: 1,
    } as const;
    for (const spent of [0, 2_000, 60_000]) {
      await myPods(deps, orgNamed(world), me, { all: false, receivedAt: performance.now() - spent });
    }
    assert.equal(times[0], 3_000);
    assert.ok(times[1]! >= 1 && times[1]! <= 2_000, String(times[1]));
    assert.equal(times[2], 1);
  });
});
