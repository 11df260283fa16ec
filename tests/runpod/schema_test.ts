import assert from "node:assert/strict";
import { parsePod } from "../../server/runpod/schema.ts";
import { rawPod, testClient, withServer } from "./support.ts";

function read(raw: unknown) {
  const parsed = parsePod(raw);
  assert.ok(parsed);
  return parsed;
}

Deno.test("parsePod reads every field when RunPod sends a v2 pod", () => {
  const { pod, odd } = read(
    rawPod({ mounts: { persistent: { size: 30, path: "/workspace" } }, locked: true, args: "bash", unknownField: 1 }),
  );
  assert.deepEqual(odd, []);
  assert.deepEqual(pod, {
    id: "abc123def456",
    name: "workshop-x1",
    status: "RUNNING",
    actions: ["stop", "restart", "terminate"],
    image: "runpod/base:1",
    env: { HF_HOME: "/workspace/hf" },
    cost: 0.25,
    gpu: { id: "NVIDIA RTX A4000", count: 1 },
    cpu: null,
    cloud: "SECURE",
    dataCenterId: "EU-RO-1",
    disk: 20,
    volumeGb: 30,
    networkVolume: false,
    networkMount: null,
    machine: { gpuTypeId: "NVIDIA RTX A4000", dataCenterId: "EU-RO-1" },
    address: { host: "203.0.113.7", port: 17740 },
    createdAt: Date.parse("2026-09-01T10:00:00Z"),
    startedAt: Date.parse("2026-09-01T10:01:00.5Z"),
    uptimeSeconds: 90,
    gpuPercent: null,
    cpuPercent: null,
    locked: true,
    args: "bash",
  });
});

Deno.test("parsePod reads a fresh CPU pod when most is null or missing", () => {
  const { pod, odd } = read({
    id: "p",
    status: "PROVISIONING",
    cpu: { id: "cpu3c", vcpuCount: 4, memory: 8 },
    gpu: null,
    runtime: {},
    ssh: { proxy: null, direct: null },
    startedAt: null,
    mounts: { network: [{ volumeId: "v", path: "/workspace" }] },
  });
  assert.deepEqual(odd, []);
  assert.deepEqual(pod.cpu, { id: "cpu3c", vcpuCount: 4 });
  assert.equal(pod.gpu, null);
  assert.equal(pod.networkVolume, true);
  assert.deepEqual(pod.networkMount, { volumeId: "v", path: "/workspace" });
  assert.deepEqual(pod.machine, { cpuTypeId: "cpu3c" });
  assert.deepEqual([pod.name, pod.env, pod.cost, pod.createdAt, pod.startedAt, pod.uptimeSeconds], [
    "",
    null,
    null,
    null,
    null,
    null,
  ]);
});

Deno.test("parsePod reads the names of v1 when an old answer has them", () => {
  const { pod, odd } = read({
    id: "p",
    desiredStatus: "RUNNING",
    imageName: "img",
    costPerHr: "0.74",
    containerDiskInGb: 50,
    volumeInGb: 20,
    networkVolumeId: "nv",
    gpuCount: 1,
    vcpuCount: 8,
    machine: { gpuTypeId: "NVIDIA L4", dataCenterId: "US-1", location: "US" },
    lastStartedAt: "2026-07-12T19:14:40.144Z",
    runtime: { uptimeInSeconds: 5 },
  });
  assert.deepEqual(odd, []);
  assert.equal(pod.status, "RUNNING");
  assert.equal(pod.image, "img");
  assert.equal(pod.cost, 0.74);
  assert.deepEqual([pod.disk, pod.volumeGb, pod.networkVolume], [50, 20, true]);
  assert.deepEqual(pod.gpu, { id: "NVIDIA L4", count: 1 });
  assert.equal(pod.cpu, null);
  assert.deepEqual(pod.machine, { gpuTypeId: "NVIDIA L4", dataCenterId: "US-1", location: "US" });
  assert.equal(pod.startedAt, Date.parse("2026-07-12T19:14:40.144Z"));
  assert.equal(pod.uptimeSeconds, 5);
});

Deno.test("parsePod passes a status on when the word is new, and says UNKNOWN when there is none", () => {
  assert.equal(read({ id: "p", status: "HIBERNATED", desiredStatus: "RUNNING" }).pod.status, "HIBERNATED");
  assert.equal(read({ id: "p" }).pod.status, "UNKNOWN");
  assert.equal(read({ id: "p", status: 5 }).pod.status, "UNKNOWN");
});

