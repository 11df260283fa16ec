import assert from "node:assert/strict";
import { spendWarnings } from "../../admin/ui/data/spend_words.ts";
import { monthAfter, type Spend } from "../../admin/ui/data/spend.ts";
import { spendScreen } from "../../admin/ui/screens/spend.ts";
import { HOUR, isoTime, MINUTE } from "../../server/clock.ts";
import type { FakeAdminOptions } from "../support/fake_admin.ts";
import { eventually, type World } from "../support/world.ts";
import { podsNow, refusal, type TestWorld, withPods, withWorld } from "./support.ts";
import { withAdmin } from "../support/fake_admin.ts";

const SPEND: FakeAdminOptions = { first: { screen: spendScreen, params: null } };

/** Writes down what a pod cost: `hours` at 1 USD from a time on. */
function spent(world: World, runpodId: string, from: number, hours: number, kind = "running"): void {
  const { id } = world.db.get<{ id: string }>("select id from compute_pods where runpod_id = ?", runpodId)!;
  world.db.run(
    "insert into compute_spend (org_id, pod_id, runpod_id, kind, hardware_per_hour, disk_per_hour, from_at, until_at, " +
      "observed_at) values (1, ?, ?, ?, ?, ?, ?, ?, ?)",
    id,
    runpodId,
    kind,
    kind === "running" ? 1 : 0,
    kind === "storage" ? 1 : 0,
    from,
    from + hours * HOUR,
    from + hours * HOUR,
  );
}

// deno-lint-ignore no-explicit-any
async function settingsOf(world: World): Promise<any> {
  return (await world.call("GET", "/api/compute/org/settings", { as: "officer" })).json.settings;
}

const put = (world: TestWorld, body: unknown) =>
  world.call("PUT", "/api/compute/org/settings", { as: "officer", body });

/** Two months, two pods; what they cost while the test made them is some cents at most. */
async function withSpend(
  options: FakeAdminOptions,
  use: Parameters<typeof withPods>[2],
): Promise<void> {
  await withPods(["workshop", "lab"], { ...SPEND, ...options }, async (admin, world, ids) => {
    const november = Date.UTC(2026, 10, 10);
    spent(world, ids[0]!, november, 20);
    spent(world, ids[1]!, november, 5);
    spent(world, ids[1]!, november, 2, "storage");
    spent(world, ids[1]!, Date.UTC(2026, 9, 10), 8);
    await admin.press("ctrl-r");
    await admin.until("$20.0");
    await use(admin, world, ids);
  });
}

Deno.test("pods counts what terminated pods cost this month, and shows the budget", () =>
  withPods(["workshop", "lab"], {}, async (admin, world, ids) => {
    await admin.until(/\$0\.00\d? this month/);
    spent(world, ids[1]!, Date.UTC(2026, 10, 10), 5);
    const gone = await world.call("POST", `/api/compute/org/pods/${ids[1]}/action`, {
      as: "officer",
      body: { action: "terminate" },
    });
    assert.equal(gone.status, 200, gone.text);
    assert.equal((await put(world, { monthly_budget_usd: 150 })).status, 200);
    await admin.press("ctrl-r");
    await admin.until(/\$5\.0\d of \$150\.00 this month/);
    assert.match(admin.text(), /Pods 1/);
  }));

Deno.test("spend shows pods, months and sessions with bars, and goes from month to month", async () => {
  await withSpend({ columns: 140, rows: 30 }, async (admin, world, [id]) => {
    const pods = await admin.until("$20.0");
    assert.match(pods, /Spend of 2026-11 by pod/);
    assert.match(pods, /\$27\.0\d spent, running \$25\.0\d, storage \$2\.00/);
    assert.match(pods, /Budget: none; \$27\.0\d spent this month/);
    assert.match(pods, /> workshop +\$20\.0\d +█{30} +20\.\d h +\$0\.00/);
    assert.match(pods, /lab +\$7\.0\d +█{10,11}░+ +5\.\d h +\$2\.00/);
    await admin.press("left");
    await admin.until("Spend of 2026-10 by pod");
    await admin.until(/lab +\$8\.00/);
    await admin.press("right");
    await admin.until("$20.0");
    assert(!admin.offered().includes("→ later"));
    await admin.press("m");
    const months = await admin.until("Spend of 13 months to 2026-11");
    assert.match(await admin.until("2025-11"), /> 2026-11 +\$27\.0\d +█{30}/);
    assert.match(months + admin.text(), /2026-10 +\$8\.00 +█{8,10}░+/);
    await admin.press("j", "enter");
    await admin.until("Spend of 2026-10 by pod");
    await admin.press(":");
    await admin.type("month 2026-11");
    await admin.press("enter");
    await admin.until("$20.0");
    await admin.press(":");
    await admin.type("month november");
    await admin.press("enter");
    await admin.until("A month is written such as 2026-11: november");

    const now = world.clock.now();
    const body = { title: "Evening", start_at: isoTime(now + MINUTE), stop_at: isoTime(now + HOUR) };
    await world.call("POST", `/api/compute/org/pods/${id}/sessions`, { as: "officer", body });
    world.clock.advance(2 * MINUTE);
    await world.app.jobs.schedule.turn();
    world.clock.advance(10 * MINUTE);
    await world.call("GET", "/api/compute/org/pods", { as: "officer" });
    await admin.press("s");
    await admin.until(/outside sessions +\$27\.0\d/);
    await admin.until(/Evening +workshop +13:\d\d +\$0\.01\d/);
    await admin.press("j", "enter");
    const row = await admin.until("Storage");
    assert.match(row, /What +Evening/);
    assert.match(row, /Pod +workshop/);
    assert.match(row, /Started +13:\d\d/);
  });
});

