/** A server that may do harm by itself does nothing by itself: a copy of a database, and a clock that is wrong. */
import assert from "node:assert/strict";
import type { Database } from "../../db/database.ts";
import { openDatabase } from "../../db/open.ts";
import { type App, createApp } from "../../server/app.ts";
import { DAY, HOUR, MINUTE } from "../../server/clock.ts";
import { silentLog } from "../../server/log.ts";
import { act, type ClockedWorld, inWorld, listed, ORG, requests } from "../pods/support.ts";
import { BASE_URL, createRunningPod } from "../support/world.ts";
import { addSession, asked, sessionRow } from "./support.ts";

/** A second server in the test's process, over the same RunPod and Discord. */
interface Second {
  readonly app: App;
  readonly db: Database;
  // deno-lint-ignore no-explicit-any
  call(method: string, path: string, as?: "officer" | "operator"): Promise<any>;
}

async function withSecond(
  world: ClockedWorld,
  options: { readonly database: string; readonly home: string },
  test: (second: Second) => Promise<void>,
): Promise<void> {
  const token = await world.token("officer", "officer");
  const db = openDatabase(options.database);
  const { config, clock, fetch } = world;
  const app = createApp({ config, version: "0.0.0-test", db, clock, log: silentLog, fetch, home: options.home });
  try {
    await test({
      app,
      db,
      async call(method, path, as = "officer") {
        const headers: HeadersInit = as === "officer" ? { authorization: `Bearer ${token}` } : {};
        const peer = { isOperator: as === "operator", account: "test", address: "192.0.2.1" };
        const answer = await app.fetch(new Request(BASE_URL + path, { method, headers }), peer);
        assert.equal(answer.status, 200, `${method} ${path}`);
        return await answer.json();
      },
    });
  } finally {
    await app.close();
    db.close();
  }
}

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A world whose database is a file in `home`, two pods that it knows for long: one runs, one is stopped. */
async function inFirst(
  test: (
    world: ClockedWorld,
    at: { readonly folder: string; readonly up: string; readonly down: string },
  ) => Promise<void>,
): Promise<void> {
  await inFolder((folder) =>
    inWorld({ database: `${folder}/first.sqlite`, home: "first" }, async (world) => {
      const [up, down] = [await createRunningPod(world), await createRunningPod(world)];
      assert.equal((await act(world, down, "stop")).status, 200);
      for (let look = 0; look < 3; look++) {
        world.clock.advance(5 * MINUTE);
        await listed(world);
      }
      asked(world);
      await test(world, { folder, up, down });
    })
  );
}

function copyTo(world: ClockedWorld, path: string): string {
  world.db.exec(`vacuum into '${path}'`);
  return path;
}

const pausedEvents = (db: Database) =>
  db.all<{ org_id: number; details: string }>("select * from events where kind = 'server.paused' order by org_id, id");

Deno.test("a copied database in another home pauses when a pod moves that it did not move, until the operator says so", async () => {
  await inFirst(async (world, { folder, up, down }) => {
    const session = addSession(world, down, 30, 60);
    const database = copyTo(world, `${folder}/copy.sqlite`);
    await withSecond(world, { database, home: "second" }, async (second) => {
      await second.app.jobs.schedule.turn();
      assert.equal((await second.call("GET", `${ORG}/schedule`)).paused, null, "nothing has moved yet");
      // The first server goes on: its officer stops a pod.
      assert.equal((await act(world, up, "stop")).status, 200);
      asked(world);
      world.clock.advance(25 * MINUTE);
      second.db.run("update compute_pods set auto_stop_after_minutes = 5, max_run_hours = 1");
      await second.app.jobs.schedule.turn();
      const { paused, last_run } = await second.call("GET", `${ORG}/schedule`);
      assert.match(paused, /was stopped by somebody else.*a second server seems to work on a copy of it/);
      assert.match(paused, /then run: orgpods schedule resume$/);
      assert.deepEqual([last_run.started, last_run.stopped, last_run.failed], [[], [], []]);
      assert.equal((await second.call("GET", "/api/operator/status", "operator")).paused, paused);

      // Whatever becomes due, nothing is done; the event comes once a day and org.
      world.runpod.pods.start(up);
      for (let turn = 0; turn < 4; turn++) {
        world.clock.advance(30 * MINUTE);
        await second.call("GET", `${ORG}/pods`);
        await second.app.jobs.schedule.turn();
        await second.app.jobs.autoStop.stops.turn();
        await second.app.jobs.settle();
      }
      assert.deepEqual(asked(world), [], "nothing is asked of RunPod");
      const told = pausedEvents(second.db);
      assert.deepEqual(told.map((row) => row.org_id), [1, 2]);
      assert.deepEqual(told.map((row) => JSON.parse(row.details)), [{ why: paused }, { why: paused }]);
      const resumed = await second.call("POST", "/api/operator/schedule/resume", "operator");
      assert.equal(resumed.paused, null);
      const audit = second.db.get<{ actor_kind: string }>(
        "select * from audit_log where action like '%schedule/resume'",
      );
      assert.equal(audit?.actor_kind, "local");
      await second.app.jobs.autoStop.stops.turn();
      assert.deepEqual(asked(world), [`stop ${up}`], "the limit on hours is in force again");
      world.runpod.pods.start(down);
      await second.app.jobs.schedule.turn();
      assert.equal((await second.call("GET", `${ORG}/schedule`)).paused, null, "one more move is no reason any more");
    });
    assert.equal(sessionRow(world, session)!.state, "scheduled", "the first server's own file is untouched");
    assert.deepEqual(pausedEvents(world.db), []);
  });
});

