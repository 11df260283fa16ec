/** Pods that are really there, under an orgpods in the test's process whose clock is hardly ahead of the machine's. */
import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import { eventually, ssh } from "../demo/pods_support.ts";
import { create, ORG } from "../pods/support.ts";
import { newKey, publicLineOf, saveCertificate } from "../support/ssh_client.ts";
import type { Answer, TestClock, World } from "../support/world.ts";

export type RealWorld = World & { readonly clock: TestClock };

/** What makes pods come up as soon as their container is there, and turns look at a list of a moment ago. */
export const QUICK = {
  runpod: { timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } },
  keyTimings: { listAgeMs: 1_000 },
} as const;

/** Certificates begin five minutes early, and the pods' sshd judges them by the machine's clock. */
export function movedClock(): TestClock {
  let ahead = 0;
  return { now: () => Date.now() + ahead, advance: (ms) => void (ahead += ms) };
}

export const podRow = (world: World, id: string): LivePod =>
  world.db.get<LivePod>("select * from compute_pods where runpod_id = ?", id)!;

/** Lists the pods by a fresh list of RunPod, until the pod's present start is as wanted. */
export async function untilPod(
  world: RealWorld,
  id: string,
  what: string,
  isSo: (pod: LivePod) => boolean,
): Promise<void> {
  await eventually(what, async () => {
    world.clock.advance(100);
    await world.call("GET", `${ORG}/pods`, { as: "officer" });
    const pod = podRow(world, id);
    return pod.host !== null && pod.start_key !== null && pod.setup_start === pod.start_key && isSo(pod);
  });
}

/** Makes a pod that everybody may use; RunPod's id. */
export async function newPod(world: RealWorld, name: string): Promise<string> {
  const made = await create(world, { name, is_public: true });
  assert.equal(made.status, 201, made.text);
  return made.json.pod.id;
}

/** One turn of the rotations, over a fresh list. */
export async function nextTurn(world: RealWorld): Promise<void> {
  world.clock.advance(1_500);
  await world.app.jobs.keys.turn();
}

/** Asks for a certificate for the member's new key. */
export async function connect(world: World, id: string, folder: string): Promise<{ key: string; answer: Answer }> {
  const key = await newKey(folder, crypto.randomUUID());
  const body = { public_key: await publicLineOf(key) };
  return { key, answer: await world.call("POST", `${ORG}/me/pods/${id}/connect`, { as: "member", body }) };
}

/** The same, and into the pod with it; the fingerprint of the CA that signed it. */
export async function memberGetsIn(world: World, id: string, folder: string): Promise<string> {
  const { key, answer } = await connect(world, id, folder);
  assert.equal(answer.status, 200, answer.text);
  await saveCertificate(key, answer.json.ssh_info.certificate);
  const { code, err } = await ssh(answer.json.ssh_info, key, { command: "true" });
  assert.equal(code, 0, err);
  const sql = "select ca_fingerprint as ca from compute_connections where serial = ?";
  return world.db.get<{ ca: string }>(sql, answer.json.serial)!.ca;
}
