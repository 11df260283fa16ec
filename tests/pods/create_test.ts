import assert from "node:assert/strict";
import { generateSecretKey } from "../../server/identity/secret_box.ts";
import { PUBLIC_WARNING } from "../../server/pods/create.ts";
import { createRunningPod, OFFICER_ROLE, PEOPLE, RUNPOD_KEY } from "../support/world.ts";
import { create, creates, intentsOf, inWorld, listed, ORG, orgNamed, refused, requests } from "./support.ts";

Deno.test("a create makes one pod at RunPod with the reserved env and a unique name", async () => {
  await inWorld({}, async (world) => {
    const id = await createRunningPod(world, { name: "workshop" });
    assert.deepEqual((await listed(world)).map((pod) => [pod.id, pod.name]), [[id, "workshop"]]);
    assert.equal(creates(world), 1);
    const body = requests(world, "POST", "/pods")[0]!.body as {
      name: string;
      env: Record<string, string>;
      ports: string[];
    };
    assert.match(body.name, /^workshop-org-[0-9a-f]{8}$/);
    assert.deepEqual(body.ports, ["22/tcp"]);
    assert.equal(body.env.GODFATHER_SETUP, "true");
    assert.match(body.env.GODFATHER_SSH_CA_PUBLIC_KEY!, /^ssh-ed25519 \S+ platform-user_ca-1$/);
    assert.match(body.env.GODFATHER_SSH_PUBLIC_KEY!, /^ssh-ed25519 \S+ platform-backend-1$/);
  });
});

Deno.test("the answer of a create is the pod object of the contract with RunPod's own status", async () => {
  await inWorld({}, async (world) => {
    const body = { name: "  lab  ", allowed_users: ["22222", "11111", "22222"], is_public: false, use_cpu_only: false };
    const { status, json } = await create(world, body);
    assert.equal(status, 201);
    const { pod } = json;
    assert.equal(pod.name, "lab");
    assert.equal(pod.provider, "runpod");
    assert.equal(pod.status, "PROVISIONING");
    assert.deepEqual(pod.allowed_users, ["11111", "22222"]);
    assert.equal(pod.is_public, false);
    assert.equal(pod.created_by, PEOPLE.officer);
    assert.equal(pod.created_at, "2026-11-30T12:00:00+00:00");
    assert.equal(pod.as_of, "2026-11-30T12:00:00+00:00");
    assert.equal(pod.stale, false);
    assert.equal(pod.cost_per_hour, 0.17);
    assert.deepEqual(pod.machine, { gpuTypeId: "NVIDIA RTX A4000", dataCenterId: "EU-RO-1" });
    const [intent] = intentsOf(world);
    assert.equal(intent!.state, "done");
    const audit = world.db.get<{ actor_id: string; status: number; pod_id: string; action: string }>(
      "select * from audit_log where action like 'POST%pods%'",
    );
    assert.deepEqual(
      [audit?.actor_id, audit?.status, audit?.pod_id, audit?.action],
      [PEOPLE.officer, 201, pod.id, "POST /api/compute/:org/pods"],
    );
  });
});

Deno.test("a create without a name is called pod- and 8 hex digits", async () => {
  await inWorld({}, async (world) => {
    const { json } = await create(world);
    assert.match(json.pod.name, /^pod-[0-9a-f]{8}$/);
    const sent = requests(world, "POST", "/pods")[0]!.body as { name: string };
    assert.equal(sent.name, `${json.pod.name}-org-${json.pod.name.slice(4)}`);
  });
});

Deno.test("the operator's create names nobody as its maker", async () => {
  await inWorld({}, async (world) => {
    const made = await world.call("POST", `${ORG}/pods`, { as: "operator", body: { use_cpu_only: true } });
    assert.equal(made.status, 201, made.text);
    assert.equal(made.json.pod.created_by, null);
    assert.equal(intentsOf(world)[0]!.asked_by, "local:test");
  });
});

Deno.test("a create without a RunPod key says so before it looks at the body", async () => {
  await inWorld({}, async (world) => {
    await world.call("DELETE", `${ORG}/integrations/runpod`, { as: "officer" });
    const sentence = "This organization has no RunPod API key (org secret runpod_api_key)";
    for (const raw of ["{}", "no json", '{"name": 5}']) {
      refused(await world.call("POST", `${ORG}/pods`, { as: "officer", raw }), 400, "runpod_key_missing", sentence);
    }
    refused(await world.call("GET", `${ORG}/pods`, { as: "officer" }), 400, "runpod_key_missing", sentence);
    assert.equal(world.db.get("select 1 from compute_keys"), undefined, "no keys are made for nothing");
  });
});

