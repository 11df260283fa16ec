import assert from "node:assert/strict";
import type { Database } from "../../db/database.ts";
import { createRefresher } from "../../server/pods/refresh.ts";
import { createActions } from "../../server/pods/act.ts";
import { createSettler } from "../../server/pods/settle.ts";
import { createRunningPod } from "../support/world.ts";
import {
  act,
  attention,
  type ClockedWorld,
  create,
  creates,
  intentsOf,
  inWorld,
  partsOf,
  refreshed,
  refused,
  requests,
} from "./support.ts";

/** Fails the writes that `full` says, as SQLite fails them when the disk is full. */
interface Disk {
  full: (sql: string) => boolean;
}

const everyWrite = () => true;
const nothing = () => false;

function onDisk(disk: Disk): (db: Database) => Database {
  return (db) => {
    const check = (sql: string) => {
      if (!/^\s*(insert|update|delete)/i.test(sql) || !disk.full(sql)) return;
      throw Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
    };
    const { run, get } = db;
    return Object.assign(db, {
      run: (...args: Parameters<Database["run"]>) => {
        check(args[0]);
        return run.apply(db, args);
      },
      get: (...args: Parameters<Database["get"]>) => {
        check(args[0]);
        return get.apply(db, args);
      },
    });
  };
}

async function withDisk(
  test: (world: ClockedWorld, disk: Disk) => Promise<void>,
  onCreate: (disk: Disk) => void = () => {},
): Promise<void> {
  const disk: Disk = { full: nothing };
  await inWorld({
    wrapDatabase: onDisk(disk),
    timings: { settleWaitMs: 60 },
    fetch: (inner) => async (input, init) => {
      const answer = await inner(input, init);
      if (init?.method === "POST" && String(input).endsWith("/pods")) onCreate(disk);
      return answer;
    },
  }, (world) => test(world, disk));
}

Deno.test("a create on a full disk is 507 before RunPod is asked, and leaves nothing behind", async () => {
  await withDisk(async (world, disk) => {
    assert.equal((await create(world)).status, 201, "the org's keys are there");
    disk.full = everyWrite;
    const sentence = "The server's disk is full, so the pod was not created";
    refused(await create(world, { name: "lab" }), 507, "disk_full", sentence);
    disk.full = nothing;
    assert.equal(creates(world), 1);
    assert.deepEqual(await attention(world), []);
    assert.equal((await create(world, { name: "lab" })).status, 201);
  });
});

