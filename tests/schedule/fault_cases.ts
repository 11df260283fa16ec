/**
 * The cases of every fault of the stand-in RunPod, for the schedule and for reconcile, and how they are found. A key is
 * the fault with its variant (`F13 cut`), or the fault alone where it always holds (`F3`).
 */
import assert from "node:assert/strict";
import type { FaultInfo } from "../../server/demo/runpod/fault_table.ts";
import { attention, type ClockedWorld } from "../pods/support.ts";
import { DEMO_SECRET } from "../support/world.ts";

/** A switchable fault or one that always holds, as one case covers it. */
export interface Covered {
  readonly key: string;
  readonly fault: string;
  /** null: it always holds. */
  readonly variant: string | null;
}

/** All faults and variants that the stand-in says it has, by `GET /_demo/faults`. */
export async function faultsOfStandin(world: ClockedWorld): Promise<Covered[]> {
  const request = new Request("http://127.0.0.1/_demo/faults", { headers: { "x-demo-secret": DEMO_SECRET } });
  const answer = await world.runpod.fetch(request);
  assert.equal(answer.status, 200);
  const { faults } = await answer.json() as { faults: FaultInfo[] };
  return faults.flatMap(({ id, variants }): Covered[] =>
    variants.length === 0
      ? [{ key: id, fault: id, variant: null }]
      : variants.map((variant) => ({ key: `${id} ${variant}`, fault: id, variant }))
  );
}

/** Fails with a sentence that names every fault without a case, and every case without a fault. */
export function checkCovered(covered: readonly Covered[], cases: Readonly<Record<string, unknown>>, of: string): void {
  const missing = covered.filter(({ key }) => !Object.hasOwn(cases, key)).map(({ key }) => key);
  assert.deepEqual(missing, [], `These faults of the stand-in RunPod have no case for ${of}: ${missing.join(", ")}`);
  const unknown = Object.keys(cases).filter((key) => !covered.some((one) => one.key === key));
  assert.deepEqual(unknown, [], `These cases for ${of} are of no fault of the stand-in: ${unknown.join(", ")}`);
}

/** The case of a fault; fails with a sentence that names a fault without one. */
export function caseOf<Case>(cases: Readonly<Record<string, Case>>, { key }: Covered): Case {
  const found = Object.hasOwn(cases, key) ? cases[key] : undefined;
  assert.ok(found, `The fault ${key} of the stand-in RunPod has no case`);
  return found;
}

/** An env value that must never be seen outside the pod and the calls to RunPod. */
export const ENV_VALUE = "hush-3f9c-env-value";

/** What officers must look at, by kind in order of the words; that pods of these tests have no SSH server is no news. */
export async function troubles(world: ClockedWorld): Promise<string[]> {
  return (await attention(world)).map((entry) => entry.kind as string).filter((kind) => kind !== "unreachable").sort();
}

/** Fails when the env value is in the log or anywhere in the database. */
export function checkSecret(world: ClockedWorld): void {
  assert.equal(world.logLines.filter((line) => line.includes(ENV_VALUE)).length, 0, "an env value is in the log");
  const tables = world.db.all<{ name: string }>("select name from sqlite_schema where type = 'table'");
  for (const { name } of tables) {
    const text = JSON.stringify(
      world.db.all(`select * from "${name}"`),
      (_, value) => value instanceof Uint8Array ? "bytes" : value,
    );
    assert.ok(!text.includes(ENV_VALUE), `an env value is in the table ${name}`);
  }
}
