import assert from "node:assert/strict";
import { create, creates, intentsOf, inWorld, listed, ORG, refused, requests } from "./support.ts";

const NAME = "name must be text of at most 100 characters";
const IMAGE = "image_name must be text of at most 200 characters";
const VOLUME = "volume_in_gb must be a whole number from 0 to 2000";
const DISK = "container_disk_in_gb must be a whole number from 1 to 500";
const PATH = "volume_mount_path must be text of at most 200 characters";
const USERS = "allowed_users must be a list of at most 500 Discord ids";
const USER = "allowed_users must hold Discord ids, of 5 to 25 digits each";
const VCPU = "vcpu_count must be a whole number from 2 to 64";
const SMALL = "volume_in_gb must be 0 or from 10 to 2000: RunPod refuses a volume under 10 GB";
const CLOUD = "cloud_type must be COMMUNITY or SECURE";
const GPU = "gpu_type_id must be text of at most 100 characters";
const FLAVOR = "cpu_flavor must be text of at most 50 characters";
const ENV = "env must map names to text";

/** Body and the one sentence that refuses it (contract 5.12). */
const REFUSED: [Record<string, unknown>, string | RegExp][] = [
  [{ name: "" }, NAME],
  [{ name: "   " }, NAME],
  [{ name: "x".repeat(101) }, NAME],
  [{ name: 5 }, NAME],
  [{ name: null }, NAME],
  [{ image_name: "" }, IMAGE],
  [{ image_name: "x".repeat(201) }, IMAGE],
  [{ image_name: null }, IMAGE],
  [{ image_name: "two words" }, IMAGE],
  [{ use_cpu_only: "false" }, "use_cpu_only must be true or false"],
  [{ use_cpu_only: 0 }, "use_cpu_only must be true or false"],
  [{ use_cpu_only: null }, "use_cpu_only must be true or false"],
  [{ cloud_type: "secure" }, CLOUD],
  [{ cloud_type: null }, CLOUD],
  [{ cloud_type: "ALL" }, CLOUD],
  [{ gpu_type_id: "x".repeat(101) }, GPU],
  [{ gpu_type_id: "" }, GPU],
  [{ gpu_type_id: null }, GPU],
  [{ use_cpu_only: true, cpu_flavor: "x".repeat(51) }, FLAVOR],
  [{ use_cpu_only: true, cpu_flavor: null }, FLAVOR],
  [{ use_cpu_only: true, vcpu_count: 1 }, VCPU],
  [{ use_cpu_only: true, vcpu_count: 65 }, VCPU],
  [{ use_cpu_only: true, vcpu_count: 2.5 }, VCPU],
  [{ use_cpu_only: true, vcpu_count: "2" }, VCPU],
  [{ use_cpu_only: true, vcpu_count: true }, VCPU],
  [{ use_cpu_only: true, vcpu_count: null }, VCPU],
  [{ use_cpu_only: true, vcpu_count: 6 }, "vcpu_count must be a power of two"],
  [{ volume_in_gb: -1 }, VOLUME],
  [{ volume_in_gb: 2001 }, VOLUME],
  [{ volume_in_gb: 10.5 }, VOLUME],
  [{ volume_in_gb: true }, VOLUME],
  [{ volume_in_gb: "10" }, VOLUME],
  [{ volume_in_gb: null }, VOLUME],
  [{ volume_in_gb: 1 }, SMALL],
  [{ volume_in_gb: 9 }, SMALL],
  [{ container_disk_in_gb: 0 }, DISK],
  [{ container_disk_in_gb: 501 }, DISK],
  [{ container_disk_in_gb: true }, DISK],
  [{ container_disk_in_gb: 1.5 }, DISK],
  [{ container_disk_in_gb: null }, DISK],
  [{ volume_mount_path: "" }, PATH],
  [{ volume_mount_path: `/${"x".repeat(200)}` }, PATH],
  [{ volume_mount_path: null }, PATH],
  [{ volume_mount_path: "workspace" }, "volume_mount_path must be an absolute path"],
  [{ env: null }, ENV],
  [{ env: [] }, ENV],
  [{ env: "A=b" }, ENV],
  [{ env: { A: 1 } }, ENV],
  [{ env: { A: null } }, ENV],
  [{ env: { "1A": "x" } }, /^env names must match/],
  [{ env: { "A-B": "x" } }, /^env names must match/],
  [{ env: { "": "x" } }, /^env names must match/],
  [{ env: { GODFATHER_SETUP: "x" } }, "env names starting with GODFATHER_ are reserved"],
  [{ env: { GODFATHER_X: "x" } }, "env names starting with GODFATHER_ are reserved"],
  [{ env: { RUNPOD_POD_ID: "x" } }, /^env names starting with RUNPOD_ are reserved/],
  [{ env: Object.fromEntries(Array.from({ length: 48 }, (_, i) => [`A${i}`, "x"])) }, /^env must hold at most 47/],
  [{ is_public: "true" }, "is_public must be true or false"],
  [{ is_public: 1 }, "is_public must be true or false"],
  [{ is_public: null }, "is_public must be true or false"],
  [{ allowed_users: "200000000000000002" }, USERS],
  [{ allowed_users: null }, USERS],
  [{ allowed_users: Array.from({ length: 501 }, (_, i) => String(100_000 + i)) }, USERS],
  [{ allowed_users: [200000000000000002] }, USER],
  [{ allowed_users: ["1234"] }, USER],
  [{ allowed_users: ["1".repeat(26)] }, USER],
  [{ allowed_users: ["12345a"] }, USER],
  [{ allowed_users: [""] }, USER],
  [{ provider: "aws" }, "provider must be one of: runpod"],
  [{ provider: null }, "provider must be one of: runpod"],
  // Decision 14: a typo must not buy a GPU.
  [{ use_cpu_onli: true }, "Unknown field: use_cpu_onli"],
  [{ status: "RUNNING" }, "Unknown field: status"],
  [{ "a\u202eb": 1 }, "Unknown field: a\\u202eb"],
];

