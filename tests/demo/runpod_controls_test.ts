/** `/_demo/…`: who may use the controls, and what each of them does. */
import assert from "node:assert/strict";
import { gpuPod, KEY, type Loose, SECRET, withBench } from "./runpod_helper.ts";

Deno.test("controls refuse a wrong secret, a foreign Host and forwarded headers", () =>
  withBench(async ({ demo, fake }) => {
    const { origin } = await fake.listen();
    const host = new URL(origin).host;
    const status = async (headers: Record<string, string>) => {
      const request = new Request(`${origin}/_demo/pods`, { headers: { "x-demo-secret": SECRET, ...headers } });
      return (await fake.fetch(request)).status;
    };
    assert.equal(await status({ host }), 200);
    assert.equal(await status({ host: `localhost:${new URL(origin).port}` }), 200);
    assert.equal(await status({ "x-demo-secret": "" }), 401);
    assert.equal(await status({ "x-demo-secret": `${SECRET}x` }), 401);
    for (const wrong of ["evil.example", "127.0.0.1:1", `evil.example:${new URL(origin).port}`, "127.0.0.1", ""]) {
      assert.equal(await status({ host: wrong }), 403, wrong);
    }
    for (const name of ["x-forwarded-for", "x-forwarded-host", "X-Forwarded-Proto", "forwarded"]) {
      assert.equal(await status({ host, [name]: "x" }), 403, name);
    }
    const response = await fetch(`${origin}/_demo/nothing`, { headers: { "x-demo-secret": SECRET } });
    assert.deepEqual([response.status, (await response.json()).code], [404, "route_not_found"]);
    assert.equal((await demo("PUT", "pods", {}, { host })).status, 405);
  }));

Deno.test("faults are listed, counted down, switched off and cleared", () =>
  withBench(async ({ api, demo }) => {
    const { faults } = (await demo("GET", "faults")).json;
    assert.deepEqual(faults.map((one: Loose) => one.id), Array.from({ length: 37 }, (_, index) => `F${index + 1}`));
    const on = (body: unknown) => demo("POST", "faults", body);
    const fault = { fault: "F31", times: 2, on: "GET /pods" };
    assert.equal((await on(fault)).json.on[0].left, 2);
    assert.equal((await api("GET", "/pods/x")).status, 404);
    assert.equal((await api("GET", "/pods")).status, 429);
    assert.equal((await demo("GET", "faults")).json.on[0].left, 1);
    assert.equal((await api("GET", "/pods")).status, 429);
    assert.equal((await api("GET", "/pods")).status, 200);
    await on({ fault: "F31", times: 0 });
    for (let count = 0; count < 3; count++) assert.equal((await api("GET", "/pods")).status, 429);
    await on({ fault: "F7" });
    assert.deepEqual((await on({ fault: "F31", off: true })).json.on.map((one: Loose) => one.fault), ["F7"]);
    assert.equal((await api("GET", "/pods")).status, 200);
    await on({ fault: "F31", on: "* /v2/pods/{id}" });
    assert.equal((await api("DELETE", "/pods/x")).status, 429);
    assert.equal((await demo("DELETE", "faults")).status, 204);
    assert.equal((await api("DELETE", "/pods/x")).status, 404);
  }));

Deno.test("faults refuse unknown names, variants, patterns and fields with the known ones", () =>
  withBench(async ({ demo }) => {
    const refused = async (body: unknown) => {
      const got = await demo("POST", "faults", body);
      assert.deepEqual([got.status, got.json.code], [400, "invalid_request"], JSON.stringify(body));
      return got.json.error as string;
    };
    assert.match(await refused({ fault: "F99" }), /F99.*F1, F7, F9, F10/);
    assert.match(await refused({ fault: "F2" }), /always holds/);
    assert.match(await refused({ fault: "F13", variant: "melt" }), /cut, hang, 500, 502, cut-body: melt/);
    assert.match(await refused({ fault: "F31", on: "pods" }), /Field on/);
    assert.match(await refused({ fault: "F31", minutes: 3 }), /minutes/);
    assert.match(await refused({ fault: "F31", times: -1 }), /Field times/);
    assert.match(await refused({}), /Field fault/);
    assert.match(await refused("{"), /JSON/);
  }));

Deno.test("every switchable variant can be switched on", () =>
  withBench(async ({ demo }) => {
    const { faults } = (await demo("GET", "faults")).json;
    for (const { id, variants } of faults) {
      for (const variant of variants) assert.equal((await demo("POST", "faults", { fault: id, variant })).status, 200);
    }
  }));