Deno.test("parsePod keeps the zero when a start got no GPU", () => {
  assert.deepEqual(read(rawPod({ gpu: { id: "NVIDIA L4", count: 0 } })).pod.gpu, { id: "NVIDIA L4", count: 0 });
});

Deno.test("parsePod gives no uptime when the pod does not run", () => {
  assert.equal(read(rawPod({ status: "EXITED" })).pod.uptimeSeconds, null);
});

Deno.test("parsePod keeps the rest and names the field when one is odd", () => {
  const cases: readonly [Record<string, unknown>, string, string][] = [
    [{ env: { A: 5 } }, "env", "env"],
    [{ env: ["A=b"] }, "env", "env"],
    [{ cost: "much" }, "cost", "cost"],
    [{ cost: -1 }, "cost", "cost"],
    [{ createdAt: "yesterday" }, "createdAt", "createdAt"],
    [{ createdAt: "2026-99-99T00:00:00Z" }, "createdAt", "createdAt"],
    [{ gpu: "A4000" }, "gpu", "gpu"],
    [{ disk: 1.5 }, "disk", "disk"],
    [{ dataCenterId: {} }, "dataCenterId", "dataCenterId"],
  ];
  for (const [more, field, key] of cases) {
    const { pod, odd } = read(rawPod(more));
    assert.deepEqual(odd, [field]);
    assert.equal(pod[key as keyof typeof pod], null, field);
    assert.equal(pod.id, "abc123def456");
    assert.equal(pod.status, "RUNNING");
  }
});

Deno.test("parsePod still gives id and status when everything else is odd", () => {
  const raw = Object.fromEntries(Object.keys(rawPod()).map((key) => [key, 3.5]));
  const { pod } = read({ ...raw, id: "p", status: "RUNNING" });
  assert.deepEqual([pod.id, pod.status, pod.address], ["p", "RUNNING", null]);
});

Deno.test("parsePod gives null when there is no id", () => {
  for (const raw of [undefined, null, 5, "pod", [], {}, { id: "" }, { id: 5 }, { id: "x".repeat(101) }]) {
    assert.equal(parsePod(raw), null);
  }
});

Deno.test("client logs field names once and no value when a pod is odd", async () => {
  const answer = () => Response.json({ pods: [rawPod({ env: { TOKEN: 5, OTHER: "hush-hush" }, cost: "hush-too" })] });
  await withServer([answer, answer], async (server) => {
    const { client, lines } = testClient(server.url);
    await client.list();
    const [pod] = await client.list();
    assert.equal(pod?.env, null);
    assert.deepEqual(lines.map((line) => line.fields), [{ pod: "abc123def456", fields: ["env", "cost"] }]);
    assert.doesNotMatch(JSON.stringify(lines), /hush|TOKEN/);
  });
});

/** `runtime` of a running pod with two GPUs, and what is read of its use. */
const USES: readonly (readonly [unknown, number | null, number | null])[] = [
  [{ gpus: [{ util: 3 }, { util: 88.5 }], cpu: { util: 12 } }, 88.5, 12],
  [{ gpus: [{ util: 0 }], cpu: { util: 0 } }, 0, 0],
  [{ gpus: [{ util: 100 }, { util: 101 }], cpu: { util: 100 } }, null, 100],
  [{ gpus: [{ util: 3 }, { memoryUtil: 1 }], cpu: {} }, null, null],
  [{ gpus: [], cpu: null }, null, null],
  [{ gpus: "busy", cpu: { util: "9" } }, null, null],
  [{ cpu: { util: -1 } }, null, null],
  [{ gpus: [{ util: null }], cpu: { util: 1e9 } }, null, null],
  [null, null, null],
];

Deno.test("parsePod reads the use of the busiest GPU and of the CPUs, and nothing where RunPod says nonsense", () => {
  for (const [runtime, gpuPercent, cpuPercent] of USES) {
    const { pod } = read(rawPod({ runtime }));
    assert.deepEqual([pod.gpuPercent, pod.cpuPercent], [gpuPercent, cpuPercent], JSON.stringify(runtime));
    const stopped = read(rawPod({ runtime, status: "EXITED" })).pod;
    assert.deepEqual([stopped.gpuPercent, stopped.cpuPercent], [null, null]);
  }
});