Deno.test("spend sets the budget, says how long it lasts, and shows the warning near its end", async () => {
  await withSpend({}, async (admin, world) => {
    await admin.press("b");
    await admin.until("[ Set the budget ]");
    await admin.type("0");
    await admin.until("! Budget must be from 0.01 to 1000000");
    await admin.press("backspace");
    await admin.type("1e9");
    await admin.until("! Budget must be an amount in USD");
    await admin.press("ctrl-u");
    await admin.type("30");
    await admin.press("ctrl-s");
    await admin.until("The budget is set");
    const text = await admin.until("Most of the month's budget is spent; at 100 % starts are refused.");
    assert.match(text, /Budget +█+░+ +! \$27\.0\d of \$30\.00 \(90 %\)/);
    assert.match(text, /\d\.\d hours left until the budget is spent; now \$0\.1\d\/hr/);
    assert.deepEqual((await settingsOf(world)).monthly_budget_usd, 30);
    assert.equal((await settingsOf(world)).stop_at_budget, false);
    await admin.press("b");
    await admin.until(/Budget +30/);
    await admin.press("ctrl-u");
    await admin.press("ctrl-s");
    await admin.until("Budget: none");
    assert.equal((await settingsOf(world)).monthly_budget_usd, null);
  });
});

Deno.test("a budget that is spent already and stops pods must be said yes to", async () => {
  await withSpend({}, async (admin, world) => {
    await admin.press("b");
    await admin.until("[ Set the budget ]");
    await admin.type("20");
    await admin.until(/\$27\.0\d is spent already: starts are refused from now on\./);
    await admin.press("tab", "right");
    await admin.until("and 2 running pods");
    await admin.press("ctrl-s");
    await admin.until("Say yes first");
    assert.equal((await settingsOf(world)).monthly_budget_usd, null);
    await admin.press(" ");
    await admin.until("[x] yes, stop them");
    await admin.press("ctrl-s");
    await admin.until(/starts and creates are refused, and running\s+pods are stopped/);
    assert.deepEqual(
      [(await settingsOf(world)).monthly_budget_usd, (await settingsOf(world)).stop_at_budget],
      [20, true],
    );
    await world.app.jobs.autoStop.stops.turn();
    await eventually(
      async () => (await podsNow(world)).every(({ status }) => status === "EXITED"),
      "all are stopped",
      () => world.clock.advance(1_000),
    );
  });
});

Deno.test("a budget that the server refuses stays in the form with the server's sentence", async () => {
  let answer: Response | null = refusal(403, "You are not an officer of this organization", "not_an_officer");
  const intercept = (request: Request) => request.method === "PUT" ? answer : null;
  await withSpend({ intercept }, async (admin, world) => {
    await admin.press("b");
    await admin.until("[ Set the budget ]");
    await admin.type("50");
    await admin.press("ctrl-s");
    await admin.until("! You are not an officer of this organization");
    assert.match(admin.text(), /Budget +50/);
    answer = null;
    // Another officer sets one meanwhile: the last one who sends has it.
    await put(world, { monthly_budget_usd: 70 });
    await admin.press("ctrl-s");
    await admin.until("of $50.00");
    assert.equal((await settingsOf(world)).monthly_budget_usd, 50);
  });
});

