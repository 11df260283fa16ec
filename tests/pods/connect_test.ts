import assert from "node:assert/strict";
import type { Database } from "../../db/database.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { type Answer, createRunningPod, PEOPLE, type Person } from "../support/world.ts";
import { act, type ClockedWorld, inWorld, ORG, refreshed, refused, requests } from "./support.ts";

const KEY = publicLine(generateKeyPair().publicKey, "laptop");

const connect = (world: ClockedWorld, id: string, as: Person = "member", body: unknown = { public_key: KEY }) =>
  world.call("POST", `${ORG}/me/pods/${id}/connect`, { as, body });

const connections = (world: ClockedWorld) => world.db.all("select * from compute_connections");

/** A running pod, and the time at which RunPod is asked anew about it. */
async function readyPod(world: ClockedWorld, body: Record<string, unknown> = {}): Promise<string> {
  const id = await createRunningPod(world, body);
  world.clock.advance(2_000);
  return id;
}

Deno.test("connect refuses in the order of the contract", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world, { is_public: false });
    await act(world, id, "stop");
    const bad = { public_key: "nonsense" };
    const steps: [() => Promise<Answer>, number, string, (string | RegExp)?][] = [
      [
        () => connect(world, "nosuchpod00000", "member", bad),
        400,
        "invalid_request",
        /^A valid SSH public key is required/,
      ],
      [() => connect(world, "nosuchpod00000"), 404, "pod_not_found", "Pod not found"],
      [() => connect(world, id), 403, "pod_not_accessible", "Pod not accessible"],
    ];
    for (const [ask, status, code, sentence] of steps) refused(await ask(), status, code, sentence);
    const change = (body: unknown) => world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body });
    assert.equal((await change({ is_public: true })).status, 200);
    const key = await world.call("DELETE", `${ORG}/integrations/runpod?force=true`, { as: "officer" });
    assert.equal(key.status, 200);
    world.clock.advance(2_000);
    refused(await connect(world, id), 400, "runpod_key_missing", /runpod_api_key/);
    await world.call("PUT", `${ORG}/integrations/runpod`, {
      as: "officer",
      body: { api_key: "rpa_test_0123456789abcdef" },
    });
    const sealed = world.db.get<{ private_key: string }>(
      "select private_key from compute_keys where kind = 'user_ca'",
    )!;
    world.db.run("update compute_keys set private_key = replace(private_key, 'v1.', 'v1.0')");
    refused(await connect(world, id), 409, "pod_not_running", "Pod is not running");
    world.runpod.faults.on({ fault: "F16", variant: "never-address" });
    await act(world, id, "start");
    world.clock.advance(5_000);
    refused(
      await connect(world, id),
      503,
      "ssh_address_pending",
      "RunPod has not given the pod an SSH address yet. Wait a minute and try again",
    );
    world.runpod.faults.clear();
    world.clock.advance(2_000);
    refused(
      await connect(world, id),
      503,
      "secrets_key_wrong",
      "SECRETS_KEY cannot decrypt this organization's SSH keys",
    );
    assert.deepEqual(connections(world), []);
    world.db.run("update compute_keys set private_key = ? where kind = 'user_ca'", sealed.private_key);
    assert.equal((await connect(world, id)).status, 200);
    assert.equal(connections(world).length, 1);
  });
});

Deno.test("connect refuses keys that are none, without showing them", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const keys = [
      undefined,
      null,
      5,
      "",
      "ssh-ed25519",
      `${KEY}\n${KEY}`,
      `ssh-dss ${KEY.split(" ")[1]}`,
      "x".repeat(5_000),
    ];
    for (const public_key of keys) {
      const answer = await connect(world, id, "member", { public_key });
      refused(answer, 400, "invalid_request", /^A valid SSH public key is required/);
      assert.ok(!answer.text.includes(KEY.split(" ")[1]!));
    }
    for (const body of ["[]", "no json", ""]) {
      const answer = await world.call("POST", `${ORG}/me/pods/${id}/connect`, { as: "member", raw: body });
      refused(answer, 400, "invalid_request", "A valid SSH public key is required");
    }
    const more = await connect(world, id, "member", { public_key: KEY, client: "godfather 1.2" });
    assert.equal(more.status, 200, "unknown fields are ignored here (decision 14)");
  });
});

Deno.test("connect lets in who may use the pod now, and nobody else", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world, { is_public: false, allowed_users: [PEOPLE.exOfficer, PEOPLE.blocked] });
    const table: [Person, number, string?][] = [
      ["officer", 200],
      ["exOfficer", 200],
      ["member", 403, "pod_not_accessible"],
      ["blocked", 403, "pod_not_accessible"],
      ["stranger", 403, "not_a_member"],
      ["pending", 403, "not_a_member"],
      ["otherOfficer", 403, "not_a_member"],
      ["superadmin", 403, "not_a_member"],
    ];
    for (const [person, status, code] of table) {
      const answer = await connect(world, id, person);
      assert.deepEqual([answer.status, answer.json.code], [status, code], person);
    }
    assert.equal(connections(world).length, 2);
  });
});

