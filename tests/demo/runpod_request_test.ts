/** F1 to F8: keys, error form, strict bodies, sizes, paths, rate limit headers, the record of requests. */
import assert from "node:assert/strict";
import { AGENT, cpuPod, gpuPod, KEY, OTHER_KEY, READ_KEY, withBench } from "./runpod_helper.ts";

Deno.test("stand-in RunPod answers 401 when the key is missing, wrong or malformed (F1)", () =>
  withBench(async ({ api, fake }) => {
    for (const authorization of ["", "Bearer wrong", `Basic ${KEY}`, "Bearer toString", KEY]) {
      const got = await api("GET", "/pods", undefined, { authorization });
      assert.equal(got.status, 401, authorization);
      assert.equal(got.json.detail, "missing bearer token");
      assert.equal(got.headers.get("ratelimit"), null);
    }
    fake.faults.on({ fault: "F1", times: 1 });
    assert.equal((await api("GET", "/pods")).status, 401);
    assert.equal((await api("GET", "/pods")).status, 200);
  }));

Deno.test("stand-in RunPod answers 403 when the key lacks the right (F1)", () =>
  withBench(async ({ api, fake }) => {
    const authorization = `Bearer ${READ_KEY}`;
    assert.equal((await api("GET", "/pods", undefined, { authorization })).status, 200);
    const refused = await api("POST", "/pods", gpuPod(), { authorization });
    assert.equal(refused.status, 403);
    assert.deepEqual(refused.json, { title: "Forbidden", status: 403, detail: "access denied" });
    fake.faults.on({ fault: "F1", variant: "403", times: 1 });
    assert.equal((await api("GET", "/pods")).status, 403);
  }));

Deno.test("stand-in RunPod hides another account's pod when its id is asked for (F1)", () =>
  withBench(async ({ api, running }) => {
    const id = await running();
    const authorization = `Bearer ${OTHER_KEY}`;
    assert.equal((await api("GET", `/pods/${id}`, undefined, { authorization })).status, 404);
    assert.deepEqual((await api("GET", "/pods", undefined, { authorization })).json.pods, []);
  }));

Deno.test("stand-in RunPod sends problem+json for errors and JSON for success when asked (F2)", () =>
  withBench(async ({ api }) => {
    const good = await api("GET", "/pods");
    assert.equal(good.headers.get("content-type"), "application/json");
    const bad = await api("GET", "/pods/none");
    assert.equal(bad.headers.get("content-type"), "application/problem+json");
    assert.deepEqual(bad.json, { title: "Not Found", status: 404, detail: "pod not found" });
  }));

const { name: _name, ...noName } = gpuPod();
const { image: _image, ...noImage } = gpuPod();
const INVALID: [string, unknown, string][] = [
  ["unknown property", gpuPod({ bogus: 1 }), "$: additional properties 'bogus' not allowed"],
  ["two unknown properties", gpuPod({ a: 1, b: 2 }), "$: additional properties 'a', 'b' not allowed"],
  ["a v1 property", gpuPod({ imageName: "x" }), "$: additional properties 'imageName' not allowed"],
  ["unknown gpu property", gpuPod({ gpu: { id: "x", n: 1 } }), "$.gpu: additional properties 'n' not allowed"],
  ["no name", noName, "$: missing property 'name'"],
  ["empty name", gpuPod({ name: "" }), "$.name: minLength: got 0, want 1"],
  ["no image and no template", noImage, "$: missing property 'image'"],
  ["disk as text", gpuPod({ disk: "20" }), "$.disk: got string, want integer"],
  ["disk as fraction", gpuPod({ disk: 1.5 }), "$.disk: got number, want integer"],
  ["disk 0", gpuPod({ disk: 0 }), "$.disk: minimum: got 0, want 1"],
  [
    "small volume",
    gpuPod({ mounts: { persistent: { size: 9, path: "/workspace" } } }),
    "$.mounts.persistent.size: minimum: got 9, want 10",
  ],
  [
    "volume without path",
    gpuPod({ mounts: { persistent: { size: 10 } } }),
    "$.mounts.persistent: missing property 'path'",
  ],
  [
    "two network mounts",
    gpuPod({ mounts: { network: [{ volumeId: "a", path: "/a" }, { volumeId: "b", path: "/b" }] } }),
    "$.mounts.network: maxItems: got 2, want 1",
  ],
  ["count 0", gpuPod({ gpu: { id: "NVIDIA RTX A4000", count: 0 } }), "$.gpu.count: minimum: got 0, want 1"],
  ["vcpuCount 1", cpuPod({ cpu: { id: "cpu3c", vcpuCount: 1 } }), "$.cpu.vcpuCount: minimum: got 1, want 2"],
  [
    "CUDA version without minor",
    gpuPod({ gpu: { id: "NVIDIA RTX A4000", count: 1, minCudaVersion: "12" } }),
    "$.gpu.minCudaVersion: '12' does not match pattern '^\\d+\\.\\d+$'",
  ],
  ["cloud ALL", gpuPod({ cloud: "ALL" }), "$.cloud: value must be one of 'SECURE', 'COMMUNITY'"],
  ["env value as number", gpuPod({ env: { A: 1 } }), "$.env.A: got number, want string"],
  ["ports as text", gpuPod({ ports: "22/tcp" }), "$.ports: got string, want array"],
  [
    "a udp port",
    gpuPod({ ports: ["53/udp"] }),
    "$.ports[0]: '53/udp' does not match pattern '^[1-9]\\d{0,4}/(tcp|http)$'",
  ],
  ["locked at create", gpuPod({ locked: true }), "$: additional properties 'locked' not allowed"],
  ["an array", [], "$: got array, want object"],
];

