/** What the tests of rotations share: a world with pods of an org, its rotations, and RunPod's side of an env. */
import assert from "node:assert/strict";
import type { RotationView } from "../../server/key_rotation/status.ts";
import { act, type ClockedWorld, create, requests } from "../pods/support.ts";
import type { Answer, World } from "../support/world.ts";

export const KEYS = "/api/operator/orgs/org/keys";

export function rotate(world: World, kind: "backend" | "user_ca"): Promise<Answer> {
  return world.call("POST", `${KEYS}/${kind}`, { as: "operator" });
}

/** The same; it must begin. */
export async function rotated(world: World, kind: "backend" | "user_ca"): Promise<RotationView> {
  const answer = await rotate(world, kind);
  assert.equal(answer.status, 202, answer.text);
  return answer.json.rotation;
}

export async function rotations(world: World): Promise<RotationView[]> {
  return (await world.call("GET", "/api/operator/orgs/org/rotations", { as: "operator" })).json.rotations;
}

export async function rotation(world: World, kind: "backend" | "user_ca"): Promise<RotationView> {
  const found = (await rotations(world)).find((one) => one.kind === kind);
  assert.ok(found, `there is no rotation of ${kind}`);
  return found;
}

/** One turn of the rotations, some seconds later. */
export async function turn(world: ClockedWorld, afterMs = 25_000): Promise<void> {
  world.clock.advance(afterMs);
  await world.app.jobs.keys.turn();
}

/** A pod that was made and stopped; RunPod's id. */
export async function stoppedPod(world: ClockedWorld, body: Record<string, unknown> = {}): Promise<string> {
  const made = await create(world, body);
  assert.equal(made.status, 201, made.text);
  const id: string = made.json.pod.id;
  world.clock.advance(60_000);
  const stopped = await act(world, id, "stop");
  assert.equal(stopped.status, 200, stopped.text);
  return id;
}

/** The env that RunPod has of a pod. */
export const envOf = (world: World, id: string): Readonly<Record<string, string>> => world.runpod.pods.get(id).env;

/** The present public line of a kind. */
export function currentLine(world: World, kind: "backend" | "user_ca"): string {
  return world.db.get<{ public_key: string }>(
    "select public_key from compute_keys where org_id = 1 and kind = ? and retired_at is null",
    kind,
  )!.public_key;
}

export const patches = (world: World) => requests(world, "PATCH", /^\/pods\//);

export function keyAudit(world: World): { readonly outcome: string; readonly details: Record<string, unknown> }[] {
  return world.db.all<{ outcome: string; details: string }>(
    "select outcome, details from audit_log where action = 'KEYS' order by id",
  ).map((row) => ({ outcome: row.outcome, details: JSON.parse(row.details) }));
}
