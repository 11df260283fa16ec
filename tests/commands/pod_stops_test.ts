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
