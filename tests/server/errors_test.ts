import assert from "node:assert/strict";
import { AppError, asClause, exitCodeOf, isErrorCode, shown, statusOf } from "../../server/errors.ts";
import { isoTime } from "../../server/clock.ts";

Deno.test("exitCodeOf gives scripts one number per kind of failure", () => {
  const table = {
    usage: 2,
    invalid_request: 2,
    too_large: 2,
    pod_not_found: 3,
    org_not_found: 3,
    not_an_officer: 4,
    token_invalid: 4,
    already_running: 5,
    live_pods: 5,
    pod_not_running: 5,
    runpod_unavailable: 6,
    runpod_no_capacity: 6,
    discord_unavailable: 6,
    rate_limited: 6,
    internal_error: 1,
    disk_full: 1,
  } as const;
  for (const [code, exit] of Object.entries(table)) {
    assert.ok(isErrorCode(code));
    assert.equal(exitCodeOf(code), exit, code);
  }
});

Deno.test("AppError carries its status, and a foreign word is no code of ours", () => {
  assert.equal(new AppError("pod_not_running", "Pod is not running").status, 409);
  assert.equal(statusOf("runpod_unavailable"), 424);
  assert.equal(isErrorCode("toString"), false);
});

Deno.test("shown escapes what could deceive and cuts what is long", () => {
  assert.equal(shown("a\u001b[31m\u202eb"), "a\\u001b[31m\\u202eb");
  assert.equal(shown({ a: 1 }), '{"a":1}');
  assert.equal(shown("x".repeat(100)).length, 80);
});

Deno.test("isoTime writes whole seconds with +00:00", () => {
  assert.equal(isoTime(Date.UTC(2099, 9, 9)), "2099-10-09T00:00:00+00:00");
  assert.equal(isoTime(Date.UTC(2099, 9, 9) + 5), "2099-10-09T00:00:00.005+00:00");
});

Deno.test("asClause takes the full stop off a sentence that goes on", () => {
  assert.equal(asClause("Please try again later."), "Please try again later");
  assert.equal(asClause("RunPod answered 502: Bad gateway"), "RunPod answered 502: Bad gateway");
});
