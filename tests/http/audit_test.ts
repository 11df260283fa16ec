import assert from "node:assert/strict";
import { insertAudit } from "../../db/stores/audit.ts";
import { DAY } from "../../server/clock.ts";
import { eventually, PEOPLE } from "../support/world.ts";
import { cellOf, type ClockedWorld, freshAddress, openSession, ownPage, stoppedPod, withWorld } from "./support.ts";

interface Row {
  readonly action: string;
  readonly source: string;
  readonly actor_kind: string;
  readonly actor_id: string | null;
  readonly actor_name: string | null;
  readonly address: string | null;
  readonly status: number;
  readonly outcome: string;
  readonly org_prefix: string | null;
  readonly pod_id: string | null;
  readonly details: string;
}

/** The rows that `work` adds, oldest first. */
async function rowsOf(world: ClockedWorld, work: () => Promise<unknown>): Promise<Row[]> {
  const last = world.db.get<{ id: number | null }>("select max(id) as id from audit_log")?.id ?? 0;
  await work();
  return world.db.all<Row>("select * from audit_log where id > ? order by id", last);
}

const OFFICER = { actor_kind: "officer", actor_id: PEOPLE.officer, actor_name: "officer", source: "api" };
const LOCAL = { actor_kind: "local", actor_id: "test", actor_name: null, source: "local" };

function assertRow(row: Row | undefined, wanted: Partial<Row>) {
  assert.ok(row !== undefined, `no row like ${JSON.stringify(wanted)}`);
  for (const [field, value] of Object.entries(wanted)) assert.deepEqual(row[field as keyof Row], value, field);
}

Deno.test("each change leaves one row with who, where from, what, and the outcome", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const as = "officer" as const;
    await world.token("officer", "officer"); // Its own row is not of interest here.
    const changes: [string, string, string, unknown, Partial<Row>][] = [
      ["PUT", "settings", "settings", { pod_image: "x" }, {}],
      ["PUT", "module", "module", { enabled: true }, {}],
      ["PUT", "integrations/runpod", "integrations/runpod", { api_key: "rpa_test_0123456789abcdef" }, {}],
      ["PUT", `pods/${pod}`, "pods/:id", { allowed_users: [PEOPLE.member] }, { pod_id: pod }],
      ["POST", `pods/${pod}/action`, "pods/:id/action", { action: "start" }, { pod_id: pod }],
      ["POST", "pods", "pods", { use_cpu_only: true }, { status: 201, outcome: "created" }],
    ];
    for (const [method, path, route, body, more] of changes) {
      const address = freshAddress();
      const rows = await rowsOf(world, async () => {
        const answer = await world.call(method, `/api/compute/org/${path}`, { as, body, address });
        assert.ok(answer.status < 300, `${path} ${answer.text}`);
      });
      assert.equal(rows.length, 1, `${path} wrote ${rows.length} rows`);
      const action = `${method} /api/compute/:org/${route}`;
      const wanted = { ...OFFICER, action, address, status: 200, outcome: "ok", org_prefix: "org", ...more };
      assertRow(rows[0], wanted);
      assert.ok(!rows[0]!.details.includes("rpa_test"), "the key is in the audit");
    }
  }));

Deno.test("the operator's changes leave rows of the local account, and reads leave none", () =>
  withWorld(async (world) => {
    const as = "operator" as const;
    const changes: [string, string, unknown, string | null][] = [
      ["PATCH", "/api/operator/orgs/org", { name: "New" }, "org"],
      ["PUT", "/api/operator/orgs/org/secrets/runpod_api_key", { value: "rpa_test_0123456789abcdef" }, "org"],
      ["POST", "/api/operator/secrets/rotate", {}, null],
      [
        "POST",
        "/api/operator/orgs",
        { prefix: "third", name: "3", guild_id: "900000000000000003", force: true },
        "third",
      ],
      ["DELETE", "/api/operator/orgs/third", {}, "third"],
      ["POST", "/api/compute/org/tokens", { kind: "officer", discord_id: PEOPLE.officer }, "org"],
    ];
    for (const [method, path, body, org] of changes) {
      const rows = await rowsOf(world, async () => {
        const answer = await world.call(method, path, { as, body });
        assert.ok(answer.status < 300, `${path} ${answer.text}`);
      });
      assert.equal(rows.length, 1, `${method} ${path} wrote ${rows.length} rows`);
      assertRow(rows[0], { ...LOCAL, org_prefix: org, outcome: "ok" });
    }
    await world.token("officer", "officer");
    const quiet = await rowsOf(world, async () => {
      for (const path of ["pods", "settings", "audit", "tokens", "members", "attention", "catalog/gpus"]) {
        assert.equal((await world.call("GET", `/api/compute/org/${path}`, { as: "officer" })).status, 200, path);
      }
    });
    assert.deepEqual(quiet, []);
  }));

