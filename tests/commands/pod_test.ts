import assert from "node:assert/strict";
import { createBodyOf } from "../../admin/commands/pod_create.ts";
import { MEMBER, OFFICER } from "../../server/demo/people.ts";
import { untilTrue } from "../support/server_process.ts";
import { withOrg } from "./bench.ts";

const NOBODY = "300000000000000001";

Deno.test("pod create sends every flag, prints the id alone, and warns on stderr", async () => {
  await withOrg(async (bench) => {
    const args = ["--name", "lab-1", "--image", "ghcr.io/demo/pod:1", "--gpu", "NVIDIA RTX A4000", "--cloud", "secure"];
    const sizes = ["--volume", "20", "--disk", "30", "--mount", "/data", "--public", "--allow", MEMBER.id];
    const env = ["--env", "MODE=fast=1", "--env", "WANDB_API_KEY"];
    const done = await bench.orgpods(["pod", "create", ...args, ...sizes, ...env], { env: { WANDB_API_KEY: "hush" } });
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^[a-z0-9]+\n$/);
    assert.match(done.stderr, /^warning: .*anyone who joins/m);
    assert(!done.stderr.includes("hush"));
    const sent = bench.standins.runpod.requests.find((request) =>
      request.method === "POST" && request.path === "/v2/pods"
    )!;
    const body = JSON.parse(JSON.stringify(sent.body));
    assert.equal(body.image, "ghcr.io/demo/pod:1");
    assert.equal(body.cloud, "SECURE");
    assert.equal(body.disk, 30);
    assert.deepEqual([body.env.MODE, body.env.WANDB_API_KEY], ["fast=1", "hush"]);
    const list = JSON.parse(await bench.must(["pod", "list", "--json"])).pods;
    assert.deepEqual(list.map((pod: { allowed_users: string[] }) => pod.allowed_users), [[MEMBER.id]]);
  });
});

Deno.test("pod create with the same idempotency key gives the same pod", async () => {
  await withOrg(async (bench) => {
    const create = ["pod", "create", "--name", "lab-1", "--cpu", "--idempotency-key", "monday"];
    assert.equal(await bench.must(create), await bench.must(create));
    assert.equal((await bench.orgpods([...create, "--disk", "40"])).code, 5);
  });
});

Deno.test("createBodyOf leaves what was not given to the server", () => {
  const none = () => undefined;
  assert.throws(() => createBodyOf({}, none), { code: "usage", message: /^Name the hardware, which costs money/ });
  assert.deepEqual(createBodyOf({ gpu: "NVIDIA L4" }, none), { gpu_type_id: "NVIDIA L4" });
  assert.deepEqual(createBodyOf({ cpu: true }, none), { use_cpu_only: true });
  assert.deepEqual(createBodyOf({ cpu: "cpu5c", vcpus: 4 }, none), {
    use_cpu_only: true,
    cpu_flavor: "cpu5c",
    vcpu_count: 4,
  });
  assert.deepEqual(createBodyOf({ cpu: true, env: ["A=", "B"] }, (name) => `own ${name}`).env, { A: "", B: "own B" });
  assert.throws(() => createBodyOf({ gpu: "NVIDIA L4", vcpus: 4 }, none), {
    code: "usage",
    message: /--vcpus is for CPU/,
  });
  for (const flags of [{ env: ["A"] }, { env: ["=x"] }, { env: ["A=1", "A=2"] }]) {
    assert.throws(() => createBodyOf({ cpu: true, ...flags }, none), { code: "usage" });
  }
});

Deno.test("pod access shows, adds, removes and replaces", async () => {
  await withOrg(async (bench) => {
    const id = await bench.must(["pod", "create", "--gpu", "NVIDIA RTX A4000", "--name", "lab-1"]);
    const access = async (...flags: string[]) => {
      const { pod } = JSON.parse(await bench.must(["pod", "access", id, "--json", ...flags]));
      return [pod.is_public, pod.allowed_users];
    };
    assert.deepEqual(await access(), [false, []]);
    assert.deepEqual(await access("--public", "--allow", MEMBER.id, "--allow", OFFICER.id), [true, [
      OFFICER.id,
      MEMBER.id,
    ]]);
    assert.deepEqual(await access("--private", "--remove", OFFICER.id), [false, [MEMBER.id]]);
    assert.deepEqual(await access("--set", `${NOBODY}, ${OFFICER.id}`), [false, [OFFICER.id, NOBODY]]);
    assert.deepEqual(await access("--set", ""), [false, []]);
    assert.match(await bench.must(["pod", "access", id]), /^Allowed +nobody but officers$/m);
    for (const flags of [["--set", "", "--allow", MEMBER.id], ["--remove", NOBODY], ["--allow", "me"]]) {
      assert.equal((await bench.orgpods(["pod", "access", id, ...flags])).code, 2, flags.join(" "));
    }
  });
});

