import assert from "node:assert/strict";
import { SIGN_IN_CODE } from "../support/world.ts";
import { pathOf, ROWS } from "./route_rows.ts";
import { cellOf, type ClockedWorld, freshAddress, openSession, ownPage, stoppedPod, withWorld } from "./support.ts";

const OFF = "The compute module is turned off for this organization";

const switchModule = (world: ClockedWorld, body: unknown, as: "officer" | "operator" = "officer") =>
  world.call("PUT", "/api/compute/org/module", { as: as, body });

Deno.test("with compute off every route of the org answers 404 module_off to everybody before any sign-in check", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const member = await world.token("member", "cli");
    const officer = await world.token("officer", "officer");
    const off = await switchModule(world, { enabled: false, force: true });
    assert.deepEqual([off.status, off.json], [200, { enabled: false }]);
    let checked = 0;
    for (const [route, row] of Object.entries(ROWS)) {
      if (!route.includes("/api/compute/:org/") || route.startsWith("PUT /api/compute/:org/module")) continue;
      const { method, path } = pathOf(route, row, pod);
      const cookie = openSession(world, "member");
      for (
        const who of [{}, { as: "operator" as const }, { token: officer }, { token: member }, {
          token: "plat_nonsense",
        }, { headers: ownPage(cookie) }]
      ) {
        const answer = await world.call(method, path, { ...who, body: method === "GET" ? undefined : row.body ?? {} });
        assert.equal(answer.status, 404, `${route} ${answer.text}`);
        if (/\/login$/.test(path)) {
          assert.match(answer.headers.get("content-type") ?? "", /^text\/html/, route);
          assert.match(answer.text, /Compute is turned off for this organization\./);
          assert.equal(answer.headers.get("cache-control"), "no-store");
        } else {
          assert.deepEqual(answer.json, { error: OFF, code: "module_off" }, route);
        }
        checked++;
      }
    }
    assert.ok(checked > 150, `only ${checked} calls`);
    const unknownRoute = await world.call("GET", "/api/compute/org/nosuch");
    assert.equal(cellOf(unknownRoute), "404 module_off");
    const other = await world.call("GET", "/api/compute/other/settings", { as: "otherOfficer" });
    assert.equal(other.status, 200, "another org is not touched");
  }));

Deno.test("PUT module alone gets through the gate, for officers only, and turns compute on again", () =>
  withWorld(async (world) => {
    await switchModule(world, { enabled: false });
    const nobody = await world.call("PUT", "/api/compute/org/module", { body: { enabled: true } });
    assert.equal(cellOf(nobody), "401 sign_in_required");
    const member = await world.call("PUT", "/api/compute/org/module", {
      headers: ownPage(openSession(world, "member")),
      body: { enabled: true },
    });
    assert.equal(cellOf(member), "403 not_an_officer");
    assert.equal(cellOf(await world.call("GET", "/api/compute/org/module", { as: "officer" })), "404 module_off");
    assert.equal(cellOf(await world.call("PUT", "/api/compute/org/settings", { as: "officer" })), "404 module_off");
    const on = await switchModule(world, { enabled: true });
    assert.deepEqual([on.status, on.json], [200, { enabled: true }]);
    assert.equal((await world.call("GET", "/api/compute/org/me/pods", { as: "member" })).status, 200);
  }));

Deno.test("a sign-in that was under way when compute was turned off ends with a page and no token", () =>
  withWorld(async (world) => {
    const started = await world.call("GET", "/api/compute/org/cli/login");
    const cookie = started.headers.get("set-cookie")!.split(";")[0]!;
    const state = new URL(started.headers.get("location")!).searchParams.get("state");
    await switchModule(world, { enabled: false });
    const ended = await world.call("GET", `/api/compute/cli/callback?state=${state}&code=${SIGN_IN_CODE}`, {
      headers: { cookie },
    });
    assert.equal(ended.status, 404);
    assert.match(ended.text, /Compute is turned off for this organization\./);
    assert.deepEqual(world.discord.requests.list().filter(({ path }) => path.includes("oauth2/token")), []);
  }));

