import assert from "node:assert/strict";
import { createLog, silentLog } from "../../server/log.ts";
import { createOrgTurns } from "../../server/org_turns.ts";
import { eventually } from "../support/world.ts";

/** Work that notes who is at it, and holds those that are told to. */
function scene() {
  const begun: number[] = [];
  const inside = new Set<number>();
  const overlaps: number[] = [];
  const held = new Map<number, PromiseWithResolvers<void>>();
  const work = async (org: number) => {
    begun.push(org);
    if (inside.has(org)) overlaps.push(org);
    inside.add(org);
    await held.get(org)?.promise;
    inside.delete(org);
  };
  return {
    begun,
    inside,
    overlaps,
    work,
    hold: (org: number) => void held.set(org, Promise.withResolvers()),
    release(org: number) {
      held.get(org)?.resolve();
      held.delete(org);
    },
  };
}

Deno.test("org turns let a slow org hold up only its own next turn, and make that once however often it is asked for", async () => {
  const { begun, overlaps, work, hold, release } = scene();
  const turns = createOrgTurns("test", () => [1, 2], work, silentLog);
  hold(1);
  turns.begin();
  await eventually(() => begun.length === 2, "both have begun");
  turns.begin();
  await eventually(() => begun.length === 3, "the quick one has its next turn");
  turns.begin();
  const last = turns.turn();
  await eventually(() => begun.filter((org) => org === 2).length >= 3, "and the next");
  assert.deepEqual(begun.filter((org) => org === 1), [1]);
  release(1);
  await last;
  assert.deepEqual(begun.filter((org) => org === 1), [1, 1]);
  await turns.turn();
  assert.deepEqual(begun.filter((org) => org === 1), [1, 1, 1]);
  assert.deepEqual(overlaps, []);
});

Deno.test("org turns resolve with the turn that was asked for, not with one that ran before", async () => {
  const { begun, inside, work, hold, release } = scene();
  const turns = createOrgTurns("test", () => [1], work, silentLog);
  hold(1);
  const first = turns.turn();
  const second = turns.turn();
  await eventually(() => inside.has(1), "the first has begun");
  let isSecondOver = false;
  second.then(() => isSecondOver = true);
  release(1);
  hold(1);
  await first;
  await eventually(() => begun.length === 2, "the second has begun");
  assert.equal(isSecondOver, false);
  release(1);
  await second;
});

Deno.test("org turns survive an error, which is logged with its org", async () => {
  const lines: string[] = [];
  let orgs: () => number[] = () => [7];
  const fail = { on: true };
  const begun: number[] = [];
  const work = (org: number) => {
    begun.push(org);
    return fail.on ? Promise.reject(new Error("boom")) : Promise.resolve();
  };
  const turns = createOrgTurns("test", () => orgs(), work, createLog((line) => void lines.push(line), () => 0));
  await Promise.all([turns.turn(), turns.turn()]);
  assert.deepEqual(begun, [7, 7]);
  assert.equal(lines.length, 2);
  assert.match(lines[0]!, /A test turn of an org failed.*"org":7.*boom/);
  fail.on = false;
  await turns.turn();
  assert.equal(begun.length, 3);
  orgs = () => {
    throw new Error("no database");
  };
  await assert.rejects(turns.turn(), /no database/);
  turns.begin();
  await eventually(() => lines.length === 3, "the failed begin is logged");
  assert.match(lines[2]!, /A test turn failed.*no database/);
});

Deno.test("close of org turns waits for what runs, and begins nothing more", async () => {
  const { begun, inside, work, hold, release } = scene();
  const turns = createOrgTurns("test", () => [1, 2], work, silentLog);
  hold(1);
  const first = turns.turn();
  const next = turns.turn();
  await eventually(() => begun.length === 3, "the quick org had both of its turns");
  let isClosed = false;
  const closed = turns.close().then(() => isClosed = true);
  await Promise.resolve();
  assert.equal(isClosed, false);
  release(1);
  await closed;
  assert.equal(inside.size, 0);
  await Promise.all([first, next]);
  await turns.turn();
  assert.deepEqual(begun, [1, 2, 2]);
});
