import assert from "node:assert/strict";
import { startKeyOf } from "../../server/pods/start_key.ts";
import { runpodPod } from "./support.ts";

const AT = 1_000_000_000;
const pod = (startedAt: number | null, uptimeSeconds: number | null, status = "RUNNING") =>
  runpodPod({ status, startedAt, uptimeSeconds, createdAt: 7 });

/** Previous key, RunPod's answer, when it was asked for (seconds after `AT`), and the key that must come of it. */
const TABLE: [string, string | null, ReturnType<typeof pod>, number, string | null][] = [
  ["a first start", null, pod(5_000, 10), 0, "5000/999990"],
  ["a first start without uptime", null, pod(5_000, null), 0, "5000/"],
  ["no start time at all", null, pod(null, 10), 0, "7/999990"],
  ["the same start a minute later", "5000/999990", pod(5_000, 70), 60, "5000/999990"],
  ["an uptime that wobbles", "5000/999990", pod(5_000, 0), 50, "5000/999990"],
  ["an uptime that wobbles at the limit", "5000/999990", pod(5_000, 10), 60, "5000/999990"],
  ["a restart in the console: a later boot, the same start time", "5000/999990", pod(5_000, 10), 61, "5000/1000051"],
  ["a clock that was set back", "5000/999990", pod(5_000, 4_000), 0, "5000/999990"],
  ["another start time", "5000/999990", pod(6_000, 10), 0, "6000/999990"],
  ["an answer without uptime", "5000/999990", pod(5_000, null), 600, "5000/999990"],
  ["an uptime that is learned later", "5000/", pod(5_000, 100), 100, "5000/"],
  ["another start time, uptime unknown", "5000/999990", pod(6_000, null), 0, "6000/"],
  ["a stopped pod", "5000/999990", pod(5_000, null, "EXITED"), 0, null],
  ["a starting pod", "5000/999990", pod(5_000, null, "STARTING"), 0, null],
  ["a pod with an unknown status", "5000/999990", pod(5_000, 10, "REBALANCING"), 0, null],
];

Deno.test("startKeyOf names one start of the container", () => {
  for (const [what, previous, answer, seconds, expected] of TABLE) {
    assert.equal(startKeyOf(previous, answer, AT + seconds * 1_000), expected, what);
  }
});
