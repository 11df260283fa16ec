import { networkOf } from "../../server/http/limits.ts";
import assert from "node:assert/strict";
import { type Answer, BASE_URL } from "../support/world.ts";
import { cellOf, type ClockedWorld, freshAddress, freshToken, withWorld } from "./support.ts";

const PROXY = "10.0.0.1";
const BAD = `plat_${"x".repeat(43)}`;

async function times(count: number, call: (i: number) => Promise<Answer>): Promise<string[]> {
  const cells: string[] = [];
  for (let i = 0; i < count; i++) cells.push(cellOf(await call(i)));
  return cells;
}

Deno.test("more than thirty bad tokens a minute from one address are 429, and good tokens from there go on working", () =>
  withWorld(async (world) => {
    const address = "203.0.113.5";
    const good = {
      cli: await freshToken(world, "member", "cli"),
      officer: await freshToken(world, "officer", "officer"),
    };
    const bad = (path: string) => world.call("GET", path, { token: BAD, address });
    const cells = await times(31, (i) => bad(i % 2 ? "/api/compute/org/me/pods" : "/api/compute/org/pods"));
    assert.deepEqual(new Set(cells.slice(0, 30)), new Set(["401 token_invalid"]));
    assert.equal(cells[30], "429 rate_limited");
    const limited = await bad("/api/compute/org/me");
    assert.equal(cellOf(limited), "429 rate_limited");
    assert.ok(Number(limited.headers.get("retry-after")) >= 1);
    assert.equal(limited.json.error, "Too many bad tokens from this address");

    assert.equal((await world.call("GET", "/api/compute/org/me/pods", { token: good.cli, address })).status, 200);
    assert.equal((await world.call("GET", "/api/compute/org/pods", { token: good.officer, address })).status, 200);
    assert.equal(cellOf(await world.call("GET", "/api/compute/org/pods", { address })), "401 sign_in_required");
    assert.equal(
      cellOf(await world.call("GET", "/api/compute/org/pods", { token: BAD, address: "203.0.113.6" })),
      "401 token_invalid",
    );
    world.clock.advance(60_000);
    assert.equal(cellOf(await bad("/api/compute/org/pods")), "401 token_invalid");
  }));

Deno.test("good tokens are never counted, however many come from one address", () =>
  withWorld(async (world) => {
    const token = await freshToken(world, "member", "cli");
    const cells = await times(200, () =>
      world.call("GET", "/api/compute/org/me/pods", { token, address: "203.0.113.5" }));
    assert.deepEqual(new Set(cells), new Set(["200"]));
  }));

Deno.test("more than 300 sign-in starts in ten minutes from one address get a page with 429, others do not", () =>
  withWorld(async (world) => {
    const login = (address: string) => world.call("GET", "/api/compute/org/cli/login", { address });
    const cells = await times(300, () => login("203.0.113.5"));
    assert.deepEqual(new Set(cells), new Set(["302"]));
    const limited = await login("203.0.113.5");
    assert.equal(limited.status, 429);
    assert.match(limited.text, /Too many sign-ins from this address\. Try again in a few minutes\./);
    assert.equal(limited.headers.get("set-cookie"), null);
    assert.ok(Number(limited.headers.get("retry-after")) > 0);
    assert.equal((await login("203.0.113.6")).status, 302);
    world.clock.advance(600_000);
    assert.equal((await login("203.0.113.5")).status, 302);
    const left = world.db.get<{ n: number }>("select count(*) as n from sign_ins")!.n;
    assert.equal(left, 1, "sign-ins that are over are removed");
  }));

