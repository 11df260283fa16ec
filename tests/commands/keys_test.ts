import assert from "node:assert/strict";
import type { RotationView } from "../../server/key_rotation/status.ts";
import { untilTrue } from "../support/server_process.ts";
import { withOrg } from "./bench.ts";

Deno.test("keys rotate, status and list show a rotation from its begin to its end, for people and as JSON", async () => {
  await withOrg(async (bench) => {
    const none = await bench.orgpods(["keys", "list", "--org", "demo"]);
    assert.deepEqual([none.code, none.stdout], [0, ""]);
    assert.match(none.stderr, /There are no keys yet/);
    const early = await bench.orgpods(["keys", "rotate", "backend", "--org", "demo"]);
    assert.equal(early.code, 5);
    assert.match(early.stderr, /^error: The organization has no keys yet/);

    const id = JSON.parse(await bench.must(["pod", "create", "--name", "one", "--cpu", "cpu3c", "--json"])).pod.id;
    const begun = await bench.orgpods(["keys", "rotate", "backend", "--org", "demo"]);
    assert.equal(begun.code, 0, begun.stderr);
    assert.match(begun.stdout, /^Key +backend\nState +open\nOld +SHA256:\S+\nNew +SHA256:\S+\nBegun +\d{4}-/);
    assert.match(begun.stderr, /The server carries it on by itself/);
    const again = await bench.orgpods(["keys", "rotate", "backend"]);
    assert.equal(again.code, 5);
    assert.match(again.stderr, /^error: An earlier rotation of the backend key is not finished: 1 of 1 pods are left/);

    const status = async (): Promise<RotationView> =>
      JSON.parse(await bench.must(["keys", "status", "--json"])).rotations[0];
    await untilTrue("RunPod has shown the pod", async () => (await status()).pods[0]!.left!.includes("environment"));
    const shown = await bench.must(["keys", "status"]);
    assert.match(shown, new RegExp(`${id} +one +\\S+ +Its environment still has another key +Stop it once`));
    await bench.must(["pod", "stop", id]);
    await untilTrue("the rotation is finished", async () => (await status()).state === "done");
    assert.match(await bench.must(["keys", "status"]), /^Finished +\d{4}-.*\nPods left +0 of 1$/m);
    const list = await bench.must(["keys", "list"]);
    assert.deepEqual(list.split("\n").map((line) => line.split(/ +/).slice(0, 3).join(" ")), [
      "KIND STATE USABLE",
      "backend current yes",
      "backend retired no",
      "user_ca current yes",
    ]);
  }, { timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } });
});

Deno.test("keys refuses an unknown kind, an unknown organization and another server", async () => {
  await withOrg(async (bench) => {
    const codes = await Promise.all([
      bench.orgpods(["keys", "rotate", "host"]),
      bench.orgpods(["keys", "status", "--org", "nosuch"]),
      bench.orgpods(["--server", "http://127.0.0.1:9", "--org", "demo", "keys", "rotate", "backend"]),
    ]);
    assert.deepEqual(codes.map((done) => done.code), [2, 3, 4], JSON.stringify(codes));
    assert.match(codes[0]!.stderr, /Allowed choices are backend, user_ca/);
  });
});
