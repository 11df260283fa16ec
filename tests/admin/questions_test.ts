/** Dangerous questions are answered by whoever has seen them. */
import assert from "node:assert/strict";
import { eventually } from "../support/world.ts";
import { podsNow, withPods } from "./support.ts";

Deno.test("a question is not answered by keys that were typed before it stood on the screen", async () => {
  await withPods(["workshop"], {}, async (admin, world) => {
    const status = async () => (await podsNow(world))[0].status;
    await admin.until("● Running");
    // A text that was pasted into a terminal without bracketed paste comes as keys, all at once.
    for (const typed of ["xy", "xyyy", "xy\r"]) {
      await admin.type(typed);
      await admin.until("Press y to stop");
      assert.equal(await status(), "RUNNING");
      await admin.press("n");
      await admin.untilGone("Press y to stop");
    }
    await admin.type("Dworkshop\r");
    await admin.until("Type workshop");
    assert.equal(await status(), "RUNNING");
    await admin.press("esc", "x");
    await admin.until("Press y to stop");
    await admin.press("y");
    await eventually(
      async () => await status() === "EXITED",
      "it is stopped",
      () => world.clock.advance(1_000),
    );
  });
});

Deno.test("a question can be left by ctrl-c before it stood on the screen", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    await admin.until("● Running");
    await admin.type("x\x03");
    assert.deepEqual(await admin.ended, { exitCode: 0 });
  });
});