Deno.test("stand-in RunPod answers 422 with one line each when a create body breaks the schema (F3)", () =>
  withBench(async ({ api, fake }) => {
    for (const [what, body, line] of INVALID) {
      const got = await api("POST", "/pods", body);
      assert.equal(got.status, 422, what);
      assert.equal(got.json.title, "Unprocessable Entity");
      assert.equal(got.json.detail, "Request validation failed.");
      assert.deepEqual(got.json.errors, [line], what);
    }
    assert.deepEqual(fake.pods.list(), []);
  }));

Deno.test("stand-in RunPod answers 422 when an action word is unknown (F3)", () =>
  withBench(async ({ api, running }) => {
    const id = await running();
    const got = await api("POST", `/pods/${id}/action`, { action: "reset" });
    assert.equal(got.status, 422);
    assert.equal((await api("POST", `/pods/${id}/action`, { action: "stop", force: true })).status, 422);
  }));

const volume = { persistent: { size: 10, path: "/workspace" } };
const network = { network: [{ volumeId: "vol1shared0000", path: "/workspace" }] };
const BROKEN: [string, unknown, number][] = [
  ["gpu and cpu", gpuPod({ cpu: { id: "cpu3c", vcpuCount: 2 } }), 400],
  ["neither gpu nor cpu", { name: "x", image: "y", disk: 5 }, 400],
  ["both mount kinds", gpuPod({ mounts: { ...volume, ...network } }), 400],
  ["a volume disk on a CPU pod", cpuPod({ mounts: volume }), 400],
  ["vcpuCount 6", cpuPod({ cpu: { id: "cpu3c", vcpuCount: 6 } }), 400],
  ["vcpuCount out of range", cpuPod({ cpu: { id: "cpu5g", vcpuCount: 32 } }), 400],
  [
    "both CUDA forms",
    gpuPod({ gpu: { id: "NVIDIA RTX A4000", count: 1, minCudaVersion: "12.4", allowedCudaVersions: ["12.4"] } }),
    400,
  ],
  ["args against cmd", gpuPod({ args: "sleep 1", cmd: ["sleep", "2"] }), 400],
  ["a network volume on COMMUNITY", gpuPod({ mounts: network, cloud: "COMMUNITY" }), 400],
  ["an unknown template", gpuPod({ templateId: "nothing" }), 404],
  ["a serverless template", gpuPod({ templateId: "tplserverless1" }), 422],
  ["an unknown registry", gpuPod({ registry: "nothing" }), 404],
  ["an unknown network volume", gpuPod({ mounts: { network: [{ volumeId: "no", path: "/w" }] } }), 404],
];

Deno.test("stand-in RunPod answers 400 or 404 when fields break a rule between them (F4)", () =>
  withBench(async ({ api, fake }) => {
    for (const [what, body, status] of BROKEN) {
      const got = await api("POST", "/pods", body);
      assert.equal(got.status, status, what);
      assert.notEqual(got.json.detail, "", what);
    }
    assert.deepEqual(fake.pods.list(), []);
  }));

Deno.test("stand-in RunPod accepts an empty CUDA list beside the minimum when both are sent (F4)", () =>
  withBench(async ({ api }) => {
    const gpu = { id: "NVIDIA RTX A4000", count: 1, minCudaVersion: "12.5", allowedCudaVersions: [] };
    const got = await api("POST", "/pods", gpuPod({ gpu }));
    assert.equal(got.status, 201);
    assert.equal(got.json.cudaVersion, "12.8");
  }));