Deno.test("a create that breaks a rule is 400 with the rule's sentence and leaves nothing behind", async () => {
  await inWorld({}, async (world) => {
    for (const [body, sentence] of REFUSED) {
      const answer = await world.call("POST", `${ORG}/pods`, { as: "officer", body });
      assert.equal(answer.status, 400, `${JSON.stringify(body).slice(0, 80)}: ${answer.text}`);
      refused(answer, 400, "invalid_request", sentence);
    }
    assert.equal(creates(world), 0);
    assert.deepEqual(await listed(world), []);
    assert.deepEqual(intentsOf(world), []);
    assert.equal(world.db.get("select 1 from compute_pods"), undefined);
  });
});

Deno.test("a create whose body is no JSON object is refused", async () => {
  await inWorld({}, async (world) => {
    for (const raw of ["[]", '"text"', "5", "null"]) {
      refused(
        await world.call("POST", `${ORG}/pods`, { as: "officer", raw }),
        400,
        "invalid_request",
        "Send a JSON object",
      );
    }
    for (const raw of ["", "{", '{"name": "a\\u0000b"}', new Uint8Array([0x7b, 0xff, 0x7d])]) {
      refused(await world.call("POST", `${ORG}/pods`, { as: "officer", raw }), 400, "invalid_request");
    }
    assert.equal(creates(world), 0);
  });
});

