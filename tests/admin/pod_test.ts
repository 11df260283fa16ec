import assert from "node:assert/strict";
import { podsNow, refusal, withPods } from "./support.ts";
import { eventually } from "../support/world.ts";

Deno.test("pod shows what is known of it, and its events", async () => {
  await withPods(["workshop"], { rows: 40 }, async (admin, _, [id]) => {
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    const text = await admin.until("pod.created");
    assert.match(text, /Pods 1 > workshop/);
    assert.match(text, /Status +● Running/);
    assert.match(text, /Access +All members/);
    assert.match(text, new RegExp(`Pod id +${id}`));
    assert.match(text, /no volume: all are lost at a stop/);
    await admin.press("esc");
    await admin.until(/^> workshop/m);
  });
});

Deno.test("pod is terminated only after its name was typed, and the list comes back", async () => {
  await withPods(["workshop"], {}, async (admin, world) => {
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("D");
    await admin.until("It cannot be");
    await admin.type("work");
    await admin.press("enter");
    assert.equal((await podsNow(world)).length, 1);
    assert(!admin.offered().includes("enter do it"));
    await admin.type("shop");
    assert(admin.offered().includes("enter do it"));
    await admin.press("enter");
    await admin.until("There are no pods yet");
    assert.deepEqual(await podsNow(world), []);
    const rows = world.db.all<{ action: string; actor_kind: string }>("select * from audit_log where outcome = 'ok'");

    assert(rows.some(({ action, actor_kind }) => /\/action$/.test(action) && actor_kind === "local"));
  });
});

Deno.test("pod is stopped and started by commands as well", async () => {
  await withPods(["workshop"], {}, async (admin, world) => {
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press(":");
    await admin.type("sto");
    await admin.press("tab", "enter");
    await admin.until("EVERY file on it is lost");
    await admin.press("y");
    await eventually(
      async () => (await podsNow(world))[0].status === "EXITED",
      "it is stopped",
      () => world.clock.advance(1_000),
    );
    await admin.until("○ Stopped");
    await admin.press(":");
    await admin.type("start");
    await admin.press("enter");
    await admin.until("workshop is starting");
    await eventually(
      async () => (await podsNow(world))[0].status === "RUNNING",
      "it runs",
      () => world.clock.advance(1_000),
    );
  });
});

Deno.test("pod is kept from stopping by itself; a number that the server refuses stays in the form with its sentence", async () => {
  await withPods(["workshop"], {}, async (admin, world) => {
    await admin.until(/^> workshop/m);
    await admin.press("enter", "K");
    await admin.until("Keep it up");
    await admin.press("ctrl-u");
    await admin.type("5000");
    await admin.press("ctrl-s");
    await admin.until("! Minutes must be a whole number from 1 to 1440");
    assert.match(admin.text(), /5000/);
    await admin.press("ctrl-u");
    await admin.type("90");
    await admin.press("ctrl-s");
    await admin.until("Kept until");
    assert.notEqual((await podsNow(world))[0].keep_until, null);
  });
});

Deno.test("pod puts the stop of a running session off", async () => {
  await withPods(["workshop"], {}, async (admin, world, [id]) => {
    const now = world.clock.now();
    const body = { start_at: new Date(now + 60_000).toISOString(), stop_at: new Date(now + 3_600_000).toISOString() };
    const made = await world.call("POST", `/api/compute/org/pods/${id}/sessions`, { as: "officer", body });
    assert.equal(made.status, 201, made.text);
    world.clock.advance(90_000);
    await world.app.jobs.schedule.turn();
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("ctrl-r");
    await eventually(() => admin.offered().includes("e extend"), "extend is offered");
    await admin.press("e");
    await admin.until("Minutes");
    await admin.press("ctrl-u");
    await admin.type("500");
    await admin.until("Minutes must be a whole number from 1 to 120");
    await admin.press("ctrl-u");
    await admin.type("45");
    await admin.press("ctrl-s");
    await admin.until("The stop is put off");
    const { json } = await world.call("GET", `/api/compute/org/pods/${id}/sessions`, { as: "officer" });
    assert.equal(json.sessions[0].extended_minutes, 45);
  });
});

