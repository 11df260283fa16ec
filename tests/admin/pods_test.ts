import assert from "node:assert/strict";
import { podsNow, refusal, withPods, withWorld } from "./support.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { eventually } from "../support/world.ts";

Deno.test("pods shows each pod with all columns, and the totals", async () => {
  await withPods(["workshop", "lab"], { columns: 240, rows: 30 }, async (admin) => {
    const text = await admin.until("0 upcoming sessions");
    assert.match(text, /2 running \/ 0 stopped +\$0\.12\/hr/);
    for (
      const column of [
        "NAME",
        "STATUS",
        "COST",
        "ACCESS",
        "ON",
        "MACHINE",
        "NEXT",
        "MONTH",
        "CREATED",
        "POD ID",
        "PROVIDER",
      ]
    ) {
      assert.match(text, new RegExp(column));
    }
    assert.match(text, /● Running/);
    assert.match(text, /All members/);
    assert.match(text, /cpu3c/);
    assert.match(text, /runpod/);
  });
});

Deno.test("pods says how many people a list has, and when only officers may enter", async () => {
  const pods = [{ name: "listed", is_public: false, allowed_users: ["200000000000000002"] }, {
    name: "closed",
    is_public: false,
  }];
  await withPods(pods, { columns: 100 }, async (admin) => {
    const text = await admin.until("closed");
    assert.match(text, /listed .*1 listed/);
    assert.match(text, /closed .*Officers only/);
  });
});

Deno.test("pods filters by name as one types, and esc shows all again", async () => {
  await withPods(["workshop", "lab"], {}, async (admin) => {
    await admin.until("workshop");
    await admin.press("/");
    await admin.type("lab");
    await admin.untilGone("workshop");
    await admin.press("enter");
    assert.match(admin.text(), /Pods 1 of 2 {2}\/lab/);
    await admin.press("esc");
    await admin.until("workshop");
  });
});

Deno.test("pods is sorted by o, and turned round by O", async () => {
  await withPods(["beta", "alpha"], {}, async (admin) => {
    await admin.until("alpha");
    const first = () => admin.text().indexOf("alpha") < admin.text().indexOf("beta");
    await admin.press("o");
    assert(first());
    await admin.press("O");
    assert(!first());
  });
});

Deno.test("pods offers to connect RunPod where there is no key, and says the server's sentence at the field", async () => {
  await withWorld(async (world) => {
    await world.call("DELETE", "/api/compute/org/integrations/runpod", { as: "officer" });
    await withAdmin(world, {}, async (admin) => {
      await admin.until("Connect a hosting provider");
      await admin.press("k");
      await admin.until("Save the key");
      await admin.paste("rpa_nobody_knows_this");
      assert.doesNotMatch(admin.text(), /rpa_nobody/);
      await admin.press("ctrl-s");
      await admin.until(/!.*key/);
      await admin.press("ctrl-u");
      await admin.paste("rpa_test_0123456789abcdef");
      await admin.press("ctrl-s");
      await admin.until("There are no pods yet");
    });
    const { json } = await world.call("GET", "/api/compute/org/integrations/runpod", { as: "officer" });
    assert.equal(json.configured, true);
  });
});

Deno.test("pods marks states that RunPod did not confirm, and says that they are the last known ones", async () => {
  await withPods(["workshop"], { columns: 100 }, async (admin, world) => {
    await admin.until("● Running");
    world.runpod.faults.on({ fault: "F1", variant: "401" });
    world.clock.advance(60_000);
    await admin.press("ctrl-r");
    await admin.until("Running~");
    assert.match(admin.text(), /last known states/);
  });
});

Deno.test("pods keeps the selection on its pod when others come and go", async () => {
  await withPods(["b", "c"], {}, async (admin, world) => {
    await admin.until("> ");
    await admin.press("o", "j");
    await admin.until(/> c /);
    await world.call("POST", "/api/compute/org/pods", { as: "officer", body: { name: "a", use_cpu_only: true } });
    await admin.press("ctrl-r");
    await admin.until(/^ {2}a /m);
    assert.match(admin.text(), /> c /);
  });
});

Deno.test("pods stops the selected pod after asking, and says what is lost", async () => {
  await withPods(["workshop"], {}, async (admin, world) => {
    await admin.until("● Running");
    await admin.press("x");
    await admin.until("EVERY file on it is lost");
    await admin.press("n");
    await admin.untilGone("EVERY file");
    assert.equal((await podsNow(world))[0].status, "RUNNING");
    await admin.press("x", "y");
    await eventually(
      async () => (await podsNow(world))[0].status === "EXITED",
      "it is stopped",
      () => world.clock.advance(1_000),
    );
    await admin.until("○ Stopped");
    assert(admin.offered().includes("s start"));
    assert(!admin.offered().includes("x stop"));
  });
});

Deno.test("attention shows a create whose outcome is unknown, and forgets it after asking", async () => {
  await withWorld(async (world) => {
    world.runpod.faults.on({ fault: "F14", variant: "500", times: 1 });
    const body = { name: "lost-one", use_cpu_only: true };
    assert.equal((await world.call("POST", "/api/compute/org/pods", { as: "officer", body })).status, 424);
    await withAdmin(world, { columns: 120 }, async (admin) => {
      await admin.until("1 thing needs attention");
      await admin.press("a");
      await admin.until("create unsettled");
      assert(admin.offered().includes("a adopt"));
      await admin.press("f");
      await admin.until("Forget this entry");
      await admin.press("y");
      await admin.until("All is settled");
    });
    assert.deepEqual((await world.call("GET", "/api/compute/org/attention", { as: "officer" })).json.attention, []);
  });
});

Deno.test("a refusal is shown in the server's own words, beside the last good list", async () => {
  let isRefusing = false;
  const intercept = (request: Request) =>
    isRefusing && request.url.endsWith("/pods")
      ? refusal(403, "You are not an officer of this organization", "not_an_officer")
      : null;
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until("workshop");
    isRefusing = true;
    await admin.press("ctrl-r");
    await admin.until("You are not an officer of this organization");
    assert.match(admin.text(), /workshop/);
    assert.match(admin.text(), /not fresh/);
  });
});

Deno.test("attention adopts a pod that carries the org's keys and is not in the list", async () => {
  await withPods(["workshop"], { columns: 120 }, async (admin, world) => {
    await admin.until(/^> workshop/m);
    const sent = world.runpod.requests.findLast(({ method, path }) => method === "POST" && path.endsWith("/pods"));
    const copy = world.runpod.pods.addForeign({
      name: "copied",
      env: (sent!.body as { env: Record<string, string> }).env,
    });
    await eventually(
      async () => (await world.call("GET", "/api/compute/org/attention", { as: "officer" })).json.attention.length > 0,
      "the copy is noticed",
      () => {
        world.clock.advance(60_000);
        return podsNow(world);
      },
    );
    await admin.press("ctrl-r");
    await admin.until("1 thing needs attention");
    await admin.press("a");
    await admin.until("! orphan");
    await admin.press("a");
    await admin.until("Adopt copied");
    await admin.press("y");
    await admin.until("The pod is adopted");
    assert((await podsNow(world)).some(({ id }) => id === copy.id));
  });
});
