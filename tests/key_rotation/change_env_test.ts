import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import type { KeyRow } from "../../db/stores/secrets.ts";
import { setMeta } from "../../db/stores/meta.ts";
import { MINUTE } from "../../server/clock.ts";
import {
  act,
  attention,
  type ClockedWorld,
  create,
  inWorld,
  listed,
  refreshed,
  whileTimePasses,
} from "../pods/support.ts";
import { currentLine, envOf, keyAudit, patches, rotated, rotation, stoppedPod, turn } from "./support.ts";

const LONG = 31 * MINUTE;

const left = async (world: ClockedWorld, kind: "backend" | "user_ca" = "backend") =>
  (await rotation(world, kind)).pods.map((pod) => [pod.name, pod.left, pod.todo]);

async function isDone(world: ClockedWorld, kind: "backend" | "user_ca" = "backend"): Promise<boolean> {
  return (await rotation(world, kind)).state === "done";
}

const podRow = (world: ClockedWorld, id: string) =>
  world.db.get<LivePod>("select * from compute_pods where runpod_id = ?", id)!;

const privateKeys = (world: ClockedWorld) =>
  world.db.all<KeyRow>("select * from compute_keys where kind = 'backend' order by id").map((key) =>
    key.private_key !== ""
  );

Deno.test("the env of a stopped pod gets both keys by one change, and everything else in it stays", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world, { name: "one", env: { WORD: "of no interest" } });
    const before = envOf(world, id);
    await rotated(world, "backend");
    await rotated(world, "user_ca");
    assert.deepEqual(await left(world), [[
      "one",
      "Its environment still has another key; it is changed by itself",
      null,
    ]]);
    await turn(world);
    assert.deepEqual(envOf(world, id), {
      ...before,
      GODFATHER_SSH_PUBLIC_KEY: currentLine(world, "backend"),
      GODFATHER_SSH_CA_PUBLIC_KEY: currentLine(world, "user_ca"),
    });
    assert.equal(envOf(world, id)["WORD"], "of no interest");
    assert.equal(patches(world).length, 1);
    assert.deepEqual([await isDone(world), await isDone(world, "user_ca")], [true, true]);
    assert.deepEqual(privateKeys(world), [false, true]);
    const audit = keyAudit(world);
    assert.deepEqual(audit.map((row) => row.outcome), ["ok", "ok", "ok"]);
    assert.deepEqual(audit[0]!.details["changed"], ["GODFATHER_SSH_PUBLIC_KEY", "GODFATHER_SSH_CA_PUBLIC_KEY"]);
    assert.deepEqual(audit.slice(1).map((row) => [row.details["kind"], row.details["finished"]]), [
      ["backend", true],
      ["user_ca", true],
    ]);
    await turn(world);
    assert.equal(patches(world).length, 1, "there is nothing left to do");
  });
});

Deno.test("no env value and no public line of a pod's env is kept, logged or audited", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world, { env: { CANARY: "canary-value-0815" } });
    await rotated(world, "backend");
    await turn(world);
    const tables = world.db.all<{ name: string }>("select name from sqlite_master where type = 'table'");
    for (const { name } of tables) {
      assert.ok(!JSON.stringify(world.db.all(`select * from ${name}`)).includes("canary-value-0815"), name);
    }
    assert.ok(!world.logLines.join("\n").includes("canary-value-0815"));
  });
});

Deno.test("a pod that runs is sent no change, and the rotation waits for its stop", async () => {
  await inWorld({}, async (world) => {
    const id: string = (await create(world, { name: "up" })).json.pod.id;
    world.clock.advance(60_000);
    await listed(world);
    await rotated(world, "backend");
    await turn(world);
    await turn(world);
    assert.deepEqual(patches(world), []);
    assert.deepEqual(await left(world), [[
      "up",
      "Its environment still has another key",
      "Stop it once, for half a minute, so that its environment can be changed",
    ]]);
    assert.deepEqual(privateKeys(world), [true, true]);
    assert.equal((await act(world, id, "stop")).status, 200);
    await turn(world);
    assert.ok(await isDone(world));
    assert.equal(world.runpod.pods.get(id).containerStarts, 1, "it was not built anew");
  });
});

Deno.test("a pod that is started outside just before its env is changed is read first and left alone", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world);
    await rotated(world, "backend");
    world.clock.advance(25_000);
    await listed(world);
    world.runpod.pods.start(id);
    await world.app.jobs.keys.turn();
    assert.deepEqual(patches(world), []);
    assert.match((await left(world))[0]![1]!, /^Its environment still has another key$/);
  });
});