Deno.test("turning compute off is 409 live_pods with the pods' names while there are pods, unless forced", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const refused = await switchModule(world, { enabled: false });
    assert.equal(cellOf(refused), "409 live_pods");
    assert.deepEqual(refused.json.pods, [{ id: pod, name: "matrix", status: "EXITED" }]);
    assert.match(refused.json.error, /matrix/);
    assert.equal(
      (await world.call("GET", "/api/compute/org/settings", { as: "officer" })).status,
      200,
      "it is still on",
    );

    const forced = await switchModule(world, { enabled: false, force: true });
    assert.deepEqual(forced.json, { enabled: false });
  }));

Deno.test("the operator cannot remove the key, the org, or switch it off while it has pods, unless forced", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const as = "operator" as const;
    const key = "/api/operator/orgs/org/secrets/runpod_api_key";
    const ways: [string, string, Record<string, unknown>][] = [
      ["DELETE", key, {}],
      ["DELETE", "/api/compute/org/integrations/runpod", {}],
      ["PATCH", "/api/operator/orgs/org", { enabled: false }],
      ["PATCH", "/api/operator/orgs/org", { is_active: false }],
      ["DELETE", "/api/operator/orgs/org", {}],
    ];
    for (const [method, path, body] of ways) {
      const refused = await world.call(method, path, { as, body });
      assert.equal(cellOf(refused), "409 live_pods", `${method} ${path}`);
      assert.deepEqual(refused.json.pods.map((one: { id: string }) => one.id), [pod]);
    }
    assert.equal((await world.call("GET", "/api/compute/org/integrations/runpod", { as })).json.configured, true);

    const terminated = await world.call("POST", `/api/compute/org/pods/${pod}/action`, {
      as,
      body: { action: "terminate" },
    });
    assert.equal(terminated.status, 200, terminated.text);
    for (const [method, path, body] of ways.slice(1, 3)) {
      assert.equal((await world.call(method, path, { as, body })).status, 200, "without pods it goes");
      await world.call("PATCH", "/api/operator/orgs/org", { as, body: { enabled: true, is_active: true } });
    }
    assert.equal(cellOf(await world.call("DELETE", key, { as })), "404 secret_not_found");
  }));

Deno.test("a removed org takes its tokens with it, and its audit stays", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const token = await world.token("officer", "officer");
    const removed = await world.call("DELETE", "/api/operator/orgs/org?force=true", { as: "operator" });
    assert.deepEqual(removed.json, { removed: "org" });
    const after = await world.call("GET", "/api/compute/org/pods", { token });
    assert.equal(cellOf(after), "401 token_invalid");
    assert.equal(cellOf(await world.call("GET", "/api/compute/org/pods", { as: "operator" })), "404 org_not_found");
    const row = world.db.get<{ details: string }>(
      "select details from audit_log where action = 'DELETE /api/operator/orgs/:prefix' and org_prefix = 'org'",
    );
    assert.deepEqual(JSON.parse(row!.details).live_pods, [pod], "the audit says which pods were left behind");
    const again = await world.call("POST", "/api/operator/orgs", {
      as: "operator",
      body: { prefix: "org", name: "Again", guild_id: "900000000000000001" },
    });
    assert.equal(again.status, 201, again.text);
    assert.equal(
      cellOf(await world.call("GET", "/api/compute/org/pods", { token, address: freshAddress() })),
      "401 token_invalid",
    );
  }));

Deno.test("a RunPod key of an account without the org's pods is 409 live_pods unless it is to replace the old one", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const path = "/api/compute/org/integrations/runpod";
    const other = "rpa_other_0123456789abcdef";
    const refused = await world.call("PUT", path, { as: "officer", body: { api_key: other } });
    assert.equal(cellOf(refused), "409 live_pods");
    assert.deepEqual(refused.json.pods.map((one: { id: string }) => one.id), [pod]);
    assert.equal((await world.call("GET", path, { as: "officer" })).json.last4, "cdef");
    const wrong = await world.call("PUT", path, { as: "officer", body: { api_key: "rpa_nobody_0123456789" } });
    assert.equal(cellOf(wrong), "400 runpod_key_refused");
    const replaced = await world.call("PUT", path, { as: "officer", body: { api_key: other, replace: true } });
    assert.deepEqual(replaced.json, { configured: true, pods: 0, last4: "cdef" });
    const tested = await world.call("POST", `${path}/test`, { as: "officer" });
    assert.deepEqual(tested.json, { pods: 0, message: "Connected. 0 pods on the account." });
  }));