/** What can be taken away while RunPod is being asked, and the refusal that must come of it. */
const MEANWHILE: [string, (world: ClockedWorld, id: string) => unknown, number, string][] = [
  [
    "the pod is made private",
    (world, id) => world.call("PUT", `${ORG}/pods/${id}`, { as: "officer", body: { is_public: false } }),
    403,
    "pod_not_accessible",
  ],
  [
    "the member is blocked",
    (world) =>
      world.db.run(
        "insert into blocked_users (org_id, pod_id, discord_id, blocked_at) values (1, '', ?, 0)",
        PEOPLE.member,
      ),
    403,
    "pod_not_accessible",
  ],
  ["the token is revoked", (world) => world.call("DELETE", `${ORG}/me/token`, { as: "member" }), 401, "token_invalid"],
  [
    "compute is switched off",
    (world) => world.call("PUT", `${ORG}/module`, { as: "officer", body: { enabled: false, force: true } }),
    404,
    "module_off",
  ],
  ["the pod is terminated", (world, id) => act(world, id, "terminate"), 409, "pod_not_running"],
];

for (const [what, change, status, code] of MEANWHILE) {
  Deno.test(`connect refuses at signing when ${what} while RunPod is being asked`, async () => {
    let meanwhile: (() => unknown) | null = null;
    await inWorld({
      fetch: (inner) => async (input, init) => {
        const answer = await inner(input, init);
        const now = meanwhile;
        if (now !== null && /\/v2\/pods\/[a-z0-9]+$/.test(String(input)) && (init?.method ?? "GET") === "GET") {
          meanwhile = null;
          await now();
        }
        return answer;
      },
    }, async (world) => {
      const id = await readyPod(world);
      await world.token("officer", "officer");
      world.clock.advance(180_000);
      let changed = false;
      meanwhile = async () => {
        await change(world, id);
        changed = true;
      };
      refused(await connect(world, id), status, code);
      assert.ok(changed);
      assert.deepEqual(connections(world), []);
      assert.equal(world.db.get("select 1 from member_folders"), undefined);
    });
  });
}

Deno.test("connect refuses a pod that was stopped while RunPod was being asked", async () => {
  let meanwhile: (() => Promise<unknown>) | null = null;
  await inWorld({
    fetch: (inner) => async (input, init) => {
      const answer = await inner(input, init);
      const now = meanwhile;
      if (now !== null && /\/v2\/pods\/[a-z0-9]+$/.test(String(input))) {
        meanwhile = null;
        await now();
      }
      return answer;
    },
  }, async (world) => {
    const id = await readyPod(world);
    await world.token("officer", "officer");
    meanwhile = async () => {
      world.clock.advance(1);
      await act(world, id, "stop");
    };
    refused(await connect(world, id), 409, "pod_not_running");
    assert.deepEqual(connections(world), []);
  });
});

Deno.test("connect refuses a pod that was stopped in the last moment before signing", async () => {
  let lastMoment = () => {};
  await inWorld({
    wrapDatabase: (db) => {
      const { get } = db;
      return Object.assign(db, {
        get: (...args: Parameters<Database["get"]>) => {
          if (args[0].includes("host_key_pins")) lastMoment();
          return get.apply(db, args);
        },
      });
    },
  }, async (world) => {
    const id = await readyPod(world);
    lastMoment = () => void world.db.run("update compute_pods set status = 'EXITED'");
    refused(await connect(world, id, "officer"), 409, "pod_not_running");
    assert.deepEqual(connections(world), []);
  });
});

Deno.test("connect gives the address as RunPod has it now: a moved port, and a new one after stop and start", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const address = async () => {
      const { json } = await connect(world, id);
      return `${json.ssh_info.host}:${json.ssh_info.port}`;
    };
    const inside = () => {
      const { host, port } = world.runpod.pods.get(id).address!;
      return `${host}:${port}`;
    };
    const first = await address();
    assert.equal(first, inside());
    world.runpod.pods.movePort(id);
    world.clock.advance(1_001);
    const second = await address();
    assert.equal(second, inside());
    await act(world, id, "stop");
    world.clock.advance(1_001);
    await act(world, id, "start");
    world.clock.advance(5_000);
    const third = await address();
    assert.equal(third, inside());
    assert.equal(new Set([first, second, third]).size, 3);
  });
});

Deno.test("connect refuses a stopped pod whose old address RunPod still shows: F18", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    world.runpod.faults.on({ fault: "F18" });
    world.runpod.pods.stop(id);
    refused(await connect(world, id), 409, "pod_not_running", "Pod is not running");
    const [pod] = await refreshed(world);
    assert.equal(pod.status, "EXITED");
    assert.equal(world.db.get<{ host: unknown }>("select host from compute_pods")!.host, null);
  });
});