Deno.test("a create in a database file that SQLite itself says is full is 507 before RunPod is asked", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await inWorld({ database: `${folder}/orgpods.sqlite` }, async (world) => {
      assert.equal((await create(world)).status, 201);
      const pages = world.db.get<{ page_count: number }>("pragma page_count")!.page_count;
      world.db.get(`pragma max_page_count = ${pages}`);
      const allowed_users = Array.from({ length: 500 }, (_, index) => String(10n ** 20n + BigInt(index)));
      refused(await create(world, { name: "lab", allowed_users }), 507, "disk_full");
      assert.equal(creates(world), 1);
      assert.equal(world.db.all("select 1 from compute_pods").length, 1, "all of it was rolled back");
      world.db.get("pragma max_page_count = 100000");
      assert.equal((await create(world, { name: "lab", allowed_users })).status, 201);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

for (const action of ["start", "restart"]) {
  Deno.test(`a ${action} on a full disk is 507 before RunPod is asked`, async () => {
    await withDisk(async (world, disk) => {
      const id = await createRunningPod(world);
      if (action === "start") await act(world, id, "stop");
      const asked = world.runpod.requests.length;
      disk.full = everyWrite;
      refused(
        await act(world, id, action),
        507,
        "disk_full",
        `The server's disk is full, so the ${action} was not sent`,
      );
      disk.full = nothing;
      assert.equal(world.runpod.requests.length, asked);
      assert.deepEqual(await attention(world), []);
    });
  });
}

for (const action of ["stop", "terminate"]) {
  Deno.test(`a ${action} happens on a full disk and is logged`, async () => {
    await withDisk(async (world, disk) => {
      const id = await createRunningPod(world);
      world.clock.advance(180_000);
      disk.full = everyWrite;
      const answer = await act(world, id, action);
      assert.equal(answer.status, 200, answer.text);
      assert.match(answer.json.warnings.at(-1), /^The server's disk is full: this is not in the audit/);
      assert.equal(
        world.runpod.pods.list().find((pod) => pod.id === id)?.phase,
        action === "stop" ? "exited" : undefined,
      );
      assert.ok(world.logLines.some((line) => line.includes("goes on without its record") && line.includes(action)));
      assert.ok(world.logLines.some((line) => line.includes("the outcome of an action is not stored")));
      disk.full = nothing;
      await refreshed(world);
      assert.equal((await refreshed(world))[0].status, action === "stop" ? "EXITED" : "GONE");
      assert.equal((await act(world, id, "terminate")).status, 200);
      assert.deepEqual(await refreshed(world), []);
    });
  });
}

Deno.test("a stop on a full disk whose answer is lost is 424 without an entry to look at", async () => {
  await withDisk(async (world, disk) => {
    const id = await createRunningPod(world);
    world.runpod.faults.on({ fault: "F33", variant: "not-json", on: "POST /pods/{id}/action" });
    world.runpod.faults.on({ fault: "F1", variant: "401", on: "GET /pods/{id}" });
    disk.full = everyWrite;
    const answer = await act(world, id, "stop");
    refused(answer, 424, "runpod_unavailable", /Whether the stop happened is not known yet/);
    assert.ok(!("attention_id" in answer.json));
    disk.full = nothing;
    assert.equal(world.runpod.pods.get(id).phase, "exited");
    assert.deepEqual(intentsOf(world).map((one) => one.action), ["create"]);
  });
});

Deno.test("a stop whose disk gets full on the way is still a success and settled later", async () => {
  await withDisk(async (world, disk) => {
    const id = await createRunningPod(world);
    // The intent is written; that it was sent is not, nor what came of it.
    disk.full = (sql) => /set state = 'sent'|audit_log|set status/.test(sql);
    const stopped = await act(world, id, "stop");
    assert.equal(stopped.status, 200);
    assert.match(stopped.json.warnings.at(-1), /^The server's disk is full: this is not in the audit/);
    disk.full = nothing;
    assert.equal(intentsOf(world).at(-1)!.state, "saved");
    const parts = partsOf(world);
    const refresher = createRefresher(parts, () => {});
    world.clock.advance(5_000);
    await createSettler({ ...parts, refresher, actions: createActions(parts), poke: () => {} }).turn();
    await refresher.close();
    assert.equal(intentsOf(world).at(-1)!.state, "done");
    assert.equal(requests(world, "POST", /action$/).length, 1, "it is not sent again: the pod is stopped");
  });
});

Deno.test("a create that cannot be marked as sent is not sent, and the settler closes it", async () => {
  await withDisk(async (world, disk) => {
    await create(world);
    disk.full = (sql) => sql.includes("set state = 'sent'");
    refused(await create(world, { name: "lab" }), 507, "disk_full");
    assert.equal(creates(world), 1);
    disk.full = nothing;
    const parts = partsOf(world);
    const refresher = createRefresher(parts, () => {});
    await createSettler({ ...parts, refresher, actions: createActions(parts), poke: () => {} }).turn();
    await refresher.close();
    assert.equal(intentsOf(world).at(-1)!.state, "failed");
    assert.deepEqual(await attention(world), []);
    assert.equal((await create(world, { name: "lab" })).status, 201);
  });
});

Deno.test("a create whose answer cannot be stored is 424 and adopted when there is room again", async () => {
  await withDisk(async (world, disk) => {
    const answer = await create(world, { name: "lab" });
    refused(answer, 424, "runpod_unavailable", /RunPod's answer was lost|could not be stored/);
    assert.equal(world.runpod.pods.list().length, 1);
    disk.full = nothing;
    assert.equal((await attention(world))[0].id, answer.json.attention_id);
    const [pod] = await refreshed(world);
    assert.equal(pod.name, "lab");
    assert.equal(creates(world), 1);
    assert.deepEqual(await attention(world), []);
  }, (disk) => disk.full = everyWrite);
});

Deno.test("a full disk gives members and officers what is known, with a warning", async () => {
  await withDisk(async (world, disk) => {
    await createRunningPod(world);
    await world.token("member", "cli");
    world.clock.advance(120_000);
    disk.full = everyWrite;
    const mine = await world.call("GET", "/api/compute/org/me/pods", { as: "member" });
    assert.equal(mine.status, 200, mine.text);
    assert.deepEqual([mine.json.pods.length, mine.json.stale, mine.json.warnings.length], [1, true, 1]);
    const pods = await refreshed(world);
    assert.equal(pods[0].stale, true);
  });
});
