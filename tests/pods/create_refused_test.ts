import assert from "node:assert/strict";
import type { FaultSpec } from "../../server/demo/runpod/mod.ts";
import { attention, create, creates, intentsOf, inWorld, listed, refused } from "./support.ts";

interface Refusal {
  readonly what: string;
  readonly fault: FaultSpec;
  readonly status: number;
  readonly code: string;
  readonly sentence: string | RegExp;
  readonly hint?: RegExp;
}

const CAPACITY = "There are no longer any instances available with the requested specifications.";
const PLACE = /found no place for this request/;

/** Every way in which RunPod refuses a create and certainly made no pod. */
const REFUSALS: Refusal[] = [
  {
    what: "no capacity (F10 refresh)",
    fault: { fault: "F10", variant: "refresh" },
    status: 400,
    code: "runpod_no_capacity",
    sentence: `RunPod answered 400: ${CAPACITY} Please refresh and try again.`,
    hint: PLACE,
  },
  {
    what: "no capacity (F10 plain)",
    fault: { fault: "F10", variant: "plain" },
    status: 400,
    code: "runpod_no_capacity",
    sentence: `RunPod answered 400: ${CAPACITY}`,
    hint: PLACE,
  },
  {
    what: "no capacity (F10 currently)",
    fault: { fault: "F10", variant: "currently" },
    status: 400,
    code: "runpod_no_capacity",
    sentence: "RunPod answered 400: There are no instances currently available.",
    hint: PLACE,
  },
  {
    what: "no capacity (F10 resources)",
    fault: { fault: "F10", variant: "resources" },
    status: 400,
    code: "runpod_no_capacity",
    sentence: /^RunPod answered 400: This machine does not have the resources to deploy your pod\./,
    hint: PLACE,
  },
  {
    what: "no balance (F11)",
    fault: { fault: "F11", variant: "balance" },
    status: 400,
    code: "runpod_no_balance",
    sentence: "RunPod answered 402: Your balance is too low to deploy this pod.",
    hint: /Add credit/,
  },
  {
    what: "the pool is not allowed (F11)",
    fault: { fault: "F11", variant: "forbidden" },
    status: 400,
    code: "runpod_key_refused",
    sentence: /^RunPod answered 403: access denied: this account may not use SECURE pods/,
    hint: /Check the RunPod API key/,
  },
  {
    what: "the key was withdrawn (F1)",
    fault: { fault: "F1", variant: "401" },
    status: 400,
    code: "runpod_key_refused",
    sentence: "RunPod answered 401: missing bearer token",
  },
  {
    what: "the rate limit (F31)",
    fault: { fault: "F31", variant: "minute", on: "POST /pods" },
    status: 400,
    code: "runpod_rate_limited",
    sentence: /^RunPod answered 429: rate limit exceeded for the minute window/,
  },
  {
    what: "the edge refuses the agent (F32)",
    fault: { fault: "F32", variant: "agent-403", on: "POST /pods" },
    status: 424,
    code: "runpod_unavailable",
    sentence: /^RunPod answered 403: /,
  },
  {
    what: "an error body with error and status 400 (F33)",
    fault: { fault: "F33", variant: "error", status: 400 },
    status: 400,
    code: "runpod_refused",
    sentence: "RunPod answered 400: Something went wrong. Please try again later.",
  },
  {
    what: "an error body with message and status 422 (F33)",
    fault: { fault: "F33", variant: "message", status: 422 },
    status: 400,
    code: "runpod_refused",
    sentence: "RunPod answered 422: Something went wrong. Please try again later.",
  },
  {
    what: "the API is retired (F34)",
    fault: { fault: "F34", variant: "410", on: "POST /pods" },
    status: 424,
    code: "runpod_unavailable",
    sentence: /^RunPod answered 410: This version of the API has been retired/,
  },
];

for (const { what, fault, status, code, sentence, hint } of REFUSALS) {
  Deno.test(`a create that RunPod refuses leaves nothing behind: ${what}`, async () => {
    await inWorld({}, async (world) => {
      world.runpod.faults.on({ on: "POST /pods", times: 1, ...fault });
      const answer = await create(world, { name: "lab" });
      refused(answer, status, code, sentence);
      if (hint !== undefined) assert.match(answer.json.hint, hint);
      assert.equal(creates(world), 1, "it is sent once");
      const [intent] = intentsOf(world);
      assert.deepEqual([intent!.state, intent!.error_code], ["failed", code]);
      world.runpod.faults.clear();
      assert.deepEqual(await attention(world), []);
      assert.equal(world.runpod.pods.list().length, 0);
      const audit = world.db.get<{ status: number; outcome: string }>(
        "select status, outcome from audit_log where action like 'POST%:org/pods'",
      );
      assert.deepEqual([audit?.status, audit?.outcome], [status, code]);
      world.clock.advance(15_000);
      assert.deepEqual(await listed(world), []);
      assert.equal((await create(world, { name: "lab" })).status, 201, "the name is free again");
    });
  });
}

Deno.test("gpu.count is always sent, so that RunPod's switch F12 refuses nothing", async () => {
  await inWorld({}, async (world) => {
    world.runpod.faults.on({ fault: "F12" });
    assert.equal((await create(world, { use_cpu_only: false })).status, 201);
  });
});

Deno.test("capacity is told by GPU and cloud: another choice succeeds", async () => {
  await inWorld({}, async (world) => {
    world.runpod.faults.on({ fault: "F10", gpu: "NVIDIA L40S", cloud: "COMMUNITY" });
    const body = { use_cpu_only: false, gpu_type_id: "NVIDIA L40S" };
    refused(await create(world, body), 400, "runpod_no_capacity");
    assert.equal((await create(world, { ...body, cloud_type: "SECURE" })).status, 201);
    assert.equal((await create(world, { use_cpu_only: false })).status, 201);
  });
});

Deno.test("hardware that RunPod does not know, and an empty account, are refused by RunPod itself", async () => {
  await inWorld({}, async (world) => {
    refused(await create(world, { use_cpu_only: false, gpu_type_id: "NVIDIA Nothing" }), 400, "runpod_no_capacity");
    refused(await create(world, { cpu_flavor: "cpu5g", vcpu_count: 32 }), 400, "runpod_refused", /between 2 and 16/);
    refused(await create(world, { cloud_type: "COMMUNITY" }), 400, "runpod_no_capacity");
    world.runpod.meter.setBalance(0.01);
    refused(await create(world, { use_cpu_only: false }), 400, "runpod_no_balance");
    assert.deepEqual(await listed(world), []);
  });
});

Deno.test("a key with read rights only cannot create and is told so", async () => {
  await inWorld({}, async (world) => {
    const put = await world.call("PUT", "/api/compute/org/integrations/runpod", {
      as: "officer",
      body: { api_key: "rpa_readonly_0123456789" },
    });
    assert.equal(put.status, 200, put.text);
    refused(await create(world), 400, "runpod_key_refused", "RunPod answered 403: access denied");
    assert.ok(!(await create(world)).text.includes("rpa_readonly"));
  });
});

Deno.test("the wait that RunPod asks for on a rate limit is passed on as Retry-After", async () => {
  await inWorld({}, async (world) => {
    world.runpod.faults.on({ fault: "F31", variant: "retry-after-only", ms: 17_000, on: "POST /pods" });
    const answer = await create(world);
    refused(answer, 400, "runpod_rate_limited");
    assert.equal(answer.headers.get("retry-after"), "17");
  });
});
