import assert from "node:assert/strict";
import type { FakeAdmin } from "../support/fake_admin.ts";
import { OTHER_RUNPOD_KEY, RUNPOD_KEY, type World } from "../support/world.ts";
import { refusal, run, sentence, withPods } from "./support.ts";

/** Goes to a setting by its name. */
async function goTo(admin: FakeAdmin, title: string): Promise<void> {
  await admin.press("/", "ctrl-u");
  await admin.type(title);
  await admin.press("enter");
  await admin.until(new RegExp(`^> ${title}`, "m"));
}

// deno-lint-ignore no-explicit-any
async function settingsNow(world: World): Promise<any> {
  return (await world.call("GET", "/api/compute/org/settings", { as: "officer" })).json.settings;
}

Deno.test("settings sets and clears the default image, shows the server's own, and keeps what the server refuses", async () => {
  await withPods([], {}, async (admin, world) => {
    await run(admin, "settings", sentence("(the server's)"));
    await goTo(admin, "Default image");
    assert(!admin.offered().includes("d remove"));
    await admin.press("enter");
    await admin.until(sentence("Empty (ctrl-u): the server's own, theaisocietyasu/godfather-base:latest"));
    await admin.type("not an image");
    await admin.press("ctrl-s");
    await admin.until(sentence("! Image must be an image name of at most 200 characters"));
    assert.match(admin.text(), /not an image/);
    await admin.press("ctrl-u");
    await admin.type("society/base:2");
    await admin.press("ctrl-s");
    await admin.until(sentence("The default image is saved"));
    await admin.until(/^> Default image +society\/base:2/m);
    assert.equal((await settingsNow(world)).pod_image, "society/base:2");
    await admin.press("D");
    await admin.until(sentence("New pods then get the server's own image"));
    await admin.press("n");
    assert.equal((await settingsNow(world)).pod_image, "society/base:2");
    await admin.press("D", "y");
    await admin.until(sentence("New pods get the server's own image"));
    assert.equal((await settingsNow(world)).pod_image, null);
    await goTo(admin, "Oldest CUDA");
    await admin.press("enter");
    await admin.until(sentence("such as 12.4"));
    await admin.type("twelve");
    await admin.until(sentence("! CUDA version must be a version such as 12.4"));
    await admin.press("ctrl-u");
    await admin.type("12.4");
    await admin.press("ctrl-s");
    await admin.until(/^> Oldest CUDA +12\.4/m);
  });
});

Deno.test("settings sets budget, limit on hours and idle stop; what another officer changes meanwhile stays", async () => {
  await withPods([], {}, async (admin, world) => {
    await run(admin, "settings", sentence("Idle stop"));
    await goTo(admin, "Budget");
    await admin.press("enter");
    await admin.until(sentence("USD a month"));
    await admin.type("0");
    await admin.until(sentence("! Budget must be from 0.01 to 1000000, or empty"));
    await admin.press("ctrl-u");
    await admin.type("150");
    const body = { max_run_hours: 8, idle_gpu_percent: 7 };
    assert.equal((await world.call("PUT", "/api/compute/org/settings", { as: "officer", body })).status, 200);
    await admin.press("ctrl-s");
    await admin.until(sentence("Budget: saved"));
    await admin.until(sentence("$150.00 a month, 0 % spent"));
    await goTo(admin, "Idle stop");
    await admin.press("enter");
    await admin.until("minutes");
    await admin.type("3");
    await admin.until(sentence("! Idle stop must be a whole number from 5 to 10080, or empty"));
    await admin.press("ctrl-u");
    await admin.type("45");
    await admin.press("ctrl-s");
    await admin.until(sentence("after 45 minutes"));
    await goTo(admin, "Longest run");
    await admin.until(sentence("8 hours"));
    await admin.press("enter");
    await admin.until(/8 +hours/);
    await admin.press("ctrl-u", "ctrl-s");
    await admin.until(sentence("no limit"));
    const settings = await settingsNow(world);
    assert.equal(settings.monthly_budget_usd, 150);
    assert.equal(settings.auto_stop_after_minutes, 45);
    assert.equal(settings.max_run_hours, null);
    assert.equal(settings.idle_gpu_percent, 7);
    await goTo(admin, "Idle CPU");
    await admin.press("enter");
    await admin.until(sentence("Below this use of the CPU"));
    await admin.press("ctrl-u", "ctrl-s");
    await admin.until(sentence("! Idle CPU must be a number from 0 to 100"));
    await admin.press("esc", "y");
    await goTo(admin, "Low balance");
    await admin.press("enter");
    await admin.until(sentence("an event warns"));
    await admin.press("ctrl-u", "ctrl-s");
    await admin.until(sentence("no warning"));
  });
});