Deno.test("stand-in RunPod merges a template under the body when templateId is sent (F4)", () =>
  withBench(async ({ api }) => {
    const body = {
      name: "t",
      templateId: "tplpod00000001",
      gpu: { id: "NVIDIA RTX A4000", count: 1 },
      env: { A: "1" },
    };
    const got = await api("POST", "/pods", body);
    assert.equal(got.status, 201, got.text);
    assert.deepEqual(got.json.env, { FROM_TEMPLATE: "yes", A: "1" });
    assert.equal(got.json.template, null);
  }));

Deno.test("stand-in RunPod answers 413 before it checks the key when a body is over 102400 bytes (F5)", () =>
  withBench(async ({ api }) => {
    const body = (size: number) =>
      JSON.stringify(gpuPod({ name: "" })).replace('"name":""', `"name":"${"x".repeat(size)}"`);
    const length = body(0).length;
    const noKey = { authorization: "" };
    assert.equal((await api("POST", "/pods", body(102_401 - length), noKey)).status, 413);
    assert.equal((await api("POST", "/pods", body(102_400 - length), noKey)).status, 401);
    assert.equal((await api("POST", "/pods", body(102_400 - length))).status, 201);
  }));

Deno.test("stand-in RunPod answers 404 on old paths, 405 on wrong methods and ignores odd queries (F6)", () =>
  withBench(async ({ api, fake, running }) => {
    const id = await running();
    for (const verb of ["start", "stop", "restart", "reset", "update"]) {
      assert.equal((await api("POST", `/pods/${id}/${verb}`)).status, 404, verb);
    }
    for (
      const path of ["/networkvolumes", "/containerregistryauth", "/endpoints", "/pods/", "/pods/%zz", "/toString"]
    ) {
      assert.equal((await api("GET", path)).status, 404, path);
    }
    const v1 = new Request("http://127.0.0.1/v1/pods", {
      headers: { authorization: `Bearer ${KEY}`, "user-agent": AGENT },
    });
    assert.equal((await fake.fetch(v1)).status, 404);
    const wrong = await api("PUT", "/pods", {});
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get("allow"), "GET, POST");
    assert.equal((await api("GET", `/pods/${id}/action`)).headers.get("allow"), "POST");
    assert.equal((await api("GET", "/pods?colour=red&name=x")).json.pods.length, 1);
    assert.equal((await api("POST", "/pods", "{not json")).status, 400);
  }));

Deno.test("stand-in RunPod sends the rate limit headers in their exact form when authenticated (F7)", () =>
  withBench(async ({ api, clock, fake }) => {
    await api("GET", "/pods");
    clock.advance(12_500);
    const got = await api("GET", "/pods/none");
    assert.equal(
      got.headers.get("ratelimit-policy"),
      '"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400',
    );
    assert.equal(got.headers.get("ratelimit"), '"minute";r=58;t=48, "hour";r=2998;t=3588, "day";r=49998;t=86388');
    fake.faults.on({ fault: "F7", times: 1 });
    assert.equal((await api("GET", "/pods")).headers.get("ratelimit"), null);
    fake.faults.on({ fault: "F7", variant: "one-window", times: 1 });
    assert.equal((await api("GET", "/pods")).headers.get("ratelimit"), '"minute";r=56;t=48');
  }, { quotas: { minute: 60, hour: 3_000, day: 50_000 } }));

Deno.test("stand-in RunPod answers 429 when the quota of a window is used up, until it resets (F7)", () =>
  withBench(async ({ api, clock }) => {
    for (let count = 0; count < 3; count++) assert.equal((await api("GET", "/pods")).status, 200);
    const got = await api("GET", "/pods");
    assert.equal(got.status, 429);
    assert.equal(got.headers.get("retry-after"), "60");
    assert.match(got.headers.get("ratelimit") ?? "", /^"minute";r=0;t=60, /);
    clock.advance(60_000);
    assert.equal((await api("GET", "/pods")).status, 200);
  }, { quotas: { minute: 3 } }));

Deno.test("stand-in RunPod records method, path, headers and body when a request comes (F8)", () =>
  withBench(async ({ api, fake }) => {
    await api("POST", "/pods?x=1", gpuPod());
    await api("GET", "/pods");
    const [create, list] = fake.requests;
    assert.equal(fake.requests.length, 2);
    assert.equal(create?.method, "POST");
    assert.equal(create.path, "/v2/pods");
    assert.deepEqual(create.query, { x: "1" });
    assert.equal(create.headers["user-agent"], AGENT);
    assert.deepEqual(create.body, gpuPod());
    assert.equal(create.status, 201);
    assert.equal(list?.body, null);
  }));
