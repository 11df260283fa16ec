import assert from "node:assert/strict";
import { withOrg } from "./bench.ts";

Deno.test("pod set changes and shows the pod's own rules, keep puts stops off, connected says who is on", async () => {
  await withOrg(async (bench) => {
    const id = await bench.must(["pod", "create", "--cpu", "--name", "lab-1"]);
    const set = async (...flags: string[]) => {
      const { pod } = JSON.parse(await bench.must(["pod", "set", id, "--json", ...flags]));
      return [pod.auto_stop_after_minutes, pod.max_run_hours];
    };
    assert.deepEqual(await set("--auto-stop", "30", "--max-run", "off"), [30, 0]);
    assert.deepEqual(await set("--auto-stop", "off"), [0, 0]);
    assert.deepEqual(await set("--auto-stop", "default", "--max-run", "default"), [null, null]);
    for (const flags of [[], ["--auto-stop", "4"], ["--max-run", "745"], ["--max-run", "never"]]) {
      assert.equal((await bench.orgpods(["pod", "set", id, ...flags])).code, 2, flags.join(" "));
    }

    const until = Date.parse(await bench.must(["pod", "keep", id, "--minutes", "90"]));
    assert.ok(Math.abs(until - Date.now() - 90 * 60_000) < 60_000, String(until));
    const kept = JSON.parse(await bench.must(["pod", "keep", id, "--minutes", "5", "--json"]));
    assert.equal(kept.id, id);
    assert.equal((await bench.orgpods(["pod", "keep", id, "--minutes", "1441"])).code, 2);
    assert.equal((await bench.orgpods(["pod", "keep", "nosuch", "--minutes", "5"])).code, 3);

    // The stand-in's addresses are made up: nobody answers there.
    const connected = await bench.orgpods(["pod", "connected", id]);
    assert.deepEqual([connected.code, connected.stdout], [0, ""]);
    assert.match(connected.stderr, /^Not known: (?:The pod|Could not connect)/m);
    assert.equal((await bench.orgpods(["pod", "connected", "nosuch"])).code, 3);
  });
});

Deno.test("pod show says why a pod is in its state, when it stops, and what is wrong", async () => {
  await withOrg(async (bench) => {
    const id = await bench.must(["pod", "create", "--cpu", "--name", "lab-1"]);
    const shown = await bench.must(["pod", "show", id]);
    assert.match(shown, new RegExp(`^Id +${id}$`, "m"));
    assert.match(shown, /^Stops +\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ ./m);
    assert.match(shown, /^Longest run +the organization's rule$/m);
    assert.equal(JSON.parse(await bench.must(["pod", "show", id, "--json"])).pod.name, "lab-1");
    await bench.must(["pod", "stop", id]);
    const stopped = await bench.must(["pod", "show", id]);
    assert.match(stopped, /^Status +EXITED$/m);
    assert.match(stopped, /^Why +Stopped by the server's operator/m);
    const none = await bench.orgpods(["pod", "show", "nosuch"]);
    assert.equal(none.code, 3);
    assert.equal(
      none.stderr,
      "error: Pod not found\nhint: There is no pod nosuch in this organization; ids are in pod list\n",
    );
    const byName = await bench.orgpods(["pod", "show", "lab-1"]);
    assert.equal(byName.code, 3);
    assert.match(byName.stderr, new RegExp(`^hint: A pod goes by its id; the one named lab-1 is ${id}$`, "m"));
  });
});

Deno.test("pod restart of a stopped pod, schedule status and schedule resume say what there is to know", async () => {
  await withOrg(async (bench) => {
    const id = await bench.must(["pod", "create", "--gpu", "NVIDIA RTX A4000", "--volume", "100", "--name", "lab-1"]);
    await bench.must(["pod", "stop", id]);
    const restart = await bench.orgpods(["pod", "restart", id]);
    assert.equal(restart.code, 5);
    assert.match(restart.stderr, /^error: The pod is stopped, so there is nothing to restart; start it$/m);
    const status = await bench.orgpods(["schedule", "status"]);
    assert.match(status.stdout, /^Last turn +\d{4}-/m);
    assert.match(status.stderr, /^Stops by the idle stop, the limit on hours and the budget are in event list\.$/m);
    assert.equal((await bench.orgpods(["schedule", "resume"])).stderr, "It was not paused.\n");
  });
});