Deno.test("the form of a setting says what another officer set meanwhile", async () => {
  await withPods([], {}, async (admin, world) => {
    const set = (change: Record<string, unknown>) =>
      world.call("PUT", "/api/compute/org/settings", { as: "officer", body: change });
    await run(admin, "settings", sentence("Idle stop"));
    await goTo(admin, "Budget");
    await admin.press("enter");
    await admin.until(sentence("USD a month"));
    await admin.type("100");
    assert.doesNotMatch(admin.text(), /meanwhile/);
    assert.equal((await set({ monthly_budget_usd: 50 })).status, 200);
    await admin.press("ctrl-r");
    await admin.until(sentence("! Somebody changed it meanwhile, to 50. Sending replaces that."));
    await admin.press("ctrl-s");
    await admin.until("Budget: saved");
    await run(admin, "spend", /of \$100\.00/);
    await admin.press("b");
    await admin.until("Set the budget");
    assert.doesNotMatch(admin.text(), /meanwhile/);
    assert.equal((await set({ monthly_budget_usd: null, stop_at_budget: true })).status, 200);
    await admin.press("ctrl-r");
    await admin.until(sentence("! Somebody changed it meanwhile, to no budget."));
    await admin.until(sentence("! Somebody changed it meanwhile, to stopping pods at 100 %."));
  });
});

Deno.test("settings asks before pods are stopped at 100 % of the budget, and warns where it is spent already", async () => {
  await withPods(["workshop"], {}, async (admin, world) => {
    world.clock.advance(3_600_000);
    await world.call("GET", "/api/compute/org/pods", { as: "officer" });
    await run(admin, "settings", sentence("At 100 %"));
    await goTo(admin, "Budget");
    await admin.press("enter");
    await admin.until(sentence("Spent this month (UTC): $"));
    await admin.type("0.01");
    await admin.until(sentence("That is spent already: starts are refused at once."));
    await admin.press("ctrl-s");
    await admin.until(sentence("! $0.010 a month"));
    await goTo(admin, "At 100 % of it");
    await admin.press("enter");
    await admin.until(sentence("The budget is spent already, so that is soon."));
    await admin.press("n");
    assert.equal((await settingsNow(world)).stop_at_budget, false);
    await admin.press("enter", "y");
    await admin.until(sentence("pods are stopped"));
    assert.equal((await settingsNow(world)).stop_at_budget, true);
    await admin.press("enter", "y");
    await admin.until(sentence("Pods go on at 100 %"));
    assert.equal((await settingsNow(world)).stop_at_budget, false);
  });
});

Deno.test("settings tests the RunPod key, refuses one of another account until that is meant, and removes it only after the list of live pods", async () => {
  await withPods(["workshop"], {}, async (admin, world, [id]) => {
    const keyNow = async () =>
      (await world.call("GET", "/api/compute/org/integrations/runpod", { as: "officer" })).json;
    await run(admin, "settings", sentence("RunPod key"));
    await goTo(admin, "RunPod key");
    await admin.until(`…${RUNPOD_KEY.slice(-4)}`);
    await admin.press("t");
    await admin.until(sentence("Connected. 1 pods on the account."));
    await admin.press("enter");
    await admin.until(sentence("it is not shown"));
    await admin.type(OTHER_RUNPOD_KEY);
    await admin.press("ctrl-s");
    await admin.until(sentence("does not have pods of this"));
    assert(!admin.text().includes(OTHER_RUNPOD_KEY));
    await admin.press("tab", "space", "ctrl-s");
    await admin.until(sentence("The RunPod key works and is saved"));
    assert.equal((await keyNow()).last4, OTHER_RUNPOD_KEY.slice(-4));
    await admin.press("D", "n");
    assert.equal((await keyNow()).configured, true);
    await admin.press("D", "y");
    const asked = await admin.until(sentence(`workshop (${id})`));
    assert.match(asked, sentence("nobody can stop them from here"));
    await admin.type("orgg");
    assert(!admin.offered().includes("enter do it"));
    await admin.press("backspace", "enter");
    await admin.until(sentence("The RunPod key is removed"));
    assert.equal((await keyNow()).configured, false);
    await admin.until(sentence("! none"));
    assert(!admin.offered().some((offer) => offer === "t test" || offer === "d remove"));
  });
});