/** Bodies at the edge of a rule, and the part of RunPod's create body that must come of them. */
const ACCEPTED: [Record<string, unknown>, Record<string, unknown>][] = [
  [{}, { cloud: "COMMUNITY", disk: 20, gpu: { id: "NVIDIA RTX A4000", count: 1 }, mounts: undefined, cpu: undefined }],
  [{ name: `  ${"n".repeat(100)} ` }, { cloud: "COMMUNITY" }],
  [{ cloud_type: "SECURE" }, { cloud: "SECURE" }],
  [{ volume_in_gb: 10 }, { mounts: { persistent: { size: 10, path: "/workspace" } } }],
  [{ volume_in_gb: 2000, volume_mount_path: "/data" }, { mounts: { persistent: { size: 2000, path: "/data" } } }],
  [{ container_disk_in_gb: 1 }, { disk: 1 }],
  [{ image_name: "ghcr.io/a/b:1" }, { image: "ghcr.io/a/b:1" }],
  // GPU fields of a CPU pod and CPU fields of a GPU pod are not looked at.
  [{ vcpu_count: "nonsense", cpu_flavor: 5 }, { gpu: { id: "NVIDIA RTX A4000", count: 1 } }],
  [{ use_cpu_only: true, gpu_type_id: null }, { cpu: { id: "cpu3c", vcpuCount: 2 }, gpu: undefined, cloud: "SECURE" }],
  [{ use_cpu_only: true, cpu_flavor: "cpu5g", vcpu_count: 16 }, { cpu: { id: "cpu5g", vcpuCount: 16 } }],
  // A CPU pod has no volume, whatever was sent.
  [{ use_cpu_only: true, volume_in_gb: 100 }, { mounts: undefined }],
];

Deno.test("createRequest gives RunPod exactly the fields it takes, with the contract's defaults", async () => {
  await inWorld({}, async (world) => {
    for (const [body, expected] of ACCEPTED) {
      const answer = await world.call("POST", `${ORG}/pods`, { as: "officer", body });
      assert.equal(answer.status, 201, `${JSON.stringify(body)}: ${answer.text}`);
      const sent = requests(world, "POST", "/pods").at(-1)!.body as Record<string, unknown>;
      for (const [field, value] of Object.entries(expected)) {
        assert.deepEqual(sent[field], value, `${field} of ${JSON.stringify(body)}`);
      }
      assert.deepEqual(sent["ports"], ["22/tcp"]);
      for (const never of ["startSsh", "args", "templateId", "volume_mount_path"]) assert.ok(!(never in sent), never);
    }
  });
});

Deno.test("a create stores a volume of 0 for a CPU pod and warns that a stop loses every file", async () => {
  await inWorld({}, async (world) => {
    const cpu = await create(world, { volume_in_gb: 100 });
    assert.deepEqual(cpu.json.warnings, ["A CPU pod has no volume: stopping it loses every file on it."]);
    assert.equal(cpu.json.pod.keeps_files, false);
    const config = JSON.parse(world.db.get<{ config: string }>("select config from compute_pods")!.config);
    assert.equal(config.volume_in_gb, 0);
    const bare = await create(world, { use_cpu_only: false });
    assert.deepEqual(bare.json.warnings, ["The pod has no volume: stopping it loses every file on it."]);
    const kept = await create(world, { use_cpu_only: false, volume_in_gb: 10 });
    assert.deepEqual(kept.json.warnings, []);
    assert.equal(kept.json.pod.keeps_files, true);
  });
});

Deno.test("a create takes the image from the body, else from the org, else from the deployment", async () => {
  await inWorld({}, async (world) => {
    const imageSent = () => (requests(world, "POST", "/pods").at(-1)!.body as { image: string }).image;
    await create(world);
    assert.equal(imageSent(), world.config.podImage);
    const set = await world.call("PUT", `${ORG}/settings`, { as: "officer", body: { pod_image: "org/image:2" } });
    assert.equal(set.status, 200, set.text);
    await create(world);
    assert.equal(imageSent(), "org/image:2");
    await create(world, { image_name: "body/image:3" });
    assert.equal(imageSent(), "body/image:3");
  });
});

Deno.test("a create sends gpu.minCudaVersion when the org's image states one (decision 23)", async () => {
  await inWorld({}, async (world) => {
    await world.call("PUT", `${ORG}/settings`, { as: "officer", body: { min_cuda_version: "12.6" } });
    await create(world, { use_cpu_only: false });
    const sent = requests(world, "POST", "/pods")[0]!.body as { gpu: unknown };
    assert.deepEqual(sent.gpu, { id: "NVIDIA RTX A4000", count: 1, minCudaVersion: "12.6" });
    await create(world);
    assert.ok(!JSON.stringify(requests(world, "POST", "/pods")[1]!.body).includes("Cuda"));
  });
});
