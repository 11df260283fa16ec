import assert from "node:assert/strict";
import { RunpodError, type RunpodErrorKind, toAppError } from "../../server/runpod/client.ts";

const TABLE: readonly [RunpodErrorKind, number | null, string, number, string][] = [
  ["auth", 401, "runpod_key_refused", 400, "RunPod answered 401: why"],
  ["auth", 403, "runpod_key_refused", 400, "RunPod answered 403: why"],
  ["balance", 402, "runpod_no_balance", 400, "RunPod answered 402: why"],
  ["capacity", 400, "runpod_no_capacity", 400, "RunPod answered 400: why"],
  ["rate_limited", 429, "runpod_rate_limited", 400, "RunPod answered 429: why"],
  ["rate_limited", null, "runpod_rate_limited", 400, "why"],
  ["not_found", 404, "runpod_refused", 400, "RunPod answered 404: why"],
  ["conflict", 409, "runpod_refused", 400, "RunPod answered 409: why"],
  ["invalid", 422, "runpod_refused", 400, "RunPod answered 422: why"],
  ["upstream", 502, "runpod_unavailable", 424, "RunPod answered 502: why"],
  ["upstream", 403, "runpod_unavailable", 424, "RunPod answered 403: why"],
  ["upstream", 200, "runpod_unavailable", 424, "why"],
  ["network", null, "runpod_unavailable", 424, "RunPod could not be reached"],
  ["timeout", 200, "runpod_unavailable", 424, "RunPod could not be reached"],
  ["gone", 410, "runpod_unavailable", 424, "RunPod answered 410: why"],
];

for (const [kind, status, code, ours, sentence] of TABLE) {
  Deno.test(`toAppError gives ${code} when the kind is ${kind} and the status ${status}`, () => {
    const error = toAppError(new RunpodError({ kind, status, detail: "why" }));
    assert.equal(error.code, code);
    assert.equal(error.status, ours);
    assert.equal(error.message, sentence);
  });
}

Deno.test("toAppError carries the waiting time when RunPod gave one", () => {
  assert.equal(
    toAppError(new RunpodError({ kind: "rate_limited", status: 429, detail: "x", retryAfter: 12 })).details.retryAfter,
    12,
  );
  assert.equal(
    "retryAfter" in toAppError(new RunpodError({ kind: "invalid", status: 400, detail: "x" })).details,
    false,
  );
});

Deno.test("toAppError tells two kinds of missing capacity apart when it gives a hint", () => {
  const hint = (detail: string) => toAppError(new RunpodError({ kind: "capacity", status: 400, detail })).details.hint;
  assert.match(
    hint("There are not enough free GPUs on the host machine to start this pod.") ?? "",
    /terminate the pod and create a new one/,
  );
  assert.match(hint("There are no longer any instances available") ?? "", /hardware, cloud or data center/);
});