Deno.test("a start that RunPod has no free GPU for says so, and is offered again", async () => {
  const noGpu = "There is no free GPU for this pod on its host";
  const intercept = (request: Request) =>
    request.method === "POST" && request.url.endsWith("/action") ? refusal(400, noGpu, "runpod_no_capacity") : null;
  await withPods(["workshop"], { intercept }, async (admin, world, [id]) => {
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
    await eventually(
      async () => (await podsNow(world))[0].status === "EXITED",
      "it is stopped",
      () => world.clock.advance(1_000),
    );
    await admin.press("ctrl-r");
    await admin.until("○ Stopped");
    await admin.press("s");
    await admin.until(noGpu);
    assert(admin.offered().includes("s start"));
  });
});

Deno.test("a start over the budget asks whether to start all the same, and says it where that is refused too", async () => {
  const spent =
    'The budget of 2026-11 is spent: 12.0000 of 10.0000 USD; send "over_budget": true to go on all the same';
  const sent: unknown[] = [];
  let isFirm = false;
  const intercept = async (request: Request) => {
    if (request.method !== "POST" || !request.url.endsWith("/action")) return null;
    const body = await request.clone().json();
    if (body.action !== "start") return null;
    sent.push(body.over_budget ?? false);
    return body.over_budget === true && !isFirm ? null : refusal(409, spent, "budget_reached");
  };
  await withPods(["workshop"], { intercept }, async (admin, world, [id]) => {
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "stop" } });
    await eventually(
      async () => (await podsNow(world))[0].status === "EXITED",
      "it is stopped",
      () => world.clock.advance(1_000),
    );
    await admin.press("ctrl-r");
    await admin.until("○ Stopped");
    await admin.press("s");
    await admin.until("! The budget of 2026-11 is spent: 12.0000 of 10.0000 USD");
    assert.doesNotMatch(admin.text(), /over_budget/);
    await admin.press("n");
    assert.deepEqual(sent, [false]);
    isFirm = true;
    await admin.press("s");
    await admin.until("Press y to start it");
    await admin.press("y");
    await admin.until(/ ! The budget of 2026-11 is spent/);
    assert.deepEqual(sent, [false, false, true]);
    isFirm = false;
    await admin.press("s", "y");
    await eventually(
      async () => (await podsNow(world))[0].status === "RUNNING",
      "it runs",
      () => world.clock.advance(1_000),
    );
  });
});

Deno.test("pod says when it was deleted while its screen is open", async () => {
  await withPods(["workshop"], {}, async (admin, world, [id]) => {
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "terminate" } });
    await admin.press("ctrl-r");
    await admin.until("This pod is not in the list any more");
    assert(!admin.offered().some((offer) => offer.startsWith("x ")));
    await admin.press("esc");
    await admin.until("There are no pods yet");
  });
});

Deno.test("pod is restarted after a question", async () => {
  await withPods(["workshop"], {}, async (admin, world, [id]) => {
    await admin.until(/^> workshop/m);
    await admin.press("R");
    await admin.until("Restart workshop");
    await admin.press("n", "R", "y");
    await admin.until(/workshop is restarting|every file on it is lost/);
    const restarts = world.db.all("select 1 from audit_log where pod_id = ? and action like '%/action'", id!);
    assert.equal(restarts.length, 1);
  });
});

Deno.test("a pod that is gone is only taken off the list, and the question says so", async () => {
  await withPods(["workshop"], { columns: 100 }, async (admin, world, [id]) => {
    await admin.until(/^> workshop/m);
    world.runpod.pods.deleteOutside(id!);
    await eventually(
      async () => (await podsNow(world))[0].status === "GONE",
      "it is gone",
      () => world.clock.advance(120_000),
    );
    await admin.press("ctrl-r");
    await admin.until("! Gone");
    assert(!admin.offered().some((offer) => offer === "x stop" || offer === "s start"));
    await admin.press("D");
    await admin.until("This only takes it off the list");
    await admin.type("workshop");
    await admin.press("enter");
    await admin.until("There are no pods yet");
    assert.deepEqual(await podsNow(world), []);
  });
});

Deno.test("a pod that RunPod has deleted is not offered to be started from its files", async () => {
  await withPods(["workshop"], {}, async (admin, world, [id]) => {
    await admin.until(/^> workshop/m);
    world.runpod.pods.deleteOutside(id!);
    await eventually(
      async () => (await podsNow(world))[0].status === "GONE",
      "it is gone",
      () => world.clock.advance(60_000),
    );
    await admin.press("ctrl-r");
    await admin.until("! Gone");
    await admin.press("f");
    await admin.until("Its files are gone with it");
    assert(!admin.offered().includes("s start"), admin.offered().join());
  });
});
