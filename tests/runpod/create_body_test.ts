import assert from "node:assert/strict";
import { createBody, type CreateInput } from "../../server/runpod/client.ts";

const COMMON = { name: "workshop-k3", image: "img:1", cloud: "COMMUNITY", diskGb: 20, env: { A: "b" } } as const;
const GPU: CreateInput = { ...COMMON, hardware: { kind: "gpu", gpuTypeId: "NVIDIA RTX A4000" } };

const SENT = { name: "workshop-k3", image: "img:1", cloud: "COMMUNITY", disk: 20, ports: ["22/tcp"], env: { A: "b" } };

Deno.test("createBody sends exactly the contract's fields when a GPU pod has no volume", () => {
  const body = { ...SENT, gpu: { id: "NVIDIA RTX A4000", count: 1 } };
  assert.deepEqual(createBody(GPU), body);
  assert.deepEqual(createBody({ ...GPU, volume: null }), body);
  assert.deepEqual(createBody({ ...GPU, volume: { sizeGb: 0, path: "/workspace" } }), body);
});

Deno.test("createBody sends a persistent mount when a GPU pod has a volume", () => {
  assert.deepEqual(createBody({ ...GPU, volume: { sizeGb: 10, path: "/workspace" } }), {
    ...SENT,
    gpu: { id: "NVIDIA RTX A4000", count: 1 },
    mounts: { persistent: { size: 10, path: "/workspace" } },
  });
});

Deno.test("createBody sends the lowest CUDA version when the image states one", () => {
  const hardware = { kind: "gpu", gpuTypeId: "NVIDIA L4", minCudaVersion: "12.4" } as const;
  assert.deepEqual(createBody({ ...COMMON, hardware }).gpu, { id: "NVIDIA L4", count: 1, minCudaVersion: "12.4" });
  assert.deepEqual(createBody({ ...COMMON, hardware: { ...hardware, minCudaVersion: null } }).gpu, {
    id: "NVIDIA L4",
    count: 1,
  });
});

Deno.test("createBody sends no mount when a CPU pod is given a volume", () => {
  const hardware = { kind: "cpu", flavor: "cpu3c", vcpuCount: 4 } as const;
  assert.deepEqual(createBody({ ...COMMON, hardware, volume: { sizeGb: 50, path: "/workspace" } }), {
    ...SENT,
    cpu: { id: "cpu3c", vcpuCount: 4 },
  });
});
