import assert from "node:assert/strict";
import { BASE_URL } from "../support/world.ts";
import { ROWS } from "./route_rows.ts";
import { cellOf, freshAddress, withWorld } from "./support.ts";

const JSON_TYPE = "application/json";

Deno.test("an unknown route answers 404 route_not_found as JSON, whoever asks and with any method", () =>
  withWorld(async (world) => {
    const paths = [
      "/api/",
      "/api/compute",
      "/api/compute/",
      "/api/compute/org",
      "/api/compute/org/",
      "/api/compute/org/nosuch",
      "/api/compute/org/pods/",
      "/api/compute/org/pods//",
      "/api/compute//pods",
      "//api/compute/org/pods",
      "/api//compute/org/pods",
      "/api/compute/org//pods",
      "/api/compute/org/pods/a/b/c",
      "/api/compute/org/pods/a/ACTION",
      "/api/compute/org/pods/.%2e/settings/x",
      "/API/compute/org/pods",
      "/api/operator/nosuch",
      "/org/pods",
      `/api/compute/org/${"x".repeat(50_000)}`,
      "/api/compute/org/me/pods/a%2Fb/c/connect",
    ];
    for (const path of paths) {
      for (const method of ["GET", "POST", "DELETE"]) {
        for (const as of ["operator", "officer", undefined] as const) {
          const answer = await world.call(method, path, {
            ...(as === undefined ? {} : { as }),
            address: freshAddress(),
          });
          assert.equal(cellOf(answer), "404 route_not_found", `${method} ${path.slice(0, 80)} as ${as}`);
          assert.equal(answer.headers.get("content-type"), JSON_TYPE);
          assert.equal(answer.headers.get("allow"), null);
          assert.ok(answer.text.length < 200, "the answer repeats the path");
        }
      }
    }
  }));

/** The methods each pattern has, by the table of rows. */
function methodsByPath(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const route of Object.keys(ROWS)) {
    const [method = "", path = ""] = route.split(" ");
    found.set(path, [...found.get(path) ?? [], method]);
  }
  return found;
}

Deno.test("a method a path does not have answers 405 and Allow lists those it has, HEAD included", () =>
  withWorld(async (world) => {
    for (const [pattern, methods] of methodsByPath()) {
      const path = pattern.replace(":org", "org").replace(/:\w+/g, "x1");
      const allowed = [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].sort().join(", ");
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"]) {
        if (methods.includes(method)) continue;
        const answer = await world.call(method, path, { address: freshAddress() });
        assert.equal(cellOf(answer), "405 method_not_allowed", `${method} ${path}`);
        assert.equal(answer.headers.get("allow"), allowed, `${method} ${path}`);
        assert.ok(answer.json.error.includes(allowed), answer.text);
      }
    }
  }));

Deno.test("HEAD answers as GET does, with the same refusals and no body", () =>
  withWorld(async (world) => {
    for (
      const path of ["/health", "/", "/org", "/nosuch", "/api/compute/org/settings", "/api/compute/nosuch/settings"]
    ) {
      for (const as of ["operator", undefined] as const) {
        const options = { ...(as === undefined ? {} : { as }), address: freshAddress() };
        const get = await world.call("GET", path, options);
        const request = new Request(BASE_URL + path, { method: "HEAD" });
        const peer = { isOperator: as === "operator", account: "test", address: freshAddress() };
        const head = await world.app.fetch(request, peer);
        assert.equal(head.status, get.status, path);
        assert.equal(await head.text(), "", path);
        assert.equal(head.headers.get("content-type"), get.headers.get("content-type"), path);
      }
    }
    const missing = await world.app.fetch(new Request(`${BASE_URL}/api/nosuch`, { method: "HEAD" }), {
      isOperator: false,
      account: "",
      address: "",
    });
    assert.equal(missing.status, 404);
  }));

Deno.test("a pod id of any form answers 404 pod_not_found and never another org's or route's answer", () =>
  withWorld(async (world) => {
    const ids = [
      "a%2Fb",
      "..%2F..%2Fother",
      "%00",
      "a%00b",
      "%0d%0aset-cookie:x",
      "%",
      "%zz",
      "%C3%28",
      "%F0%9F%92%A9",
    ];
    const odd = [
      ...ids,
      "'%20or%201=1--",
      "*",
      "%25",
      "p".repeat(65),
      "p".repeat(60_000),
      "members",
      "constructor",
    ];
    for (const id of odd) {
      const calls = [
        await world.call("GET", `/api/compute/org/pods/${id}`, { as: "officer" }),
        await world.call("GET", `/api/compute/org/pods/${id}/members`, { as: "officer" }),
        await world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action: "stop" } }),
        await world.call("PUT", `/api/compute/org/pods/${id}`, { as: "officer", body: { is_public: true } }),
      ];
      for (const answer of calls) {
        assert.equal(cellOf(answer), "404 pod_not_found", `${id.slice(0, 40)} ${answer.text.slice(0, 200)}`);
        assert.equal(answer.json.error, "Pod not found");
      }
    }
    assert.deepEqual(world.logLines.filter((line) => line.includes('"error"')), []);
  }));

