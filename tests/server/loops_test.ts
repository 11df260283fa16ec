import assert from "node:assert/strict";
import type { LivePod } from "../../db/stores/pods.ts";
import { MINUTE, SECOND } from "../../server/clock.ts";
import { every } from "../../server/every.ts";
import { createLog } from "../../server/log.ts";
import { refreshAge } from "../../server/loops.ts";

const NOW = 1_000_000_000;
const pod = (state: Partial<LivePod>): LivePod =>
  ({ created_at: NOW - 60 * MINUTE, started_at: null, reachable_start: null, start_key: null, ...state }) as LivePod;
const running = { status: "RUNNING", host: "192.0.2.1", start_key: "1/1", reachable_start: "1/1" };

const AGES: [string, LivePod[], boolean, number][] = [
  ["nothing runs", [pod({ status: "EXITED" }), pod({ status: "GONE" })], false, 5 * MINUTE],
  ["there are no pods", [], false, 5 * MINUTE],
  ["a pod runs and was reached", [pod(running)], false, MINUTE],
  ["a create is open", [], true, 4 * SECOND],
  ["a pod is starting", [pod({ status: "STARTING", created_at: NOW - MINUTE })], false, 4 * SECOND],
  [
    "a pod runs and was not reached in this start",
    [pod({ ...running, reachable_start: "0/0", started_at: NOW })],
    false,
    4 * SECOND,
  ],
  ["a pod never gets an address", [pod({ ...running, host: null, started_at: NOW - 30 * MINUTE })], false, MINUTE],
];
for (const [when, pods, open, expected] of AGES) {
  Deno.test(`refreshAge is ${expected / SECOND} s when ${when}`, () => {
    assert.equal(refreshAge(NOW, pods, open), expected);
  });
}

Deno.test("every never runs two turns at once, survives an error, and stop waits for the turn", async () => {
  const lines: string[] = [];
  let inside = 0;
  let turns = 0;
  let enough = () => {};
  const five = new Promise<void>((resolve) => enough = resolve);
  const loop = every("test", 1, async () => {
    assert.equal(++inside, 1);
    turns++;
    if (turns === 5) enough();
    await new Promise((resolve) => setTimeout(resolve, 3));
    inside--;
    if (turns === 2) throw new Error("boom");
  }, createLog((line) => void lines.push(line), () => 0));
  await five;
  await loop.stop();
  assert.equal(inside, 0);
  const stoppedAt = turns;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(turns, stoppedAt);
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /A turn of the test loop failed.*boom/);
});

Deno.test("every wakes at once when it waits, and has one more turn when it was woken during a turn", async () => {
  let turns = 0;
  let hold = Promise.resolve();
  const told: (() => void)[] = [];
  const turn = (n: number) => new Promise<void>((resolve) => turns >= n ? resolve() : told.push(resolve));
  const loop = every("test", 3_600_000, async () => {
    turns++;
    told.splice(0).forEach((tell) => tell());
    await hold;
  }, createLog(() => {}, () => 0));
  await turn(1);
  let release = () => {};
  hold = new Promise((resolve) => release = resolve);
  loop.wake();
  await turn(2);
  loop.wake();
  loop.wake();
  release();
  hold = Promise.resolve();
  await turn(3);
  await loop.stop();
  loop.wake();
  assert.equal(turns, 3);
});