Deno.test("a create makes the org's keys before it looks at the body, and only once", async () => {
  await inWorld({}, async (world) => {
    refused(await create(world, { name: 5 }), 400, "invalid_request");
    const keys = () => world.db.all<{ fingerprint: string }>("select fingerprint from compute_keys order by kind");
    const first = keys();
    assert.equal(first.length, 2);
    assert.equal((await create(world)).status, 201);
    assert.deepEqual(keys(), first);
  });
});

Deno.test("a create with another SECRETS_KEY than the one that sealed the RunPod key is 503", async () => {
  await inWorld({}, async (world) => {
    world.db.run("update org_secrets set ciphertext = replace(ciphertext, 'v1.', 'v1.0')");
    refused(await create(world), 503, "secrets_key_wrong");
    assert.equal(creates(world), 0);
  });
});

Deno.test("a public pod in an org without a member role warns, with a member role it does not", async () => {
  await inWorld({}, async (world) => {
    const first = await create(world, { is_public: true, use_cpu_only: false, volume_in_gb: 10 });
    assert.deepEqual(first.json.warnings, [PUBLIC_WARNING]);
    const roles = await world.call("PUT", `${ORG}/roles`, {
      as: "operator",
      body: { member_role_ids: [OFFICER_ROLE] },
    });
    assert.equal(roles.status, 200, roles.text);
    const second = await create(world, { is_public: true, use_cpu_only: false, volume_in_gb: 10 });
    assert.deepEqual(second.json.warnings, []);
  });
});

Deno.test("values of env reach RunPod and nothing else: not the database file, not the log, not an answer", async () => {
  const folder = await Deno.makeTempDir();
  const secret = "hf_Value7f3c9Secret";
  try {
    await inWorld(
      { database: `${folder}/orgpods.sqlite`, env: { SECRETS_KEY: generateSecretKey() } },
      async (world) => {
        const made = await create(world, { name: "env", env: { HF_TOKEN: secret, A_NAME: "" } });
        assert.equal(made.status, 201, made.text);
        world.runpod.faults.on({ fault: "F13", variant: "500", times: 1 });
        await create(world, { name: "lost", env: { HF_TOKEN: secret } });
        world.runpod.faults.on({ fault: "F11", times: 1 });
        await create(world, { name: "refused", env: { HF_TOKEN: secret } });
        const list = await world.call("GET", `${ORG}/pods`, { as: "officer" });
        const needs = await world.call("GET", `${ORG}/attention`, { as: "officer" });
        const sent = requests(world, "POST", "/pods")[0]!.body as { env: Record<string, string> };
        assert.equal(sent.env.HF_TOKEN, secret);
        for (const text of [made.text, list.text, needs.text, world.logLines.join("\n")]) {
          assert.ok(!text.includes(secret));
        }
        world.db.get("pragma wal_checkpoint(truncate)");
        const latin = new TextDecoder("latin1");
        let file = "";
        for (const entry of Deno.readDirSync(folder)) {
          file += latin.decode(Deno.readFileSync(`${folder}/${entry.name}`));
        }
        assert.ok(file.includes("HF_TOKEN") && file.includes("A_NAME"), "the names are kept");
        assert.ok(!file.includes(secret), "the values are not");
        assert.ok(!file.includes(RUNPOD_KEY), "nor is the RunPod key");
        const config = JSON.parse(world.db.get<{ config: string }>("select config from compute_pods")!.config);
        assert.deepEqual(config.env_names, ["A_NAME", "HF_TOKEN"]);
      },
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the RunPod name of a pod ends in the org and a fresh suffix however long or odd the name is", async () => {
  await inWorld({}, async (world) => {
    const names = ["n".repeat(100), "Übung 🧪", "../../etc", "a'b\"c`d$(e)"];
    for (const name of names) assert.equal((await create(world, { name })).json.pod.name, name);
    const sent = requests(world, "POST", "/pods").map((one) => (one.body as { name: string }).name);
    for (const [index, name] of names.entries()) {
      assert.ok(sent[index]!.startsWith(`${name}-org-`), sent[index]);
      assert.match(sent[index]!, /-org-[0-9a-f]{8}$/);
    }
    assert.equal(orgNamed(world).prefix, "org");
  });
});