Deno.test("a pause for a copied database outlives a restart", async () => {
  await inFirst(async (world, { folder, up, down }) => {
    const database = copyTo(world, `${folder}/copy.sqlite`);
    await withSecond(world, { database, home: "second" }, async (second) => {
      world.runpod.pods.stop(up);
      world.clock.advance(MINUTE);
      await second.app.jobs.schedule.turn();
      assert.notEqual((await second.call("GET", `${ORG}/schedule`)).paused, null);
    });
    addSession(world, down, 0, 60);
    await withSecond(world, { database, home: "second" }, async (second) => {
      second.db.run(
        "insert into compute_sessions (org_id, pod_id, start_at, stop_at, created_at) " +
          "select 1, id, ?, ?, 0 from compute_pods where runpod_id = ?",
        world.clock.now(),
        world.clock.now() + HOUR,
        down,
      );
      world.clock.advance(MINUTE);
      await second.app.jobs.schedule.turn();
      assert.notEqual((await second.call("GET", `${ORG}/schedule`)).paused, null);
      assert.deepEqual(asked(world), []);
    });
  });
});

Deno.test("a database that stays at home never pauses, whoever moves its pods", async () => {
  await inFirst(async (world, { folder, up, down }) => {
    const database = copyTo(world, `${folder}/copy.sqlite`);
    await withSecond(world, { database, home: "first" }, async (second) => {
      world.runpod.pods.stop(up);
      world.runpod.pods.start(down);
      world.clock.advance(MINUTE);
      await second.app.jobs.schedule.turn();
      assert.equal((await second.call("GET", `${ORG}/schedule`)).paused, null);
      assert.deepEqual(pausedEvents(second.db), []);
    });
  });
});

Deno.test("a database that moved house goes on, and after two days nobody is suspected any more", async () => {
  await inFirst(async (world, { folder, up, down }) => {
    addSession(world, down, 5, 60);
    const database = copyTo(world, `${folder}/copy.sqlite`);
    await withSecond(world, { database, home: "second" }, async (second) => {
      await second.app.jobs.schedule.turn();
      assert.deepEqual(asked(world), [`start ${down}`], "its own start is no other server's work");
      for (let look = 0; look < 3; look++) {
        world.clock.advance(MINUTE);
        await second.app.jobs.schedule.turn();
      }
      assert.equal((await second.call("GET", `${ORG}/schedule`)).paused, null);
      world.clock.advance(2 * DAY);
      await second.call("GET", `${ORG}/pods`);
      world.runpod.pods.stop(up);
      world.clock.advance(MINUTE);
      await second.app.jobs.schedule.turn();
      assert.equal((await second.call("GET", `${ORG}/schedule`)).paused, null);
    });
  });
});