Deno.test("connect takes the address from runtime.ports where ssh.direct is missing, and no inner one: F16, F17", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    world.runpod.faults.on({ fault: "F16", variant: "runtime-only" });
    world.runpod.faults.on({ fault: "F17", variant: "null-entries" });
    world.runpod.faults.on({ fault: "F17", variant: "http-entry" });
    const { json } = await connect(world, id);
    assert.deepEqual(
      { host: json.ssh_info?.host, port: json.ssh_info?.port },
      world.runpod.pods.get(id).address,
      JSON.stringify(json),
    );
  });
});

Deno.test("connect of a pod that RunPod does not have is 409, and such a pod is then GONE", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    world.clock.advance(180_000);
    world.runpod.pods.deleteOutside(id);
    refused(await connect(world, id), 409, "pod_not_running");
    assert.equal(world.db.get<{ status: string }>("select status from compute_pods")!.status, "GONE");
  });
});

Deno.test("connect without RunPod and without a pinned host key gives RunPod's refusal, not an unproved address", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    world.runpod.faults.on({ fault: "F1", variant: "401" });
    refused(await connect(world, id), 400, "runpod_key_refused", "RunPod answered 401: missing bearer token");
    assert.equal((await connect(world, id, "officer")).status, 400);
    world.runpod.faults.clear();
    world.runpod.faults.on({ fault: "F33", variant: "not-json", on: "GET /pods/{id}" });
    world.clock.advance(2_000);
    refused(await connect(world, id), 424, "runpod_unavailable", "RunPod sent a response that is not JSON");
    assert.deepEqual(connections(world), []);
  });
});

Deno.test("connect gives RunPod's refusal when the last known state is no running pod", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    await act(world, id, "stop");
    world.clock.advance(2_000);
    world.runpod.faults.on({ fault: "F1", variant: "401" });
    refused(await connect(world, id), 400, "runpod_key_refused");
  });
});

Deno.test("connect gives no certificate for a pod whose host key changed within one start", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const pod = world.db.get<{ id: string; start_key: string }>("select id, start_key from compute_pods")!;
    world.db.run(
      "insert into host_key_pins values (?, ?, 'SHA256:pinned', 'ssh-ed25519 AAAA', 0, 'SHA256:shown', 1)",
      pod.id,
      pod.start_key,
    );
    for (const person of ["member", "officer"] as const) {
      refused(await connect(world, id, person), 502, "host_key_changed", /Ask an officer$/);
    }
    assert.deepEqual(connections(world), []);
    const needs = await world.call("GET", `${ORG}/attention`, { as: "officer" });
    assert.equal(needs.json.attention[0].kind, "host_key_changed");
    assert.match(needs.json.attention[0].what, /SHA256:pinned was pinned, SHA256:shown was shown/);
    world.clock.advance(60_000);
    assert.equal((await act(world, id, "restart")).status, 200);
    world.clock.advance(70_000);
    assert.equal((await connect(world, id)).status, 200, "the next start begins anew");
  });
});

Deno.test("a class that connects at once costs one read of the pod", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    for (const person of ["member", "exOfficer", "officer"] as const) await world.token(person, "cli");
    const reads = () => requests(world, "GET", `/pods/${id}`).length;
    const before = reads();
    const people = ["member", "exOfficer", "officer", "member", "exOfficer"] as const;
    const answers = await Promise.all(people.map((person) => connect(world, id, person)));
    assert.deepEqual(answers.map((one) => one.status), [200, 200, 200, 200, 200]);
    assert.equal(reads(), before + 1);
    assert.equal(new Set(answers.map((one) => one.json.serial)).size, 5);
  });
});

Deno.test("connect is limited to 60 a minute for each person", async () => {
  await inWorld({}, async (world) => {
    const id = await readyPod(world);
    const bad = { public_key: "nonsense" };
    for (let tries = 0; tries < 60; tries++) refused(await connect(world, id, "member", bad), 400, "invalid_request");
    const answer = await connect(world, id);
    refused(answer, 429, "rate_limited", /^Too many connects\. Try again in \d+ seconds$/);
    const wait = Number(answer.headers.get("retry-after"));
    assert.ok(wait >= 1 && wait <= 60, String(wait));
    assert.equal((await connect(world, id, "exOfficer")).status, 200, "others are not held up");
    world.clock.advance(wait * 1_000);
    assert.equal((await connect(world, id)).status, 200);
  });
});

for (
  const [what, change, status, port] of [
    ["its address was dropped", "host = null, port = null", 503, null],
    ["its address changed", "port = 4242", 200, 4242],
  ] as const
) {
  Deno.test(`connect goes by what is known at signing when ${what} after the pod was read`, async () => {
    let armed = false;
    await inWorld({
      wrapDatabase: (db) => {
        const exec = db.exec.bind(db);
        db.exec = (sql) => {
          if (armed && sql === "savepoint piece") db.run(`update compute_pods set ${change}`);
          exec(sql);
        };
        return db;
      },
    }, async (world) => {
      const id = await readyPod(world);
      armed = true;
      const answer = await connect(world, id);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.json.ssh_info?.port ?? null, port);
      assert.equal(answer.json.code, status === 503 ? "ssh_address_pending" : undefined);
    });
  });
}