Deno.test("each refused try to act as an officer leaves a row that names the person, the address and the reason", () =>
  withWorld(async (world) => {
    const member = await world.token("member", "officer");
    const officer = await world.token("officer", "officer");
    const session = ownPage(openSession(world, "member"));
    const cases: [string, Parameters<ClockedWorld["call"]>[2] & object, string | null, string, number][] = [
      ["POST /api/compute/org/pods", { token: member, body: {} }, PEOPLE.member, "not_an_officer", 403],
      ["GET /api/compute/org/audit", { headers: session }, PEOPLE.member, "not_an_officer", 403],
      ["POST /api/compute/org/pods", { token: `plat_${"x".repeat(43)}` }, null, "token_invalid", 401],
      ["GET /api/compute/org/pods", { headers: { cookie: "orgpods_session=guess" } }, null, "session_invalid", 401],
      ["PUT /api/compute/org/roles", { token: officer, body: {} }, PEOPLE.officer, "not_the_operator", 403],
    ];
    for (const [action, options, who, outcome, status] of cases) {
      const [method = "", path = ""] = action.split(" ");
      const address = freshAddress();
      const rows = await rowsOf(world, () => world.call(method, path, { ...options, address }));
      assert.equal(rows.length, 1, `${action} ${outcome}`);
      assertRow(rows[0], {
        action,
        actor_kind: "stranger",
        actor_id: who,
        address,
        outcome,
        status,
        org_prefix: "org",
        source: "api",
      });
    }
    const noCredential = await rowsOf(world, () => world.call("POST", "/api/compute/org/pods", { body: {} }));
    assert.deepEqual(noCredential, [], "a crawler without a credential fills no audit");
  }));

Deno.test("guessed tokens and cookies leave at most thirty rows a minute and address", () =>
  withWorld(async (world) => {
    for (const guess of [{ token: `plat_${"x".repeat(43)}` }, { headers: { cookie: "orgpods_session=guess" } }]) {
      const address = freshAddress();
      const rows = await rowsOf(world, async () => {
        for (let i = 0; i < 40; i++) await world.call("GET", "/api/compute/org/pods", { ...guess, address });
      });
      assert.equal(rows.length, 30);
    }
  }));

Deno.test("an audit row that the disk refuses does not let a change go through without it", () =>
  withWorld(async (world) => {
    world.db.run("create trigger full before insert on audit_log begin select raise(abort, 'no audit'); end");
    const calls = [
      await world.call("PUT", "/api/compute/org/settings", { as: "operator", body: { pod_image: "x" } }),
      await world.call("POST", "/api/compute/org/tokens", {
        as: "operator",
        body: { kind: "cli", discord_id: PEOPLE.member },
      }),
      await world.call("PATCH", "/api/operator/orgs/org", { as: "operator", body: { name: "New" } }),
    ];
    for (const answer of calls) {
      assert.equal(cellOf(answer), "500 internal_error");
      assert.equal(answer.json.error, "Something went wrong on the server");
    }
    const refused = await world.call("GET", "/api/compute/org/pods", { token: `plat_${"x".repeat(43)}` });
    assert.equal(cellOf(refused), "401 token_invalid", "a refusal stays a refusal");
    world.db.run("drop trigger full");
    const org = await world.call("GET", "/api/operator/orgs/org", { as: "operator" });
    assert.deepEqual([org.json.org.name, org.json.org.pod_image], ["Test Society", null]);
    assert.deepEqual((await world.call("GET", "/api/compute/org/tokens", { as: "operator" })).json.tokens, []);
  }));

