import assert from "node:assert/strict";
import { createRefresher } from "../../server/pods/refresh.ts";
import { createActions } from "../../server/pods/act.ts";
import { createSettler } from "../../server/pods/settle.ts";
import { createRunningPod } from "../support/world.ts";
import {
  act,
  attention,
  type ClockedWorld,
  intentsOf,
  inWorld,
  partsOf,
  refreshed,
  refused,
  requests,
} from "./support.ts";

const GPU = { use_cpu_only: false, volume_in_gb: 10 };

async function stoppedGpuPod(world: ClockedWorld): Promise<string> {
  const id = await createRunningPod(world, GPU);
  world.clock.advance(180_000);
  assert.equal((await act(world, id, "stop")).status, 200);
  world.clock.advance(1_000);
  return id;
}

const sentActions = (world: ClockedWorld) =>
  requests(world, "POST", /\/action$/).map((one) => (one.body as { action: string }).action);

/** One turn of the settler, as the loop makes it; the clock moves on first. */
async function settleTurn(world: ClockedWorld, settle: () => Promise<void>, ms = 70_000): Promise<void> {
  world.clock.advance(ms);
  await settle();
}

async function withSettler(world: ClockedWorld, test: (settle: () => Promise<void>) => Promise<void>): Promise<void> {
  const parts = partsOf(world);
  const refresher = createRefresher(parts, () => {});
  try {
    await test(createSettler({ ...parts, refresher, actions: createActions(parts), poke: () => {} }).turn);
  } finally {
    await refresher.close();
  }
}

for (const variant of ["problem", "plain"]) {
  Deno.test(`a start without a free GPU on its host is runpod_no_capacity and the pod stays stopped: F27 ${variant}`, async () => {
    await inWorld({}, async (world) => {
      const id = await stoppedGpuPod(world);
      world.runpod.faults.on({ fault: "F27", variant, times: 1 });
      const answer = await act(world, id, "start");
      refused(answer, 400, "runpod_no_capacity", /^RunPod answered 400: .*not enough free GPUs on the host machine/i);
      assert.match(answer.json.hint, /its? host has no free GPU|pod's host has no free GPU/);
      assert.match(answer.json.hint, /the new one does not get the old volume disk/);
      assert.equal((await refreshed(world))[0].status, "EXITED");
      assert.equal(intentsOf(world).at(-1)!.state, "failed");
      assert.deepEqual(sentActions(world), ["stop", "start"], "it is not tried again");
      assert.deepEqual(await attention(world), []);
    });
  });
}

Deno.test("a start refused for another reason is not called a lack of capacity: F27 other", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedGpuPod(world);
    world.runpod.faults.on({ fault: "F27", variant: "other", times: 1 });
    refused(
      await act(world, id, "start"),
      400,
      "runpod_refused",
      "RunPod answered 400: The pod is being moved to another machine.",
    );
  });
});

Deno.test("a restart without a free GPU is runpod_no_capacity although the pod goes on running", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, GPU);
    world.runpod.faults.on({ fault: "F27", times: 1 });
    refused(await act(world, id, "restart"), 400, "runpod_no_capacity");
    assert.equal((await refreshed(world))[0].status, "RUNNING");
    assert.equal(intentsOf(world).at(-1)!.state, "failed");
  });
});

for (const variant of ["zero", "absent"]) {
  Deno.test(`a start that comes up without its GPU is stopped again and reported: F28 ${variant}`, async () => {
    await inWorld({}, async (world) => {
      const id = await stoppedGpuPod(world);
      world.runpod.faults.on({ fault: "F28", variant, times: 1 });
      refused(await act(world, id, "start"), 400, "runpod_no_capacity", /started without its GPU.* was stopped again/);
      assert.deepEqual(sentActions(world), ["stop", "start", "stop"]);
      assert.equal(world.runpod.pods.get(id).phase, "exited");
      assert.equal((await refreshed(world))[0].status, "EXITED");
      assert.deepEqual(await attention(world), []);
    });
  });

  Deno.test(`a start that comes up without its GPU and whose answer is lost is stopped again too: F28 ${variant}`, async () => {
    await inWorld({}, async (world) => {
      const id = await stoppedGpuPod(world);
      world.runpod.faults.on({ fault: "F28", variant, times: 1 });
      world.runpod.faults.on({ fault: "F29", variant: "500-but-done", action: "start", times: 1 });
      refused(await act(world, id, "start"), 400, "runpod_no_capacity", /was stopped again/);
      assert.equal(world.runpod.pods.get(id).phase, "exited");
    });
  });
}

