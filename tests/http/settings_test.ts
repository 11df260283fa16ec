import assert from "node:assert/strict";
import { GUILD, OFFICER_ROLE, PEOPLE } from "../support/world.ts";
import { cellOf, freshAddress, withWorld } from "./support.ts";

const SETTINGS = "/api/compute/org/settings";
const ROLES = "/api/compute/org/roles";
const DEPLOYMENT_IMAGE = "theaisocietyasu/godfather-base:latest";
/** The settings of money and time as they are unless set. */
const MONEY = {
  monthly_budget_usd: null,
  stop_at_budget: false,
  max_run_hours: 24,
  auto_stop_after_minutes: null,
  idle_gpu_percent: 5,
  idle_cpu_percent: 10,
  balance_low_usd: 5,
};

Deno.test("settings take any non-empty subset of the known keys, and null or empty text clears one", () =>
  withWorld(async (world) => {
    const as = "officer" as const;
    const put = (body: unknown) => world.call("PUT", SETTINGS, { as, body });
    const view = (pod_image: string | null, min_cuda_version: string | null) => ({
      settings: { pod_image, min_cuda_version, deployment_pod_image: DEPLOYMENT_IMAGE, ...MONEY },
    });
    assert.deepEqual((await world.call("GET", SETTINGS, { as })).json, view(null, null));
    assert.deepEqual((await put({ pod_image: " ghcr.io/org/base:1 " })).json, view("ghcr.io/org/base:1", null));
    assert.deepEqual((await put({ min_cuda_version: "12.4" })).json, view("ghcr.io/org/base:1", "12.4"));
    assert.deepEqual((await put({ pod_image: "", min_cuda_version: null })).json, view(null, null));
    assert.deepEqual((await put({ pod_image: "a", min_cuda_version: "11.8" })).json, view("a", "11.8"));
    assert.deepEqual((await put({ pod_image: null, min_cuda_version: "" })).json, view(null, null));
    assert.deepEqual((await world.call("GET", SETTINGS, { as })).json, view(null, null));
  }));

Deno.test("settings of money and time are changed one by one, null switches one off, and the audit names them", () =>
  withWorld(async (world) => {
    const as = "officer" as const;
    const put = async (body: unknown) => (await world.call("PUT", SETTINGS, { as, body })).json.settings;
    assert.equal((await put({ monthly_budget_usd: 150.5, stop_at_budget: true })).monthly_budget_usd, 150.5);
    const after = await put({ max_run_hours: null, auto_stop_after_minutes: 45, pod_image: "a" });
    const wanted = { ...MONEY, monthly_budget_usd: 150.5, stop_at_budget: true, max_run_hours: null };
    assert.deepEqual(after, {
      ...wanted,
      auto_stop_after_minutes: 45,
      pod_image: "a",
      min_cuda_version: null,
      deployment_pod_image: DEPLOYMENT_IMAGE,
    });
    assert.deepEqual((await world.call("GET", SETTINGS, { as })).json.settings, after);
    assert.equal((await put({ monthly_budget_usd: null })).monthly_budget_usd, null);
    const { audit: entries } = (await world.call("GET", "/api/compute/org/audit", { as })).json;
    const changes = entries.filter((entry: { action: string }) => entry.action === "PUT /api/compute/:org/settings")
      .map((entry: { details: { changed: unknown } }) => entry.details.changed);
    assert.deepEqual(changes, [
      { monthly_budget_usd: null },
      { podImage: "a", max_run_hours: null, auto_stop_after_minutes: 45 },
      { monthly_budget_usd: 150.5, stop_at_budget: true },
    ]);
  }));

Deno.test("settings refuse with the contract's sentences and change nothing", () =>
  withWorld(async (world) => {
    const as = "officer" as const;
    await world.call("PUT", SETTINGS, { as, body: { pod_image: "kept" } });
    const image = "pod_image must be an image name of at most 200 characters, with no spaces";
    const cases: [unknown, string][] = [
      [{}, "Send an object with pod_image"],
      [[], "Send an object with pod_image"],
      [{ pod_image: 5 }, "pod_image must be a string"],
      [{ pod_image: "two words" }, image],
      [{ pod_image: "x".repeat(201) }, image],
      [{ pod_image: "im\u202eage" }, image],
      [{ pod_image: "ok", image: "ok" }, "Unknown field: image"],
      [{ monthly_budget_usd: 0 }, "monthly_budget_usd must be from 0.01 to 1000000, or null"],
      [{ monthly_budget_usd: -5 }, "monthly_budget_usd must be from 0.01 to 1000000, or null"],
      [{ monthly_budget_usd: 1e9 }, "monthly_budget_usd must be from 0.01 to 1000000, or null"],
      [{ monthly_budget_usd: "100" }, "monthly_budget_usd must be an amount in USD or null"],
      [{ stop_at_budget: null }, "stop_at_budget must be true or false"],
      [{ max_run_hours: 0 }, "max_run_hours must be a whole number from 1 to 744, or null"],
      [{ max_run_hours: 1.5 }, "max_run_hours must be a whole number from 1 to 744, or null"],
      [{ auto_stop_after_minutes: 4 }, "auto_stop_after_minutes must be a whole number from 5 to 10080, or null"],
      [{ idle_gpu_percent: 101 }, "idle_gpu_percent must be a number from 0 to 100"],
      [{ idle_cpu_percent: null }, "idle_cpu_percent must be a number from 0 to 100"],
      [{ balance_low_usd: true }, "balance_low_usd must be an amount in USD or null"],
      [{ monthly_budget: 5 }, "Unknown field: monthly_budget"],
      [{ deployment_pod_image: "x" }, "Unknown field: deployment_pod_image"],
      [{ pod_image: "ok", min_cuda_version: "twelve" }, "min_cuda_version must be a version such as 12.4"],
    ];
    for (const [body, sentence] of cases) {
      const answer = await world.call("PUT", SETTINGS, { as, body });
      assert.deepEqual([answer.status, answer.json], [400, { error: sentence, code: "invalid_request" }]);
    }
    assert.equal((await world.call("GET", SETTINGS, { as })).json.settings.pod_image, "kept");
  }));

