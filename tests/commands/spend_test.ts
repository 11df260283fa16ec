import assert from "node:assert/strict";
import { OFFICER } from "../../server/demo/people.ts";
import { untilTrue } from "../support/server_process.ts";
import { withOrg } from "./bench.ts";

Deno.test("spend shows a row for each pod, the total, budget, rate, balance and RunPod's bill", async () => {
  await withOrg(async (bench) => {
    const id = await bench.must(["pod", "create", "--name", "lab-1", "--gpu", "NVIDIA RTX A4000", "--volume", "20"]);
    await bench.must(["org", "settings", "--budget", "100"]);
    const rows = async () => JSON.parse(await bench.must(["spend", "--json"])).rows.length > 0;
    await untilTrue("RunPod bills the pod", rows);
    const done = await bench.orgpods(["spend"]);
    assert.equal(done.code, 0, done.stderr);
    const lines = done.stdout.split("\n").map((line) => line.trimEnd());
    assert.match(lines[0]!, /^POD +NAME +USD +RUNNING +STORAGE +HOURS +UNSURE$/);
    assert.match(lines[1]!, new RegExp(`^${id} +lab-1 +0\\.0\\d+ +0\\.0\\d+ +0\\.0\\d+ +0\\.0 `));
    assert.match(lines[2]!, /^total +- +0\.0\d+ /);
    assert.match(done.stdout, /^Time +\d{4}-\d\d-01 00:00:00Z to \d{4}-\d\d-01 00:00:00Z$/m);
    assert.match(done.stdout, /^Budget +0\.0\d+ of 100\.00 spent this month, 0 %$/m);
    assert.match(done.stdout, /^Hours left +[\d.]+ \(until the (budget|balance)\)$/m);
    const json = JSON.parse(await bench.must(["spend", "--group", "month", "--json"]));
    assert.deepEqual([json.currency, json.group], ["USD", "month"]);
    const wrong = await bench.orgpods(["spend", "--group", "person"]);
    assert.deepEqual([wrong.code, wrong.stdout], [2, ""]);
    assert.match(wrong.stderr, /group must be one of pod, month, session, org/);
  });
});

Deno.test("org settings shows and changes the rules of money and time, also for an officer from elsewhere", async () => {
  await withOrg(async (bench, server) => {
    const shown = await bench.must(["org", "settings"]);
    assert.match(shown, /^Budget +off$/m);
    assert.match(shown, /^Longest run +24 hours$/m);
    const token = await bench.must(["token", "issue", "--kind", "officer", "--discord-id", OFFICER.id]);
    const far = await bench.orgpods(
      [
        ...["org", "settings", "--server", server.url, "--org", "demo", "--budget", "150.50", "--max-run-hours", "off"],
        ...["--auto-stop", "60", "--stop-at-budget", "yes", "--balance-low", "12", "--idle-gpu", "7"],
      ],
      { env: { ORGPODS_TOKEN: token } },
    );
    assert.equal(far.code, 0, far.stderr);
    assert.match(far.stdout, /^Budget +150\.5 USD a month$/m);
    assert.match(far.stdout, /^Pods at 100 % of it +are stopped$/m);
    const { settings } = JSON.parse(await bench.must(["org", "settings", "--budget", "off", "--json"]));
    assert.deepEqual(
      [settings.monthly_budget_usd, settings.max_run_hours, settings.auto_stop_after_minutes, settings.balance_low_usd],
      [null, null, 60, 12],
    );
    for (
      const [flag, value] of [["--budget", "0"], ["--budget", "0.009"], ["--budget", "1e9"], [
        "--stop-at-budget",
        "maybe",
      ]] as const
    ) {
      assert.equal((await bench.orgpods(["org", "settings", flag, value])).code, 2, `${flag} ${value}`);
    }
  });
});