Deno.test("settings switches compute off after the list of live pods, says so everywhere, and on again", async () => {
  await withPods(["workshop"], {}, async (admin, world, [id]) => {
    const isOn = () =>
      world.db.get<{ compute_enabled: number }>("select compute_enabled from organizations where id = 1");
    await run(admin, "settings", sentence("● on"));
    await admin.press("enter");
    await admin.until(sentence("Pods that run go on running and costing money."));
    await admin.press("y");
    await admin.until(sentence(`workshop (${id})`));
    assert.equal(isOn()?.compute_enabled, 1);
    await admin.type("org");
    await admin.press("enter");
    await admin.until(sentence("○ off"));
    await admin.until(sentence("Compute is off: nobody signs in"));
    assert.equal(isOn()?.compute_enabled, 0);
    assert.doesNotMatch(admin.text(), /Budget/);
    await run(admin, "pods", sentence("The compute module is turned off"));
    await run(admin, "settings", sentence("○ off"));
    await admin.press("enter");
    await admin.until(sentence("A session whose time it is starts its pod."));
    await admin.press("y");
    await admin.until(sentence("● on"));
    await admin.until("Budget");
    assert.equal(isOn()?.compute_enabled, 1);
  });
});

Deno.test("settings shows refusals, keeps the form, and goes on; 429 is waited for", async () => {
  let answer: Response | null = null;
  const intercept = (request: Request) => {
    if (request.method === "GET" || !request.url.endsWith("/settings")) return null;
    const given = answer?.clone() ?? null;
    if (given?.status === 429) answer = null;
    return given;
  };
  await withPods([], { intercept, columns: 40, rows: 12 }, async (admin, world) => {
    await run(admin, "settings", "Compute");
    await goTo(admin, "Budget");
    await admin.press("enter");
    await admin.until(sentence("USD a month"));
    await admin.type("77");
    for (const [status, said] of [[403, "You are no officer"], [409, "Not now"], [500, "It broke"]] as const) {
      answer = refusal(status, said, status === 403 ? "not_an_officer" : "conflict");
      await admin.press("ctrl-s");
      await admin.until(sentence(`! ${said}`));
      assert.match(admin.text(), /77/);
    }
    answer = Response.json({ error: "Slow down", code: "rate_limited" }, {
      status: 429,
      headers: { "retry-after": "0" },
    });
    await admin.press("ctrl-s");
    await admin.until(sentence("Budget: saved"));
    assert.equal((await settingsNow(world)).monthly_budget_usd, 77);
    for (const [columns, rows] of [[200, 50], [1, 1], [40, 12], [80, 24]] as const) await admin.resize(columns, rows);
    await admin.until(/^> Budget/m);
  });
});

Deno.test("settings says why nothing can be shown, and that an organization is added from the shell", async () => {
  let isBroken = true;
  const intercept = (request: Request) =>
    isBroken && /\/(settings|tokens|webhooks|roles)(\?|$)/.test(request.url)
      ? refusal(500, "It broke", "internal_error")
      : null;
  await withPods([], { intercept }, async (admin) => {
    for (const screen of ["settings", "tokens", "webhooks", "roles"]) await run(admin, screen, "! It broke");
    isBroken = false;
    await run(admin, "settings", "Webhooks");
    await admin.press("G");
    await admin.until(sentence("orgpods org add --help"));
    await admin.press("enter");
    await admin.until(sentence("Another organization is added from the shell of this server: orgpods org add"));
    assert.match(admin.text(), /other +Other Society/);
  });
});