Deno.test("a start that is asked for while an env is being changed comes after the change", async () => {
  const order: string[] = [];
  let hold: Promise<void> | null = null;
  const fetch = (inner: typeof globalThis.fetch): typeof globalThis.fetch => async (input, init) => {
    const method = init?.method ?? "GET";
    if (method === "PATCH") {
      order.push("change begins");
      await hold;
    }
    const answer = await inner(input, init);
    if (method === "PATCH") order.push("change ends");
    if (method === "POST" && String(input).includes("/action")) order.push(String(init?.body));
    return answer;
  };
  await inWorld({ fetch }, async (world) => {
    const id = await stoppedPod(world);
    await rotated(world, "backend");
    order.length = 0;
    const gate = Promise.withResolvers<void>();
    hold = gate.promise;
    const turning = turn(world);
    while (order.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const starting = act(world, id, "start");
    await new Promise((resolve) => setTimeout(resolve, 5));
    gate.resolve();
    assert.equal((await starting).status, 200);
    await turning;
    assert.deepEqual(order, ["change begins", "change ends", '{"action":"start"}']);
    assert.equal(world.runpod.pods.get(id).containerStarts, 2);
    assert.equal(envOf(world, id)["GODFATHER_SSH_PUBLIC_KEY"], currentLine(world, "backend"));
  });
});

Deno.test("a pod that is started outside between the look and the change is taken for one of which the env is not known", async () => {
  let start = () => {};
  const fetch = (inner: typeof globalThis.fetch): typeof globalThis.fetch => async (input, init) => {
    if (init?.method === "PATCH") start();
    return await inner(input, init);
  };
  await inWorld({ fetch }, async (world) => {
    const id = await stoppedPod(world);
    await rotated(world, "backend");
    start = () => world.runpod.pods.start(id);
    await turn(world);
    assert.equal(envOf(world, id)["GODFATHER_SSH_PUBLIC_KEY"], currentLine(world, "backend"));
    for (let looks = 0; looks < 3; looks++) await refreshed(world);
    world.clock.advance(60_000);
    await listed(world);
    const row = podRow(world, id);
    assert.deepEqual([row.status, row.start_env_backend, row.keys_start], ["RUNNING", null, row.start_key]);
    assert.match((await left(world))[0]![1]!, /^Its files do not have the new key yet/);
    assert.deepEqual(privateKeys(world), [true, true], "the old key may be the one it takes");
    assert.equal((await act(world, id, "stop")).status, 200);
    await turn(world);
    assert.ok(await isDone(world));
    assert.equal(podRow(world, id).env_unsure, 0);
  });
});

const FAULTS: readonly (readonly [string, { fault: string; variant?: string }, number])[] = [
  ["its answer is cut after it was made", { fault: "F34", variant: "cut" }, 1],
  ["it never reached RunPod", { fault: "F34", variant: "refused-like" }, 2],
  ["the edge gives up although it was made", { fault: "F32", variant: "html-524" }, 1],
  ["the edge answers for RunPod", { fault: "F32", variant: "html-502" }, 2],
  ["its answer cannot be read", { fault: "F33", variant: "html-200" }, 1],
];

for (const [when, fault, sent] of FAULTS) {
  Deno.test(`a change of an env is settled by reading the pod when ${when}`, async () => {
    await inWorld({ keyTimings: { firstWaitMs: 1 } }, async (world) => {
      const id = await stoppedPod(world, { name: "one" });
      await rotated(world, "backend");
      world.runpod.faults.on({ ...fault, on: "PATCH /pods/{id}", times: 1 });
      await turn(world);
      await turn(world);
      assert.equal(envOf(world, id)["GODFATHER_SSH_PUBLIC_KEY"], currentLine(world, "backend"));
      assert.equal(patches(world).length, sent);
      assert.ok(await isDone(world));
      const states = world.db.all<{ state: string }>("select state from env_changes order by rowid");
      assert.equal(states.at(-1)!.state, "done");
      assert.ok(states.every((row) => row.state !== "sent" && row.state !== "unsettled"));
    });
  });
}

Deno.test("a change that RunPod refuses is said, tried again later and later, and audited once", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world, { name: "one" });
    await rotated(world, "backend");
    world.runpod.faults.on({ fault: "F33", variant: "message", status: 400, on: "PATCH /pods/{id}" });
    for (let turns = 0; turns < 4; turns++) await turn(world);
    assert.equal(patches(world).length, 2, "after 30 s, then after a minute");
    assert.match((await left(world))[0]![1]!, /The last attempt failed: RunPod /);
    assert.deepEqual(keyAudit(world).map((row) => row.outcome), ["failed"]);
    assert.deepEqual(privateKeys(world), [true, true]);
    world.runpod.faults.clear();
    await turn(world, LONG);
    assert.ok(await isDone(world));
    assert.deepEqual(keyAudit(world).map((row) => row.outcome), ["failed", "ok", "ok"]);
  });
});