Deno.test("more than sixty connects a minute of one person are 429, and of another person they are not", () =>
  withWorld(async (world) => {
    const connect = (person: "member" | "officer", address: string) =>
      world.call("POST", "/api/compute/org/me/pods/nosuch/connect", {
        as: person,
        kind: "cli",
        address,
        body: { public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEUvLzTrGgoO8DFLpyj2M3Qv8UUQLhlnDH2bxqYTZf7v" },
      });
    const cells = await times(60, () => connect("member", freshAddress()));
    assert.deepEqual(new Set(cells), new Set(["404 pod_not_found"]));
    const limited = await connect("member", freshAddress());
    assert.equal(cellOf(limited), "429 rate_limited");
    assert.equal(limited.headers.get("retry-after"), "60");
    assert.equal(cellOf(await connect("officer", freshAddress())), "404 pod_not_found");
    world.clock.advance(60_000);
    assert.equal(cellOf(await connect("member", freshAddress())), "404 pod_not_found");
  }));

/** The address that the audit notes for a refused request. */
async function notedAddress(world: ClockedWorld, peer: string, forwarded?: string): Promise<string> {
  await world.call("GET", "/api/compute/org/pods", {
    token: BAD,
    address: peer,
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  });
  return world.db.get<{ address: string }>("select address from audit_log order by id desc limit 1")!.address;
}

Deno.test("X-Forwarded-For counts only from a trusted proxy, and only what the proxies themselves added", () =>
  withWorld(async (world) => {
    const cases: [string, string | undefined, string][] = [
      ["203.0.113.5", "198.51.100.1", "203.0.113.5"],
      [PROXY, undefined, PROXY],
      [PROXY, "198.51.100.1", "198.51.100.1"],
      [PROXY, "1.1.1.1, 198.51.100.2", "198.51.100.2"],
      [PROXY, "1.1.1.1, 198.51.100.3, 10.0.0.2", "198.51.100.3"],
      [PROXY, "1.1.1.1,2.2.2.2,,  198.51.100.4 ,", "198.51.100.4"],
      ["10.0.0.2", "2001:db8::7", "2001:db8::7"],
      ["::1", "198.51.100.5", "::1"],
      [PROXY, "unknown", PROXY],
      [PROXY, "198.51.100.6:4711, <script>", PROXY],
      [PROXY, "x".repeat(5_000), PROXY],
      [PROXY, "10.0.0.2", "10.0.0.2"],
    ];
    for (const [peer, forwarded, wanted] of cases) {
      assert.equal(await notedAddress(world, peer, forwarded), wanted, `${peer} with ${forwarded}`);
    }
  }, { env: { ORGPODS_TRUSTED_PROXY: "10.0.0.1, 10.0.0.2" } }));

Deno.test("a forged X-Forwarded-For neither escapes the limit nor makes anybody the operator", () =>
  withWorld(async (world) => {
    const cells = await times(31, (i) =>
      world.call("GET", "/api/compute/org/pods", {
        token: BAD,
        address: "203.0.113.5",
        headers: { "x-forwarded-for": `198.51.100.${i}`, "x-real-ip": "127.0.0.1", forwarded: "for=127.0.0.1" },
      }));
    assert.equal(cells[30], "429 rate_limited");
    for (const address of ["127.0.0.1", "::1", "", PROXY]) {
      const answer = await world.app.fetch(
        new Request(`${BASE_URL}/api/operator/status`, {
          headers: { "x-forwarded-for": "", host: "localhost", "x-operator": "true" },
        }),
        { isOperator: false, account: "root", address },
      );
      assert.equal(answer.status, 403);
      assert.equal((await answer.json()).code, "not_the_operator");
    }
  }));

Deno.test("networkOf counts an IPv6 network of 64 bits as one, and an IPv4 address as itself", () => {
  assert.equal(networkOf("192.0.2.7"), "192.0.2.7");
  assert.equal(networkOf("::ffff:192.0.2.7"), "192.0.2.7");
  assert.equal(networkOf("2001:db8:1:2:aaaa::1"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:db8:1:2::9"), "2001:db8:1:2::/64");
  assert.equal(networkOf("2001:db8::9"), "2001:db8:0:0::/64");
  assert.equal(networkOf("::1"), "0:0:0:0::/64");
  assert.equal(networkOf("2001:0db8:0001:0002:0003:0004:0005:0006"), "2001:db8:1:2::/64");
});
