import assert from "node:assert/strict";
import { DAY } from "../../server/clock.ts";
import { failure, testClient, withServer } from "./support.ts";

const FROM = Date.UTC(2026, 10, 27);
const SPAN = { from: FROM, to: FROM + 3 * DAY };
const record = (change: Record<string, unknown> = {}) => ({
  podId: "p1",
  startTime: "2026-11-27T00:00:00.000Z",
  endTime: "2026-11-28T00:00:00.000Z",
  totalAmount: 1.5,
  gpuAmount: 1,
  cpuAmount: 0,
  diskAmount: 0.5,
  ...change,
});

Deno.test("client.billing asks for whole days and reads pod, day and amount", async () => {
  const answer = () => Response.json({ records: [record(), record({ podId: "p2", totalAmount: 0.25 })], metadata: {} });
  await withServer([answer], async (server) => {
    assert.deepEqual(await testClient(server.url).client.billing(SPAN), [
      { runpodId: "p1", dayAt: FROM, usd: 1.5 },
      { runpodId: "p2", dayAt: FROM, usd: 0.25 },
    ]);
    const url = new URL(server.seen[0]!.path, "http://localhost");
    assert.deepEqual([url.pathname, ...url.searchParams.values()], [
      "/v2/billing/pods",
      "day",
      "2026-11-27T00:00:00.000Z",
      "2026-11-30T00:00:00.000Z",
    ]);
  });
});

const TAKEN: readonly (readonly [string, unknown[], [number, number][]])[] = [
  ["amounts as text", [record({ totalAmount: "2.75" })], [[FROM, 2.75]]],
  ["no total, but parts", [record({ totalAmount: null })], [[FROM, 1.5]]],
  ["only a disk", [record({ totalAmount: undefined, gpuAmount: undefined, cpuAmount: null })], [[FROM, 0.5]]],
  ["a refund", [record({ totalAmount: -0.5 })], [[FROM, -0.5]]],
  ["several records of a day", [record(), record({ startTime: "2026-11-27T13:00:00Z" })], [[FROM, 3]]],
  ["days that were not asked for", [record({ startTime: "2026-11-26T23:59:59Z" }), record()], [[FROM, 1.5]]],
  ["another zone", [record({ startTime: "2026-11-28T01:00:00+02:00" })], [[FROM, 1.5]]],
  ["fields nobody knows", [record({ discount: { percent: 5 } })], [[FROM, 1.5]]],
  ["nothing", [], []],
];
for (const [what, records, wanted] of TAKEN) {
  Deno.test(`client.billing takes ${what}`, () =>
    withServer([() => Response.json({ records })], async (server) => {
      const bills = await testClient(server.url).client.billing(SPAN);
      assert.deepEqual(bills.map(({ dayAt, usd }) => [dayAt, usd]), wanted);
    }));
}

const REFUSED: readonly (readonly [string, unknown])[] = [
  ["no records", {}],
  ["records that are no list", { records: { "0": record() } }],
  ["a list", [record()]],
  ["nothing", null],
  ["a record without a pod", { records: [record({ podId: undefined })] }],
  ["a record without a time", { records: [record({ startTime: null })] }],
  ["a time that does not exist", { records: [record({ startTime: "2026-99-99T00:00:00Z" })] }],
  ["a record without amounts", { records: [{ podId: "p1", startTime: "2026-11-27T00:00:00Z" }] }],
  ["a huge amount", { records: [record({ totalAmount: 1e300 })] }],
  ["a huge amount as text", { records: [record({ totalAmount: "1" + "0".repeat(300) })] }],
  ["words for an amount", { records: [record({ totalAmount: "a lot" })] }],
  ["true for an amount", { records: [record({ totalAmount: true })] }],
  ["one bad record among good ones", { records: [record(), record({ totalAmount: {} })] }],
  ["an endless pod id", { records: [record({ podId: "p".repeat(101) })] }],
];
for (const [what, answer] of REFUSED) {
  Deno.test(`client.billing refuses ${what} as a whole`, () =>
    withServer([() => Response.json(answer)], async (server) => {
      const refused = await failure(testClient(server.url).client.billing(SPAN));
      assert.equal(refused.kind, "upstream");
      assert.match(refused.detail, /^RunPod sent a bill (that cannot be read|without amounts)$/);
    }));
}