Deno.test("a pod without its GPU that cannot be stopped again is never called started", async () => {
  await inWorld({}, async (world) => {
    const id = await stoppedGpuPod(world);
    world.runpod.faults.on({ fault: "F28", variant: "zero", times: 1 });
    world.runpod.faults.on({ fault: "F1", variant: "403", on: "POST /pods/{id}/action", action: "stop" });
    refused(
      await act(world, id, "start"),
      400,
      "runpod_no_capacity",
      /could not be stopped again: stop it, it costs money/,
    );
    world.runpod.faults.clear();
    assert.equal((await refreshed(world))[0].status, "RUNNING");
    assert.equal(intentsOf(world).at(-1)!.state, "failed");
    assert.ok(world.logLines.some((line) => line.includes("could not be stopped")));
  });
});

Deno.test("a CPU pod starts although it has no GPU", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    await act(world, id, "stop");
    assert.equal((await act(world, id, "start")).status, 200);
  });
});

for (const action of ["start", "stop", "terminate"]) {
  Deno.test(`an action that was done although RunPod answered 500 is a success: F29 ${action}`, async () => {
    await inWorld({}, async (world) => {
      const id = action === "start" ? await stoppedGpuPod(world) : await createRunningPod(world);
      world.clock.advance(180_000);
      world.runpod.faults.on({ fault: "F29", variant: "500-but-done", times: 1 });
      const answer = await act(world, id, action);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(intentsOf(world).at(-1)!.state, "done");
      assert.deepEqual(await attention(world), []);
      const [pod] = await refreshed(world);
      assert.equal(pod?.status, { start: "RUNNING", stop: "EXITED" }[action]);
    });
  });
}

Deno.test("a restart whose answer is lost is 424 and settled by RunPod's start time: F29", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, GPU);
    world.clock.advance(10_000);
    world.runpod.faults.on({ fault: "F29", variant: "500-but-done", times: 1 });
    const answer = await act(world, id, "restart");
    refused(answer, 424, "runpod_unavailable", /Whether the restart happened is not known yet/);
    assert.deepEqual(sentActions(world), ["restart"], "it is never sent twice");
    const [entry] = await attention(world);
    assert.deepEqual([entry.id, entry.kind, entry.pod_id, entry.actions], [
      answer.json.attention_id,
      "action_unsettled",
      id,
      ["forget"],
    ]);
    await withSettler(world, async (settle) => {
      await settleTurn(world, settle, 3_000);
      assert.equal(intentsOf(world).at(-1)!.state, "done");
    });
    assert.deepEqual(await attention(world), []);
    assert.deepEqual(sentActions(world), ["restart"]);
  });
});

Deno.test("a restart that did not happen is reported, never repeated, and the entry can be forgotten", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, GPU);
    world.clock.advance(10_000);
    world.runpod.faults.on({ fault: "F32", variant: "html-502", on: "POST /pods/{id}/action", times: 1 });
    refused(await act(world, id, "restart"), 424, "runpod_unavailable");
    await withSettler(world, async (settle) => {
      await settleTurn(world, settle, 30_000);
      assert.equal(intentsOf(world).at(-1)!.state, "unsettled", "it may still show");
      await settleTurn(world, settle, 40_000);
    });
    assert.equal(intentsOf(world).at(-1)!.state, "failed");
    const [entry] = await attention(world);
    assert.deepEqual([entry.kind, entry.pod_id, entry.actions], ["action_not_done", id, ["forget"]]);
    assert.match(entry.what, /A restart that was asked for did not happen/);
    assert.deepEqual(sentActions(world), ["restart"]);
    const path = `/api/compute/org/attention/${entry.id}`;
    refused(
      await world.call("POST", path, { as: "officer", body: { action: "adopt" } }),
      400,
      "invalid_request",
      "action must be forget: there is no pod to adopt here",
    );
    assert.equal((await world.call("POST", path, { as: "officer", body: { action: "forget" } })).status, 200);
    assert.deepEqual(await attention(world), []);
  });
});

