/** A list of a thousand pods, and one of none. */
import assert from "node:assert/strict";
import { lineWidth, textOf } from "../../admin/ui/text/line.ts";
import type { Intercept } from "../support/fake_admin.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { createRunningPod } from "../support/world.ts";
import { run, withWorld } from "./support.ts";

const COUNT = 1_000;
const SIZES = [[40, 12], [80, 24], [400, 100]] as const;

Deno.test("1,000 pods are all listed, counted, filtered, sorted and moved through, and drawn in every window", () =>
  withWorld(async (world) => {
    await createRunningPod(world, { name: "workshop" });
    const { json } = await world.call("GET", "/api/compute/org/pods", { as: "officer" });
    const [pod] = json.pods;
    const pods = Array.from({ length: COUNT }, (_, at) => ({
      ...pod,
      id: `${pod.id}${at}`,
      name: `pod-${String(at).padStart(4, "0")}`,
      status: at % 2 === 0 ? "RUNNING" : "EXITED",
    }));
    const intercept: Intercept = (request) =>
      new URL(request.url).pathname.endsWith("/pods") ? Response.json({ ...json, pods }) : null;
    await withAdmin(world, { intercept }, async (admin) => {
      await admin.until(/^> pod-0000/m);
      await admin.until(`${COUNT / 2} running / ${COUNT / 2} stopped`);
      await admin.press("G");
      await admin.until(/^> pod-0999/m);
      for (const [columns, rows] of SIZES) {
        await admin.resize(columns, rows);
        assert.equal(admin.admin.frame.length, rows);
        for (const one of admin.admin.frame) assert.equal(lineWidth(one), columns, textOf(one));
        await admin.until(/^> pod-0999/m);
        await admin.press("pageup", "pagedown");
      }
      await admin.press("g", "o", "O", "g");
      await admin.until(/^> pod-0999/m);
      await admin.press("/");
      await admin.type("pod-0500");
      await admin.press("enter");
      await admin.until(/^> pod-0500/m);
      await admin.until(`Pods 1 of ${COUNT}`);
    });
  }));

Deno.test("an org without pods says what to do, on every list", () =>
  withWorld(async (world) => {
    await withAdmin(world, {}, async (admin) => {
      await admin.until("There are no pods yet");
      assert(admin.offered().includes("n new pod"));
      for (
        const [command, said] of [["sessions", "no sessions"], ["attention", "All is settled"], ["spend", "Spend of"]]
      ) {
        await run(admin, command!, said!);
      }
    });
  }));