Deno.test("pod access works on the last known state while RunPod is down", async () => {
  await withOrg(async (bench) => {
    const id = await bench.must([
      "pod",
      "create",
      "--gpu",
      "NVIDIA RTX A4000",
      "--name",
      "lab-1",
      "--allow",
      MEMBER.id,
    ]);
    bench.standins.runpod.faults.on({ fault: "F33", status: 503 });
    const done = await bench.orgpods(["pod", "access", id, "--remove", MEMBER.id]);
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stdout, /^Allowed +nobody but officers$/m);
  });
});

Deno.test("pod start, stop, restart and terminate do what they say", async () => {
  await withOrg(async (bench) => {
    const id = await bench.must(["pod", "create", "--gpu", "NVIDIA RTX A4000", "--name", "lab-1"]);
    const status = async () => JSON.parse(await bench.must(["pod", "list", "--json"])).pods[0]?.status;
    const stopped = await bench.orgpods(["pod", "stop", id]);
    assert.equal(stopped.stdout, `${id}\n`);
    assert.match(stopped.stderr, /^warning: The pod had no volume: every file on it is lost\.$/m);
    assert.equal(await status(), "EXITED");
    assert.match(await bench.must(["pod", "list"]), new RegExp(`^${id} +lab-1 +EXITED +0 listed +`, "m"));
    assert.deepEqual(JSON.parse(await bench.must(["pod", "start", id, "--json"])), {
      id,
      action: "start",
      warnings: [],
    });
    await untilTrue("the pod runs again", async () => await status() === "RUNNING");
    await bench.must(["pod", "restart", id]);
    assert.notEqual(await status(), "EXITED");
    const unsure = await bench.orgpods(["pod", "terminate", id]);
    assert.equal(unsure.code, 2);
    assert.match(unsure.stderr, /--yes/);
    assert.notEqual(await status(), undefined);
    assert.equal(await bench.must(["pod", "terminate", id, "--yes"]), id);
    assert.equal(await status(), undefined);
    assert.equal((await bench.orgpods(["pod", "stop", id])).code, 3);
  });
});

Deno.test("a refusal of RunPod ends with 6, its sentence on stderr", async () => {
  await withOrg(async (bench) => {
    bench.standins.runpod.faults.on({ fault: "F10" });
    const done = await bench.orgpods(["pod", "create", "--gpu", "NVIDIA RTX A4000", "--name", "lab-1", "--json"]);
    assert.equal(done.code, 6);
    assert.equal(done.stdout, "");
    assert.match(done.stderr, /^error: /);
  });
});

Deno.test("attention list shows a pod that nobody here made; adopt takes it in, forget closes it", async () => {
  await withOrg(async (bench) => {
    assert.equal(await bench.must(["attention", "list"]), "");
    await bench.must(["pod", "create", "--gpu", "NVIDIA RTX A4000", "--name", "lab-1"]);
    const { runpod, secrets, env } = bench.standins;
    const made = runpod.requests.find((request) => request.method === "POST" && request.path === "/v2/pods")!;
    for (const name of ["stray-1", "stray-2\u001b[2J"]) {
      const answer = await fetch(`${env.RUNPOD_API_URL}/pods`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${secrets.runpodKey}`,
          "content-type": "application/json",
          "user-agent": "curl/8.5.0",
        },
        body: JSON.stringify({ ...made.body as Record<string, unknown>, name }),
      });
      assert.equal(answer.status, 201, await answer.text());
    }
    // A list that is younger than a second is not asked for again.
    const list = await untilTrue("both strays are seen", async () => {
      await bench.must(["pod", "list"]);
      const text = await bench.must(["attention", "list"]);
      return text.split("attention adopt").length === 3 && text;
    });
    assert(!list.includes("\u001b"));
    const ids = [...list.matchAll(/^ {2}orgpods attention adopt (\S+)$/gm)].map((found) => found[1]!);
    assert.equal(ids.length, 2, list);
    assert.equal(await bench.must(["attention", "adopt", ids[0]!]), ids[0]);
    assert.equal(await bench.must(["attention", "forget", ids[1]!]), ids[1]);
    assert.equal(await bench.must(["attention", "list"]), "");
    assert.match(await bench.must(["pod", "list"]), /stray-/);
    assert.equal((await bench.orgpods(["attention", "forget", ids[1]!])).code, 3);
  });
});
