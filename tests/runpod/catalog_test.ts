import assert from "node:assert/strict";
import { failure, testClient, withServer } from "./support.ts";

Deno.test("client.gpus gives stock and the prices of the clouds that sell a type", async () => {
  const gpus = [
    {
      id: "NVIDIA RTX A4000",
      name: "RTX A4000",
      pool: null,
      manufacturer: "NVIDIA",
      memory: 16,
      secure: true,
      community: false,
      price: { secure: 0.25, community: 0.17, serverless: 0.5 },
      maxCount: { secure: 8, community: 0 },
      availability: "HIGH",
      dataCenters: [{ id: "EU-RO-1", name: "Romania", availability: "LOW" }, "odd"],
      cudaVersions: [{ version: "12.8", available: true }, { version: 12 }],
    },
    { id: "unknown", name: "unknown" },
    { name: "no id" },
    { id: "AMD Instinct MI300X OAM", memory: "much", price: 3 },
  ];
  await withServer([() => Response.json({ gpus })], async (server) => {
    const found = await testClient(server.url).client.gpus();
    assert.equal(server.seen[0]?.path, "/v2/catalog/gpus?include=AVAILABILITY&product=POD");
    assert.deepEqual(found[0], {
      id: "NVIDIA RTX A4000",
      name: "RTX A4000",
      manufacturer: "NVIDIA",
      memoryGb: 16,
      secure: true,
      community: false,
      price: { secure: 0.25, community: null },
      maxCount: { secure: 8, community: 0 },
      availability: "HIGH",
      dataCenters: [{ id: "EU-RO-1", name: "Romania", availability: "LOW" }],
      cudaVersions: [{ version: "12.8", available: true }],
    });
    assert.deepEqual(found.slice(1).map((gpu) => [gpu.id, gpu.name, gpu.memoryGb, gpu.price]), [
      ["AMD Instinct MI300X OAM", "AMD Instinct MI300X OAM", null, { secure: null, community: null }],
    ]);
  });
});

Deno.test("client.gpus asks for one cloud when told to", async () => {
  await withServer([() => Response.json({ gpus: [] })], async (server) => {
    await testClient(server.url).client.gpus({ cloud: "COMMUNITY" });
    assert.equal(server.seen[0]?.path, "/v2/catalog/gpus?include=AVAILABILITY&product=POD&cloud=COMMUNITY");
  });
});

Deno.test("client.cpus gives price and range per flavor", async () => {
  const cpus = [{
    id: "cpu3c",
    name: "CPU3 compute",
    group: "compute",
    vcpu: { min: 2, max: 32 },
    ramGbPerVcpu: 2.5,
    price: { securePerVcpu: 0.03, serverlessPerVcpu: 0.1 },
    availability: "MEDIUM",
  }];
  await withServer([() => Response.json({ cpus })], async (server) => {
    assert.deepEqual(await testClient(server.url).client.cpus(), [{
      id: "cpu3c",
      name: "CPU3 compute",
      group: "compute",
      vcpu: { min: 2, max: 32 },
      ramGbPerVcpu: 2.5,
      pricePerVcpu: 0.03,
      availability: "MEDIUM",
      dataCenters: [],
    }]);
    assert.equal(server.seen[0]?.path, "/v2/catalog/cpus?include=AVAILABILITY&product=POD");
  });
});

Deno.test("client.gpus and client.cpus fail when the answer is no catalog", async () => {
  await withServer([() => Response.json({}), () => Response.json({ gpus: [] })], async (server) => {
    const { client } = testClient(server.url);
    assert.equal((await failure(client.gpus())).kind, "upstream");
    assert.equal((await failure(client.cpus())).kind, "upstream");
  });
});

Deno.test("client.openapi gives the description as it is", async () => {
  await withServer([() => Response.json({ openapi: "3.1.0" })], async (server) => {
    assert.deepEqual(await testClient(server.url).client.openapi(), { openapi: "3.1.0" });
    assert.equal(server.seen[0]?.path, "/v2/openapi.json");
  });
});
