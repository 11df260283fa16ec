import assert from "node:assert/strict";
import { createProgress, progressLine, size } from "../../admin/commands/progress.ts";

function scene(options: { isTerminal?: boolean; total?: number; done?: number } = {}) {
  let at = 1_000;
  const written: string[] = [];
  const write = (text: string) => Promise.resolve(void written.push(text));
  const progress = createProgress({ write, isTerminal: true, now: () => at, ...options });
  return { progress, written, pass: (ms: number) => void (at += ms) };
}

Deno.test("progress writes nothing when it is not on a terminal", async () => {
  const { progress, written, pass } = scene({ isTerminal: false, total: 10 });
  pass(5_000);
  progress.add(10);
  await progress.end();
  assert.deepEqual(written, []);
});

Deno.test("progress shows percent, bytes, speed and the time that is left, on one line, and takes it away", async () => {
  const { progress, written, pass } = scene({ total: 100_000_000 });
  pass(1_000);
  progress.add(25_000_000);
  pass(1_000);
  progress.add(25_000_000);
  await progress.end();
  assert.deepEqual(written, [
    "\r\x1b[K 25 %  25.0 MB of 100.0 MB  25.0 MB/s  3 s left",
    "\r\x1b[K 50 %  50.0 MB of 100.0 MB  25.0 MB/s  2 s left",
    "\r\x1b[K",
  ]);
});

Deno.test("progress writes at most five lines a second however many parts come", async () => {
  const { progress, written, pass } = scene({ total: 1_000_000 });
  for (let part = 0; part < 1_000; part++) {
    pass(1);
    progress.add(1_000);
  }
  await progress.end();
  assert.equal(written.length, 5 + 1);
});

Deno.test("progress leaves no trace of a transfer that was over before it was shown", async () => {
  const { progress, written, pass } = scene({ total: 10 });
  pass(10);
  progress.add(10);
  await progress.end();
  assert.deepEqual(written, []);
});

Deno.test("progress counts what was there already, but not as speed", async () => {
  const { progress, written, pass } = scene({ total: 100_000, done: 90_000 });
  pass(1_000);
  progress.add(1_000);
  await progress.end();
  assert.equal(written[0], "\r\x1b[K 91 %  91.0 kB of 100.0 kB  1.0 kB/s  9 s left");
});

Deno.test("progress shows the speed of the last seconds, not of all the time", async () => {
  const { progress, written, pass } = scene({ total: 1_000_000_000 });
  for (let second = 0; second < 10; second++) {
    pass(1_000);
    progress.add(10_000_000);
  }
  for (let second = 0; second < 10; second++) {
    pass(1_000);
    progress.add(1_000_000);
  }
  await progress.end();
  assert.match(written[9]!, / {2}10\.0 MB\/s {2}/);
  assert.match(written[19]!, / {2}1\.0 MB\/s {2}14 min 50 s left$/);
});

Deno.test("progressLine is right for no bytes, unknown totals, and a file that grew", () => {
  assert.equal(progressLine({ bytes: 0, total: 0, bytesPerSecond: 0 }), "100 %  0 B of 0 B  0 B/s");
  assert.equal(progressLine({ bytes: 0, total: 5, bytesPerSecond: 0 }), "  0 %  0 B of 5 B  0 B/s");
  assert.equal(progressLine({ bytes: 1_500, total: undefined, bytesPerSecond: 500 }), "1.5 kB  500 B/s");
  assert.equal(progressLine({ bytes: 12, total: 10, bytesPerSecond: 2 }), "100 %  12 B of 10 B  2 B/s  0 s left");
  assert.match(progressLine({ bytes: 0, total: 9e9, bytesPerSecond: 1e6 }), /2 h 30 min left$/);
});

Deno.test("size has the unit that fits", () => {
  const sizes = [0, 999, 1_000, 999_949, 999_950, 12_345_678, 2e9, 5e15];
  const shown = ["0 B", "999 B", "1.0 kB", "999.9 kB", "1.0 MB", "12.3 MB", "2.0 GB", "5000.0 TB"];
  assert.deepEqual(sizes.map(size), shown);
});