/** A world whose clock can go wrong while RunPod's goes right. */
async function inSkewed(
  test: (world: ClockedWorld, jump: (ms: number) => void) => Promise<void>,
): Promise<void> {
  let ours = () => Date.UTC(2026, 10, 30, 12);
  let ahead = 0;
  await inWorld({ runpod: { clock: { now: () => ours() - ahead } } }, async (world) => {
    ours = world.clock.now;
    await test(world, (ms) => {
      world.clock.advance(ms);
      ahead += ms;
    });
  });
}

for (const [word, day] of [["ahead of", DAY], ["behind", -DAY]] as const) {
  Deno.test(`a clock a day ${word} RunPod's pauses the schedule, which resumes by itself when it is right`, async () => {
    await inSkewed(async (world, jump) => {
      const [up, down] = [await createRunningPod(world), await createRunningPod(world)];
      assert.equal((await act(world, down, "stop")).status, 200);
      world.clock.advance(20 * MINUTE);
      const running = addSession(world, up, 0, 23 * 60);
      await world.app.jobs.schedule.turn();
      // A day ahead the first is long over, and the second is on; a day behind nothing is on yet.
      const next = addSession(world, down, 23 * 60, 120);
      asked(world);
      jump(day);
      for (let turn = 0; turn < 2; turn++) {
        await world.app.jobs.schedule.turn();
        await world.app.jobs.autoStop.stops.turn();
        world.clock.advance(5 * MINUTE);
      }
      const { paused } = (await world.call("GET", `${ORG}/schedule`, { as: "officer" })).json;
      assert.match(paused, new RegExp(`^The server's clock is 1440 minutes ${word} RunPod's`));
      assert.deepEqual(asked(world), []);
      assert.deepEqual(pausedEvents(world.db).map((row) => row.org_id), [1, 2]);

      jump(-day);
      await world.app.jobs.schedule.turn();
      assert.equal((await world.call("GET", `${ORG}/schedule`, { as: "officer" })).json.paused, null);
      assert.deepEqual(asked(world), []);
      assert.deepEqual([running, next].map((id) => sessionRow(world, id)!.state), ["running", "scheduled"]);
      // And it works on: the next session is started in its time, the first pod is stopped after its own.
      world.clock.advance(23 * HOUR);
      await world.app.jobs.schedule.turn();
      assert.deepEqual(asked(world).sort(), [`start ${down}`, `stop ${up}`].sort());
    });
  });
}

Deno.test("a clock that was a day ahead leaves no state frozen and no money that was never spent", async () => {
  await inSkewed(async (world, jump) => {
    const id = await createRunningPod(world);
    world.clock.advance(HOUR);
    await listed(world);
    const spent = async () => (await world.call("GET", `${ORG}/spend`, { as: "officer" })).json.total;
    const before = await spent();
    assert.ok(before.amount > 0);

    jump(DAY);
    await listed(world);
    await world.app.jobs.money.turn();
    assert.equal((await listed(world))[0].status, "RUNNING");
    jump(-DAY);
    world.runpod.pods.stop(id);
    const lists = requests(world, "GET", "/pods").length;
    const [pod] = await listed(world);
    assert.equal(requests(world, "GET", "/pods").length, lists + 1, "a list from the future is no fresh one");
    assert.equal(pod.status, "EXITED");
    assert.equal(pod.stale, false);
    await world.app.jobs.money.turn();

    const total = await spent();
    assert.ok(total.amount >= 0 && total.unsure >= 0 && total.running_hours >= 0, JSON.stringify(total));
    const billed = world.runpod.meter.billed();
    assert.ok(Math.abs(total.amount - billed) <= total.unsure + billed / 100, `${JSON.stringify(total)} ${billed}`);
    const odd = "select count(*) as n from compute_spend where until_at < from_at or from_at > ? or until_at > ?";
    assert.equal(world.db.get<{ n: number }>(odd, world.clock.now(), world.clock.now())!.n, 0);

    // It goes on being watched: a start in the console shows at the next look.
    world.runpod.pods.start(id);
    world.clock.advance(10_000);
    assert.equal((await listed(world))[0].status, "RUNNING");
    world.clock.advance(HOUR);
    await listed(world);
    const after = await spent();
    assert.ok(after.amount > total.amount);
    assert.ok(Math.abs(after.amount - world.runpod.meter.billed()) <= after.unsure + after.amount / 100);
  });
});
