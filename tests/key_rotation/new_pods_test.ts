/** Pods that come into the list while a key is replaced, or after. */
import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import { replacePod } from "../../server/pods/replace.ts";
import {
  attention,
  create,
  inWorld,
  listed,
  ORG,
  orgNamed,
  partsOf,
  refused,
  requests,
  whileTimePasses,
} from "../pods/support.ts";
import { currentLine, rotated, rotation, stoppedPod, turn } from "./support.ts";

const ASKER = { caller: { kind: "operator", account: "test" }, address: null, action: "test" } as const;

Deno.test("a fresh pod in the place of another one gets the present keys, not those of the old one", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world, { name: "gpu", use_cpu_only: false, volume_in_gb: 0, env: { WORD: "stays" } });
    const row = world.db.get<LivePod>("select * from compute_pods where runpod_id = ?", id)!;
    await rotated(world, "backend");
    await rotated(world, "user_ca");
    await replacePod(partsOf(world), orgNamed(world), ASKER, row.id, () => {});
    const { env } = requests(world, "POST", "/pods").at(-1)!.body as { env: Record<string, string> };
    assert.deepEqual(env, {
      WORD: "stays",
      GODFATHER_SETUP: "true",
      GODFATHER_SSH_PUBLIC_KEY: currentLine(world, "backend"),
      GODFATHER_SSH_CA_PUBLIC_KEY: currentLine(world, "user_ca"),
    });
  });
});

Deno.test("a create whose outcome is not known keeps a rotation open, because the pod may have the old key", async () => {
  await inWorld({ timings: { settleWaitMs: 60 } }, async (world) => {
    await stoppedPod(world, { name: "one" });
    world.runpod.faults.on({ fault: "F14", times: 1 });
    refused(await create(world, { name: "lost" }), 424, "runpod_unavailable");
    await rotated(world, "backend");
    await turn(world);
    await turn(world);
    const open = await rotation(world, "backend");
    assert.deepEqual([open.state, open.pods.map((pod) => pod.left)], ["open", [null]]);
    const [entry] = await attention(world);
    const forgotten = await world.call("POST", `${ORG}/attention/${entry.id}`, {
      as: "officer",
      body: { action: "forget" },
    });
    assert.equal(forgotten.status, 200);
    // What is stored says that all is done, and may be old.
    world.runpod.faults.on({ fault: "F32", variant: "empty-503", on: "GET /pods" });
    world.clock.advance(120_000);
    await whileTimePasses(world, world.app.jobs.keys.turn(), 500);
    assert.equal((await rotation(world, "backend")).state, "open");
    world.runpod.faults.clear();
    await turn(world, 120_000);
    assert.equal((await rotation(world, "backend")).state, "done");
  });
});

Deno.test("a stray pod with a CA key that was replaced is still shown as one of the org's", async () => {
  await inWorld({}, async (world) => {
    await stoppedPod(world);
    const old = currentLine(world, "user_ca");
    await rotated(world, "user_ca");
    await turn(world);
    assert.equal((await rotation(world, "user_ca")).state, "done");
    const stray = world.runpod.pods.addForeign({ name: "stray", env: { GODFATHER_SSH_CA_PUBLIC_KEY: old } });
    world.runpod.pods.addForeign({ name: "foreign", env: { GODFATHER_SSH_CA_PUBLIC_KEY: "ssh-ed25519 AAAA" } });
    world.clock.advance(120_000);
    await listed(world);
    assert.deepEqual((await attention(world)).map((view) => [view.kind, view.pod_id]), [["orphan", stray.id]]);
  });
});