Deno.test("the audit pages backwards without gaps or doubles, and only over the own org", () =>
  withWorld(async (world) => {
    const as = "officer" as const;
    for (let i = 0; i < 25; i++) {
      await world.call("PUT", "/api/compute/org/settings", { as, body: { pod_image: `image-${i}` } });
    }
    await world.call("PUT", "/api/compute/other/settings", { as: "otherOfficer", body: { pod_image: "theirs" } });
    const all = (await world.call("GET", "/api/compute/org/audit", { as })).json.audit;
    assert.ok(all.length >= 25);
    assert.equal(all[0].details.changed.podImage, "image-24", "the newest is first");
    assert.match(all[0].at, /\+00:00$/);
    assert.ok(!JSON.stringify(all).includes("theirs"));

    const paged: { id: number }[] = [];
    for (let before = ""; paged.length < all.length;) {
      const page = (await world.call("GET", `/api/compute/org/audit?limit=7${before}`, { as })).json.audit;
      assert.ok(page.length > 0 && page.length <= 7);
      paged.push(...page);
      before = `&before_id=${page.at(-1).id}`;
    }
    assert.deepEqual(paged.map((row) => row.id), all.map((row: { id: number }) => row.id));
    const beyond = await world.call("GET", `/api/compute/org/audit?before_id=${all.at(-1).id}`, { as });
    assert.deepEqual(beyond.json, { audit: [] });
  }));

Deno.test("the audit of one pod has only what was done to it, page by page", () =>
  withWorld(async (world) => {
    world.db.run("delete from audit_log");
    for (let n = 1; n <= 9; n++) {
      insertAudit(world.db, {
        source: "api",
        action: `act ${n}`,
        orgPrefix: n === 9 ? "other" : "org",
        podId: n % 2 === 0 ? "even" : n === 1 ? null : "odd",
        actorKind: "officer",
        actorId: "1",
        status: 200,
        outcome: "ok",
      }, world.clock.now() + n);
    }
    const actions = async (query: string): Promise<string[]> => {
      const { audit } = (await world.call("GET", `/api/compute/org/audit?${query}`, { as: "officer" })).json;
      return audit.map(({ action, id }: { action: string; id: number }) => `${action} ${id}`);
    };
    const odd = await actions("pod_id=odd");
    assert.deepEqual(odd.map((one) => one.slice(0, 5)), ["act 7", "act 5", "act 3"]);
    const [, second] = odd;
    assert.deepEqual(await actions(`pod_id=odd&before_id=${second!.slice(6)}`), odd.slice(2));
    assert.deepEqual(await actions("pod_id=nothing"), []);
  }));

Deno.test("the audit refuses a limit or a place that is no whole number in range", () =>
  withWorld(async (world) => {
    for (
      const bad of ["limit=0", "limit=501", "limit=-1", "limit=1.5", "limit=", "limit=ten", "limit=%00", "limit=1e2"]
    ) {
      const answer = await world.call("GET", `/api/compute/org/audit?${bad}`, { as: "officer" });
      assert.deepEqual([answer.status, answer.json.error], [400, "limit must be a whole number from 1 to 500"], bad);
    }
    for (const bad of ["before_id=0", "before_id=x", `before_id=${"9".repeat(30)}`]) {
      const answer = await world.call("GET", `/api/compute/org/audit?${bad}`, { as: "officer" });
      assert.deepEqual([answer.status, answer.json.error], [400, "before_id must be a whole number"], bad);
    }
    for (const bad of ["pod_id=", "pod_id=a%2Fb", `pod_id=${"x".repeat(65)}`]) {
      const answer = await world.call("GET", `/api/compute/org/audit?${bad}`, { as: "officer" });
      assert.deepEqual([answer.status, answer.json.error], [400, "pod_id must be a pod's id"], bad);
    }
    const good = await world.call("GET", "/api/compute/org/audit?limit=500&before_id=999999999999999", {
      as: "officer",
    });
    assert.equal(good.status, 200);
  }));

Deno.test("housekeeping removes audit rows past the retention and keeps the others", () =>
  withWorld(async (world) => {
    world.db.run("delete from audit_log");
    const at = (days: number, action: string) => {
      world.db.run(
        "insert into audit_log (created_at, source, action, org_prefix, actor_kind, status, outcome, details) " +
          "values (?, 'api', ?, 'org', 'officer', 200, 'ok', '{}')",
        world.clock.now() - days * DAY,
        action,
      );
    };
    at(31, "old");
    at(30.001, "just over");
    at(29.999, "just under");
    at(0, "new");
    const left = () =>
      world.db.all<{ action: string }>("select action from audit_log order by id").map((row) => row.action);
    world.app.run();
    await eventually(() => left().length < 4, "old rows go");
    assert.deepEqual(left(), ["just under", "new"]);
  }, { env: { AUDIT_RETENTION_DAYS: "30" } }));