Deno.test("a change that failed while the server's clock was ahead is tried again once the clock is right", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world, { name: "one" });
    await rotated(world, "backend");
    world.runpod.faults.on({ fault: "F33", variant: "message", status: 400, on: "PATCH /pods/{id}" });
    await turn(world, LONG);
    await turn(world, 1);
    assert.equal(patches(world).length, 1, "it waits");
    await turn(world, -LONG);
    assert.equal(patches(world).length, 2);
  });
});

Deno.test("a rotation waits while RunPod is away, and goes on when it is back", async () => {
  await inWorld({ runpodLimits: { attempts: 1 } }, async (world) => {
    const id = await stoppedPod(world, { name: "one" });
    await rotated(world, "backend");
    world.runpod.faults.on({ fault: "F32", variant: "empty-503" });
    world.clock.advance(LONG);
    await whileTimePasses(world, world.app.jobs.keys.turn(), 500);
    assert.deepEqual(patches(world), []);
    assert.ok(!await isDone(world));
    assert.deepEqual(privateKeys(world), [true, true]);
    world.runpod.faults.clear();
    await turn(world, LONG);
    assert.ok(await isDone(world));
    assert.ok(envOf(world, id));
  });
});

Deno.test("a pod that is deleted outside while its key is replaced does not hold the rotation up", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world, { name: "one" });
    const other = await stoppedPod(world, { name: "two" });
    await rotated(world, "backend");
    world.runpod.faults.on({ fault: "F33", variant: "message", status: 400, on: `PATCH /pods/${id}` });
    await turn(world);
    assert.ok(!await isDone(world));
    world.runpod.pods.deleteOutside(id);
    await turn(world);
    assert.deepEqual((await left(world)).filter(([name]) => name === "one"), [[
      "one",
      "RunPod did not show it, or not its environment, at the last look",
      "Wait; if it stays, see whether RunPod can be reached and its key works",
    ]]);
    for (let turns = 0; turns < 2; turns++) await refreshed(world);
    await turn(world, LONG);
    assert.ok(await isDone(world));
    assert.equal(envOf(world, other)["GODFATHER_SSH_PUBLIC_KEY"], currentLine(world, "backend"));
  });
});

Deno.test("a pod that comes back with a key that was replaced is shown, and gets the present one when it is stopped", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world, { name: "late" });
    const { env } = world.runpod.pods.get(id);
    await rotated(world, "backend");
    await turn(world);
    assert.ok(await isDone(world));
    // As after somebody put the old value back in RunPod's console.
    Object.assign(world.runpod.pods.get(id), { env });
    world.clock.advance(2 * MINUTE);
    const [pod] = await listed(world);
    assert.deepEqual(pod.changed_outside, ["GODFATHER_SSH_PUBLIC_KEY in its environment is a key that was replaced."]);
    assert.deepEqual((await attention(world)).map((view) => [view.kind, view.todo]), [
      ["keys_changed", "Wait: it is changed by itself."],
    ]);
    await turn(world);
    assert.equal(envOf(world, id)["GODFATHER_SSH_PUBLIC_KEY"], currentLine(world, "backend"));
    assert.deepEqual(await attention(world), []);
    assert.equal(patches(world).length, 2);
  });
});

Deno.test("a foreign key, another image and start arguments are told and not changed back", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world, { name: "odd" });
    const held = world.runpod.pods.get(id);
    const foreign = { ...held.env, GODFATHER_SSH_CA_PUBLIC_KEY: "ssh-ed25519 AAAAfremd" };
    Object.assign(held, { env: foreign, image: "other:1", args: "bash -c true" });
    world.clock.advance(2 * MINUTE);
    const [pod] = await listed(world);
    assert.deepEqual(pod.changed_outside.map((text: string) => text.split(" ")[0]), [
      "GODFATHER_SSH_CA_PUBLIC_KEY",
      "Its",
      "It",
    ]);
    assert.equal((await attention(world))[0].kind, "keys_changed");
    await turn(world);
    assert.deepEqual([patches(world), envOf(world, id)], [[], foreign]);
    await rotated(world, "user_ca");
    await turn(world);
    assert.equal(envOf(world, id)["GODFATHER_SSH_CA_PUBLIC_KEY"], currentLine(world, "user_ca"));
  });
});

Deno.test("nothing is changed while the server is paused", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world);
    setMeta(world.db, "paused", "Another server works on a copy of this database");
    await rotated(world, "backend");
    assert.notEqual((await world.call("GET", "/api/operator/status", { as: "operator" })).json.paused, null);
    await turn(world);
    assert.deepEqual(patches(world), []);
    await world.call("POST", "/api/operator/schedule/resume", { as: "operator" });
    await turn(world);
    assert.ok(await isDone(world));
  });
});