/** A world where chosen calls never reach RunPod: the connection breaks, and the time for repeats has passed. */
function cutting(): { cut: (method: string, url: string, body: string) => boolean; clock: () => void } {
  return { cut: () => false, clock: () => {} };
}

async function inCutWorld(
  test: (world: ClockedWorld, cut: ReturnType<typeof cutting>) => Promise<void>,
): Promise<void> {
  const control = cutting();
  await inWorld({
    fetch: (inner) => (input, init) => {
      if (control.cut(init?.method ?? "GET", String(input), String(init?.body ?? ""))) {
        control.clock();
        return Promise.reject(new TypeError("connection closed before message completed"));
      }
      return inner(input, init);
    },
  }, async (world) => {
    control.clock = () => world.clock.advance(25_000);
    await test(world, control);
  });
}

for (const action of ["stop", "terminate"] as const) {
  Deno.test(`a lost ${action} that did not happen is 424 and finished by the settler`, async () => {
    await inCutWorld(async (world, control) => {
      const id = await createRunningPod(world, GPU);
      world.clock.advance(180_000);
      control.cut = (method, url) => method === "DELETE" || url.endsWith("/action");
      const answer = await act(world, id, action);
      refused(answer, 424, "runpod_unavailable", new RegExp(`Whether the ${action} happened is not known yet`));
      control.cut = () => false;
      assert.equal(world.runpod.pods.get(id).phase, "up");
      await withSettler(world, async (settle) => {
        await settleTurn(world, settle);
        assert.equal(
          world.runpod.pods.list().find((pod) => pod.id === id)?.phase,
          action === "stop" ? "exited" : undefined,
        );
        await settleTurn(world, settle);
      });
      assert.equal(intentsOf(world).at(-1)!.state, "done");
      assert.deepEqual(await attention(world), []);
      assert.equal((await refreshed(world))[0]?.status, action === "stop" ? "EXITED" : undefined);
      const audit = world.db.all<{ actor_id: string; status: number; details: string }>(
        "select * from audit_log where action like '%/action'",
      );
      assert.deepEqual(audit.map((row) => [row.status, JSON.parse(row.details).settled]), [[200, "later"]]);
    });
  });

  Deno.test(`a lost ${action} older than 15 minutes is not repeated but reported`, async () => {
    await inCutWorld(async (world, control) => {
      const id = await createRunningPod(world, GPU);
      world.clock.advance(180_000);
      control.cut = (method, url) => method === "DELETE" || url.endsWith("/action");
      refused(await act(world, id, action), 424, "runpod_unavailable");
      control.cut = () => false;
      await withSettler(world, (settle) => settleTurn(world, settle, 16 * 60_000));
      assert.equal(world.runpod.pods.get(id).phase, "up");
      const [entry] = await attention(world);
      assert.equal(entry.kind, "action_not_done");
      assert.match(entry.what, new RegExp(`The ${action} did not happen\\. The pod may still run and cost money`));
    });
  });
}

Deno.test("a lost stop is not finished by itself once the pod was asked to start again", async () => {
  await inCutWorld(async (world, control) => {
    const id = await createRunningPod(world, GPU);
    control.cut = (_method, url) => url.endsWith("/action");
    refused(await act(world, id, "stop"), 424, "runpod_unavailable");
    control.cut = () => false;
    assert.equal((await act(world, id, "start")).status, 200, "it runs, as wanted now");
    await withSettler(world, async (settle) => {
      await settleTurn(world, settle);
      await settleTurn(world, settle);
    });
    assert.equal(world.runpod.pods.get(id).phase, "up", "the class is not thrown out");
    assert.ok(intentsOf(world).every((one) => one.state === "done" || one.state === "failed"));
    assert.match((await attention(world))[0].what, /A start was asked for after it/);
  });
});