Deno.test("pods can be moved, stopped, deleted, locked and renamed in status outside", () =>
  withBench(async (bench) => {
    const { api, clock, demo } = bench;
    const id = await bench.running();
    const outside = async (action: string, more = {}) => await demo("POST", "pods", { action, id, ...more });
    const read = async () => (await api("GET", `/pods/${id}`)).json;
    const { port } = (await read()).ssh.direct;
    await outside("move_port");
    assert.notEqual((await read()).ssh.direct.port, port);
    await outside("set_status", { status: "MIGRATING" });
    assert.equal((await read()).status, "MIGRATING");
    await outside("set_status", { status: null });
    await outside("lock");
    assert.equal((await read()).locked, true);
    await outside("stop_outside");
    assert.equal((await read()).status, "EXITED");
    assert.equal((await outside("restart_outside")).status, 409);
    await outside("start_outside");
    clock.advance(1_000);
    const { startedAt } = await read();
    await outside("restart_outside");
    clock.advance(1_000);
    assert.notEqual((await read()).startedAt, startedAt);
    const [inside] = (await demo("GET", "pods")).json.pods;
    assert.deepEqual([inside.container_starts, inside.status, inside.env_names], [3, "RUNNING", ["GODFATHER_CA"]]);
    const moved = (await outside("migrate")).json.pod;
    assert.equal((await demo("POST", "pods", { action: "delete_outside", id: moved.id })).status, 200);
    assert.equal((await outside("delete_outside")).status, 404);
    assert.equal((await demo("POST", "pods", { action: "add_foreign", name: "x" })).status, 201);
    assert.equal((await demo("POST", "pods", { action: "explode", id })).status, 400);
    assert.equal((await demo("POST", "pods", { action: "lock", id, force: 1 })).status, 400);
  }));

Deno.test("the use of a pod can be set, nonsense and no figure included, and is shown while it runs", () =>
  withBench(async (bench) => {
    const { api, demo } = bench;
    const id = await bench.running({ gpu: { id: "NVIDIA RTX A4000", count: 2 } });
    const runtime = async () => (await api("GET", `/pods/${id}`)).json.runtime;
    const set = (use: unknown) => demo("POST", "pods", { action: "set_use", id, ...use as Loose });
    const utils = async () => {
      const { gpus, cpu } = await runtime();
      return [gpus.map((gpu: Loose) => gpu.util), cpu.util];
    };
    assert.deepEqual(await utils(), [[3, 3], 2]);
    const inside = (await set({ gpu_util: 97, cpu_util: 250 })).json.pod;
    assert.deepEqual([inside.gpu_util, inside.cpu_util], [97, 250]);
    assert.deepEqual(await utils(), [[97, 97], 250]);
    await set({ gpu_util: null });
    assert.deepEqual(await utils(), [[undefined, undefined], 250]);
    assert.equal((await set({ gpu_util: "busy" })).status, 400);
    await demo("POST", "pods", { action: "stop_outside", id });
    assert.equal(await runtime(), null);
  }));

Deno.test("recorded requests show the key's last four and no env values", () =>
  withBench(async ({ api, demo, fake }) => {
    await api("POST", "/pods", gpuPod({ env: { TOKEN: "s3cret" } }));
    await api("POST", "/pods", '{"env":{"TOKEN":"s3cret"');
    const got = await demo("GET", "requests");
    const [create] = got.json.requests;
    assert.equal(create.headers.authorization, `…${KEY.slice(-4)}`);
    assert.deepEqual(create.body.env, { TOKEN: "…" });
    assert.equal(create.body.disk, 20);
    assert.doesNotMatch(got.text, new RegExp(`s3cret|${KEY}`));
    assert.deepEqual((fake.requests[0]?.body as Loose).env, { TOKEN: "s3cret" });
    assert.equal((await demo("DELETE", "requests")).status, 204);
    assert.deepEqual((await demo("GET", "requests")).json.requests, []);
  }));

Deno.test("the meter tells running seconds and money, and sets the balance", () =>
  withBench(async ({ api, clock, demo }) => {
    const { id } = (await api("POST", "/pods", gpuPod({ disk: 73 }))).json;
    clock.advance(1_800_000);
    const { pods, accounts } = (await demo("GET", "meter")).json;
    assert.deepEqual([pods[0].id, pods[0].running_seconds, pods[0].gpu], [id, 1_800, 0.125]);
    assert.ok(Math.abs(accounts[0].balance - (1_000 - 0.13)) < 1e-9);
    assert.equal((await demo("POST", "meter", { balance: 5 })).json.accounts[0].balance, 5);
    assert.equal((await demo("POST", "meter", { money: 5 })).status, 400);
    assert.equal((await demo("POST", "meter", { balance: -1 })).status, 200);
    assert.equal((await api("GET", `/pods/${id}`)).status, 404);
  }, { timings: { provisioningMs: 0 } }));