Deno.test("money that is not sure is shown as such, and a balance or bill that cannot be read is said", async () => {
  const amounts = { running_amount: 1, storage_amount: 0, running_hours: 2 };
  const row = { pod_id: "p1", started_at: null, finished_at: null, terminated: false, ...amounts };
  const spend = {
    currency: "USD",
    group: "pod",
    from: "2026-11-01T00:00:00+00:00",
    to: "2026-12-01T00:00:00+00:00",
    rows: [
      { ...row, key: "p1", name: "\u202eevil", amount: 1, unsure: 0.3 },
      { ...row, key: "p2", name: null, amount: 0.004, unsure: 0.0004, terminated: true },
    ],
    total: { ...amounts, amount: 1.004, unsure: 0.3 },
    budget: { monthly_usd: 1, spent_usd: 1.004, percent: 100.4, state: "reached" },
    rate_per_hour: 0.06,
    balance: { usd: null, read_at: null, error: "RunPod answered 503" },
    hours_left: 0,
    hours_left_until: "budget",
    runpod_billing: {
      from: "2026-11-01T00:00:00+00:00",
      to: "2026-11-29T00:00:00+00:00",
      runpod_usd: 2,
      own_usd: 1,
      difference_percent: 100,
      differs: true,
      error: null,
      pods: [{ pod_id: "p1", name: null, runpod_usd: 2, own_usd: 1, difference_percent: 100 }],
    },
  };
  const intercept = (request: Request) => request.url.includes("/spend?") ? Response.json(spend) : null;
  await withWorld((world) =>
    withAdmin(world, { ...SPEND, intercept, columns: 120, rows: 30 }, async (admin) => {
      const text = await admin.until("$1.00?");
      assert.match(text, /! \$1\.00 of \$1\.00 \(100 %\)/);
      assert.match(text, /> \\u\{202e\}evil +\$1\.00\? .* up to \$0\.30 more/);
      assert.match(text, /p2 +\$0\.004  +█░+/);
      assert.match(text, /! The month's budget is spent: starts and creates are refused\./);
      assert.match(text, /! Up to \$0\.30 more may have been spent/);
      assert.match(text, /! The balance could not be read: RunPod answered 503\./);
      assert.match(text, /! RunPod's bill differs from what was counted here \(\+100 %\)/);
      await admin.press("enter");
      await admin.until("Not sure");
      assert.match(admin.text(), /RunPod's bill +\$2\.00, counted here \$1\.00/);
      assert.match(admin.text(), /p1: RunPod billed \$2\.00, counted here \$1\.00 \(\+100 %\)/);
      await admin.press("esc");
      await admin.resize(40, 12);
      await admin.until(/^> /m);
      assert.match(admin.text(), /\$1\.00\?/);
    })
  );
  assert.deepEqual(spendWarnings(spend as unknown as Spend, undefined).length, 5);
});

Deno.test("spend of nothing, of 1,000 pods and of a server that refuses", async () => {
  await withPods([], { ...SPEND, columns: 40, rows: 12 }, async (admin) => {
    await admin.until("Nothing was spent.");
    await admin.press("left");
    await admin.until("2026-10");
  });
  await withPods(["workshop"], SPEND, async (admin, world, [id]) => {
    world.db.tx(() => {
      for (let n = 0; n < 1_000; n++) {
        const copied = "select * from compute_pods where runpod_id = ?";
        const pod = { ...world.db.get<Record<string, string | number | null>>(copied, id!)!, id: `copy-${n}` };
        const copy: Record<string, string | number | null> = {
          ...pod,
          runpod_id: `many-${n}`,
          name: `many-${n}`,
          runpod_name: `many-${n}`,
        };
        const names = Object.keys(copy);
        world.db.run(
          `insert into compute_pods (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
          ...names.map((name) => copy[name]!),
        );
        spent(world, `many-${n}`, Date.UTC(2026, 10, 1), (n + 1) / 2);
      }
    });
    await admin.press("ctrl-r");
    await admin.until(/> many-999 +\$500\.00 +█+ /);
    await admin.press("G");
    await admin.until(/> workshop/);
    await admin.press("/");
    await admin.type("many-77");
    await admin.press("enter");
    await admin.until(/many-778 +\$389\.50/);
  });
  const intercept = (request: Request) =>
    request.url.includes("/spend?") ? refusal(500, "The server had a problem of its own", "internal") : null;
  await withPods([], { ...SPEND, intercept }, async (admin) => {
    await admin.until("! The server had a problem of its own");
    assert(!admin.offered().some((one) => one.startsWith("b ")));
  });
});

Deno.test("monthAfter goes over the ends of years", () => {
  assert.deepEqual([monthAfter("2026-11", 2), monthAfter("2026-01", -1), monthAfter("2026-11", -12)], [
    "2027-01",
    "2025-12",
    "2025-11",
  ]);
});