Deno.test("officer roles change for the operator and a superadmin alone, and count at once", () =>
  withWorld(async (world) => {
    world.discord.world.addRole({ guild_id: GUILD, id: "900000000000000011", name: "Board", position: 3 });
    world.discord.world.setRoles(GUILD, PEOPLE.member, ["900000000000000011"]);
    const asMember = async () =>
      cellOf(await world.call("GET", SETTINGS, { as: "member", kind: "officer", address: freshAddress() }));
    assert.equal(await asMember(), "403 not_an_officer");
    const refused = await world.call("PUT", ROLES, { as: "officer", body: { officer_role_ids: [] } });
    assert.equal(cellOf(refused), "403 not_the_operator");

    const changed = await world.call("PUT", ROLES, {
      as: "superadmin",
      body: { officer_role_ids: ["900000000000000011"] },
    });
    assert.deepEqual([changed.status, changed.json], [200, {
      officer_role_ids: ["900000000000000011"],
      member_role_ids: [],
    }]);
    assert.equal(await asMember(), "200");
    const former = await world.call("GET", SETTINGS, { as: "officer" });
    assert.equal(cellOf(former), "403 not_an_officer");

    const members = await world.call("PUT", ROLES, { as: "operator", body: { member_role_ids: [OFFICER_ROLE] } });
    assert.deepEqual(members.json, { officer_role_ids: ["900000000000000011"], member_role_ids: [OFFICER_ROLE] });
    assert.deepEqual((await world.call("GET", ROLES, { as: "superadmin" })).json, members.json);
    assert.equal(cellOf(await world.call("GET", "/api/compute/org/me/pods", { as: "exOfficer" })), "403 not_a_member");
    assert.equal((await world.call("GET", "/api/compute/org/me/pods", { as: "officer" })).status, 200);
    assert.equal(
      (await world.call("GET", "/api/compute/org/me/pods", { as: "member" })).status,
      200,
      "officers are members",
    );
  }));

Deno.test("an org without officer roles has no officers but superadmins and the operator, owner included", () =>
  withWorld(async (world) => {
    await world.call("PUT", ROLES, { as: "operator", body: { officer_role_ids: [] } });
    assert.equal(cellOf(await world.call("GET", SETTINGS, { as: "officer" })), "403 not_an_officer");
    assert.equal((await world.call("GET", SETTINGS, { as: "superadmin" })).status, 200);
    assert.equal((await world.call("GET", SETTINGS, { as: "operator" })).status, 200);
  }));

Deno.test("a superadmin gets in while Discord is down, and an officer gets 503, never 403", () =>
  withWorld(async (world) => {
    world.discord.faults.set({ fault: "D20", variant: "503" });
    assert.equal((await world.call("GET", SETTINGS, { as: "superadmin" })).status, 200);
    assert.equal((await world.call("GET", SETTINGS, { as: "operator" })).status, 200);
    const officer = await world.call("GET", SETTINGS, { as: "officer" });
    assert.equal(officer.status, 503);
    assert.equal(officer.json.error, "Discord is not available; try again shortly");
    const member = await world.call("GET", "/api/compute/org/me/pods", { as: "member" });
    assert.deepEqual([member.status, member.json], [503, {
      error: "Discord is not available; try again shortly",
      code: "discord_unavailable",
    }]);
  }));

Deno.test("a member who is checked within the last minute gets in while Discord is down, and not after it", () =>
  withWorld(async (world) => {
    const asked = async () => cellOf(await world.call("GET", "/api/compute/org/me/pods", { as: "member" }));
    assert.equal(await asked(), "200");
    world.discord.faults.set({ fault: "D20", variant: "cut" });
    world.clock.advance(59_000);
    assert.equal(await asked(), "200");
    world.clock.advance(1_000);
    assert.equal(await asked(), "503 discord_unavailable");
  }));

for (
  const [what, change, wanted] of [
    ["a plain 404", { fault: "D20", variant: "404-without-code" }, "503 discord_unavailable"],
    ["a refused bot token", { fault: "D10" }, "503 discord_unavailable"],
    ["an unknown server", { action: "remove_bot" }, "503 discord_unavailable"],
    ["an unknown member", { action: "leave" }, "403 not_a_member"],
  ] as const
) {
  Deno.test(`a member gets ${wanted} when Discord answers with ${what}`, () =>
    withWorld(async (world) => {
      if ("fault" in change) world.discord.faults.set(change);
      else if (change.action === "remove_bot") world.discord.world.change({ action: "remove_bot", guild_id: GUILD });
      else world.discord.world.change({ action: "leave", guild_id: GUILD, user_id: PEOPLE.member });
      const answer = await world.call("GET", "/api/compute/org/me/pods", { as: "member" });
      assert.equal(cellOf(answer), wanted);
      assert.equal(answer.json.hint, undefined, "members do not see what is set up wrongly");
    }));
}