Deno.test("a token id that is no whole number answers 404 token_not_found", () =>
  withWorld(async (world) => {
    for (const id of ["0", "-1", "1.5", "1e3", "0x1", "9".repeat(15), "9".repeat(40), "%00", "a%2Fb", "NaN"]) {
      const answer = await world.call("DELETE", `/api/compute/org/tokens/${id}`, { as: "officer" });
      assert.equal(cellOf(answer), "404 token_not_found", id);
    }
  }));

Deno.test("an unknown org answers 404 org_not_found on JSON routes and a page on sign-in routes", () =>
  withWorld(async (world) => {
    const cliToken = await world.token("member", "cli");
    for (const org of ["nosuch", "ORG", "a", "x".repeat(21), "..%2Forg", "org%00", "%zz", "__proto__", "constructor"]) {
      const me = await world.call("GET", `/api/compute/${org}/me/pods`, { token: cliToken });
      assert.equal(cellOf(me), "404 org_not_found", org);
      const officer = await world.call("GET", `/api/compute/${org}/pods`, { as: "operator" });
      assert.equal(cellOf(officer), "404 org_not_found", org);
      const login = await world.call("GET", `/api/compute/${org}/cli/login`);
      assert.equal(login.status, 404, org);
      assert.match(login.text, /Organization not found\./);
      const page = await world.call("GET", `/${org}`);
      assert.equal(page.status, 404, org);
      assert.match(page.text, /Organization not found\./);
    }
  }));

Deno.test("an org that is switched off for good is like an unknown one, for its own people too", () =>
  withWorld(async (world) => {
    const officer = await world.token("officer", "officer");
    const member = await world.token("member", "cli");
    const off = await world.call("PATCH", "/api/operator/orgs/org", { as: "operator", body: { is_active: false } });
    assert.equal(off.status, 200);
    const calls = [
      await world.call("GET", "/api/compute/org/pods", { token: officer }),
      await world.call("GET", "/api/compute/org/pods", { as: "operator" }),
      await world.call("GET", "/api/compute/org/me/pods", { token: member }),
      await world.call("GET", "/api/compute/org/me", { token: member }),
      await world.call("GET", "/api/compute/org/me", { token: officer }),
      await world.call("DELETE", "/api/compute/org/me/token", { token: member }),
      await world.call("PUT", "/api/compute/org/module", { token: officer, body: { enabled: true } }),
    ];
    for (const answer of calls) assert.equal(cellOf(answer), "404 org_not_found", answer.text);
    for (const path of ["/org", "/api/compute/org/cli/login", "/api/compute/org/officer/login"]) {
      const page = await world.call("GET", path);
      assert.equal(page.status, 404);
      assert.match(page.text, /Organization not found\./);
    }
  }));

Deno.test("an org's percent-encoded prefix is the org itself, with the same gate and the same guard", () =>
  withWorld(async (world) => {
    const allowed = await world.call("GET", "/api/compute/%6Frg/settings", {
      token: await world.token("officer", "officer"),
    });
    assert.equal(allowed.status, 200);
    assert.equal(cellOf(await world.call("GET", "/api/compute/%6Frg/settings")), "401 sign_in_required");
    const off = await world.call("PUT", "/api/compute/org/module", { as: "operator", body: { enabled: false } });
    assert.equal(off.status, 200);
    assert.equal(cellOf(await world.call("GET", "/api/compute/%6Frg/settings", { as: "operator" })), "404 module_off");
    const on = await world.call("PUT", "/api/compute/%6Frg/module", { as: "operator", body: { enabled: true } });
    assert.equal(on.status, 200, on.text);
  }));

Deno.test("health tells the version to anybody and the start pages print the command of the client", () =>
  withWorld(async (world) => {
    const health = await world.call("GET", "/health");
    assert.deepEqual(health.json, { status: "ok", version: "0.0.0-test" });
    const start = await world.call("GET", "/");
    assert.ok(start.text.includes(`<pre>godfather auth --api-url ${BASE_URL} --org &lt;prefix&gt;</pre>`), start.text);
    const org = await world.call("GET", "/org");
    assert.ok(org.text.includes(`<pre>godfather auth --api-url ${BASE_URL} --org org</pre>`), org.text);
  }));