Deno.test("a start that cannot be read back is 424 and settled later; one without its GPU is stopped then", async () => {
  for (const lostGpu of [false, true]) {
    await inWorld({}, async (world) => {
      const id = await stoppedGpuPod(world);
      if (lostGpu) world.runpod.faults.on({ fault: "F28", variant: "zero", times: 1 });
      world.runpod.faults.on({ fault: "F29", variant: "500-but-done", times: 1 });
      world.runpod.faults.on({ fault: "F1", variant: "401", on: "GET /pods/{id}" });
      refused(await act(world, id, "start"), 424, "runpod_unavailable");
      world.runpod.faults.clear();
      await withSettler(world, (settle) => settleTurn(world, settle));
      assert.equal(intentsOf(world).at(-1)!.state, lostGpu ? "failed" : "done");
      assert.equal(world.runpod.pods.get(id).phase, lostGpu ? "exited" : "up");
      const entries = await attention(world);
      assert.equal(entries.length, lostGpu ? 1 : 0);
      if (lostGpu) assert.match(entries[0].what, /started without its GPU.*was stopped again/);
    });
  }
});

Deno.test("a stop that did not happen is reported although an older report about the pod is still open", async () => {
  await inCutWorld(async (world, control) => {
    const id = await createRunningPod(world, GPU);
    await withSettler(world, async (settle) => {
      for (const action of ["restart", "stop"]) {
        control.cut = (_method, url) => url.endsWith("/action");
        refused(await act(world, id, action), 424, "runpod_unavailable");
        control.cut = () => false;
        await settleTurn(world, settle, 16 * 60_000);
      }
    });
    const texts = (await attention(world)).map((entry) => entry.what).join("\n");
    assert.match(texts, /A stop that was asked for did not happen.*may still run and cost money/);
  });
});

Deno.test("a terminate of a fresh pod that RunPod does not show is open until RunPod shows it, then it is done", async () => {
  await inWorld({}, async (world) => {
    world.runpod.faults.on({ fault: "F15", times: 1, ms: 50_000 });
    const made = await world.call("POST", "/api/compute/org/pods", { as: "officer", body: { use_cpu_only: true } });
    const id: string = made.json.pod.id;
    const answer = await act(world, id, "terminate");
    refused(answer, 424, "runpod_unavailable", /Whether the terminate happened is not known yet/);
    assert.equal(world.runpod.pods.list().length, 1);
    await withSettler(world, async (settle) => {
      await settleTurn(world, settle, 5_000);
      assert.equal(intentsOf(world).at(-1)!.state, "unsettled", "a 404 proves nothing yet");
      await settleTurn(world, settle, 55_000);
      assert.equal(world.runpod.pods.list().length, 0, "now it is terminated at RunPod");
      await settleTurn(world, settle, 60_000);
      await settleTurn(world, settle, 60_000);
    });
    assert.equal(intentsOf(world).at(-1)!.state, "done");
    assert.deepEqual(await refreshed(world), []);
    assert.deepEqual(await attention(world), []);
  });
});

Deno.test("an action under a rate limit or with a refused key is refused and nothing is left open", async () => {
  for (const [fault, code] of [["F31", "runpod_rate_limited"], ["F1", "runpod_key_refused"]] as const) {
    await inWorld({}, async (world) => {
      const id = await createRunningPod(world);
      world.runpod.faults.on({ fault, on: "POST /pods/{id}/action" });
      refused(await act(world, id, "restart"), 400, code);
      world.runpod.faults.clear();
      assert.equal(intentsOf(world).at(-1)!.state, "failed");
      assert.deepEqual(await attention(world), []);
    });
  }
});

Deno.test("a stop that RunPod accepts but has not done yet is a success, and the next list tells: F29", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world);
    world.runpod.faults.on({ fault: "F29", variant: "200-but-not-yet", times: 1, ms: 3_000 });
    assert.equal((await act(world, id, "stop")).status, 200);
    assert.equal((await refreshed(world))[0].status, "RUNNING");
    world.clock.advance(3_000);
    assert.equal((await refreshed(world))[0].status, "EXITED");
  });
});
