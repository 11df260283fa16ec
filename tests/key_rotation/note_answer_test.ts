import assert from "node:assert/strict";
import { storeDeliveredKeys } from "../../db/stores/pod_keys.ts";
import { dropAddress, type LivePod } from "../../db/stores/pods.ts";
import { recordAnswer } from "../../server/pods/seen.ts";
import type { RunpodPod } from "../../server/runpod/client.ts";
import { type ClockedWorld, inWorld, partsOf, runpodPod } from "../pods/support.ts";
import { currentLine, stoppedPod } from "./support.ts";

const row = (world: ClockedWorld, id: string) =>
  world.db.get<LivePod>("select * from compute_pods where runpod_id = ?", id)!;

/** Stores an answer of RunPod about a pod, some seconds later. */
function answered(world: ClockedWorld, id: string, change: Partial<RunpodPod>): LivePod {
  world.clock.advance(5_000);
  const env = {
    GODFATHER_SSH_PUBLIC_KEY: currentLine(world, "backend"),
    GODFATHER_SSH_CA_PUBLIC_KEY: currentLine(world, "user_ca"),
  };
  const uptimeSeconds = change.startedAt === undefined ? null : (world.clock.now() - change.startedAt!) / 1_000;
  const pod = runpodPod({ id, env, uptimeSeconds, ...change });
  world.db.tx(() => recordAnswer(partsOf(world), row(world, id).id, pod, world.clock.now()));
  return row(world, id);
}

Deno.test("an answer without an env keeps what is known, and a new start begins with the env that is shown", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world);
    const known = answered(world, id, { status: "EXITED" });
    assert.match(known.env_backend!, /^SHA256:/);
    assert.equal(answered(world, id, { status: "EXITED", env: null }).env_backend, known.env_backend);
    const started = answered(world, id, { startedAt: world.clock.now() });
    assert.deepEqual([started.keys_start, started.start_env_backend], [started.start_key, known.env_backend]);
    const odd = answered(world, id, { startedAt: world.clock.now(), env: { WORD: "x" } });
    assert.notEqual(odd.start_key, started.start_key);
    assert.deepEqual([odd.env_backend, odd.start_env_user_ca], ["none", "none"]);
  });
});

Deno.test("what was known of a start's files is gone with a restart, also when RunPod shows it under the same times", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedPod(world);
    const startedAt = world.clock.now();
    const before = answered(world, id, { startedAt });
    storeDeliveredKeys(world.db, before.id, before.start_key!, { backend: ["SHA256:a"], user_ca: ["SHA256:b"] });
    assert.equal(answered(world, id, { startedAt }).files_backend, '["SHA256:a"]');
    dropAddress(world.db, before.id);
    const after = answered(world, id, { startedAt });
    assert.equal(after.start_key, before.start_key);
    assert.deepEqual([after.keys_start, after.files_backend, after.files_user_ca], [after.start_key, null, null]);
  });
});
