/** Leaving a form with what was typed and not sent. */
import assert from "node:assert/strict";
import { type FakeAdmin, startFakeAdmin, withAdmin } from "../support/fake_admin.ts";
import { withWorld } from "./support.ts";

/** Opens the form of a new pod, types a name, and goes to a field where letters are keys. */
async function typeName(admin: FakeAdmin): Promise<void> {
  await admin.until("n makes one");
  await admin.press("n");
  await admin.until("Cost: $0.25/hr");
  await admin.type("lab");
  await admin.press("down");
  await admin.until(/> Hardware/);
}

Deno.test("q in a form asks before what was typed is lost, as esc does, and n goes on with it", async () => {
  await withWorld(async (world) => {
    const admin = await startFakeAdmin(world, {});
    await typeName(admin);
    for (const key of ["q", "esc"]) {
      await admin.press(key);
      await admin.until("What you typed is lost");
      await admin.press("n");
      await admin.untilGone("What you typed is lost");
      assert.match(admin.text(), /Name +lab/);
    }
    await admin.press("q");
    await admin.until("What you typed is lost");
    await admin.press("y");
    assert.equal((await admin.ended).exitCode, 0);
    await admin.close();
  });
});

Deno.test("q leaves at once from a form in which nothing was typed, and ctrl-c from any", async () => {
  await withWorld(async (world) => {
    for (const keys of [["q"], ["right", "ctrl-c"]]) {
      const admin = await startFakeAdmin(world, {});
      await admin.until("n makes one");
      await admin.press("n");
      await admin.until("Cost: $0.25/hr");
      await admin.press("down", ...keys);
      assert.equal((await admin.ended).exitCode, 0);
      await admin.close();
    }
  });
});

Deno.test("q and a command ask above a form too, wherever one went from it", async () => {
  await withWorld((world) =>
    withAdmin(world, {}, async (admin) => {
      await typeName(admin);
      await admin.press("?");
      await admin.until("Help: New pod");
      await admin.press("q");
      await admin.until("What you typed is lost");
      await admin.press("n");
      await admin.until("Help: New pod");
      await admin.press(":");
      await admin.type("events");
      await admin.press("enter");
      await admin.until("What you typed is lost");
      // Whoever asks for something else above the question is asked anew, and answers once.
      await admin.press(":");
      await admin.type("spend");
      await admin.press("enter");
      await admin.until("What you typed is lost");
      await admin.press("n");
      await admin.untilGone("What you typed is lost");
      await admin.until("Help: New pod");
      await admin.press("esc");
      await admin.until(/Name +lab/);
      await admin.press(":");
      await admin.type("settings");
      await admin.press("enter");
      await admin.until("What you typed is lost");
      await admin.press("y");
      await admin.until(/> Compute/);
    })
  );
});

Deno.test("q asks before the people that were listed for a form are lost", async () => {
  await withWorld((world) =>
    withAdmin(world, { columns: 100 }, async (admin) => {
      await admin.until("n makes one");
      await admin.press("n");
      await admin.until("Cost: $0.25/hr");
      while (!/> Listed people/.test(admin.text())) await admin.press("down");
      await admin.press("enter");
      await admin.until("Nobody is listed");
      await admin.press("i");
      await admin.paste("123456");
      await admin.press("ctrl-s");
      await admin.until("Listed people 1");
      await admin.press("q");
      await admin.until("What you typed is lost");
      await admin.press("n", "esc");
      await admin.until(/> Listed people +123456/);
    })
  );
});

Deno.test("q does nothing to a typed form in a window that is too small for its question", async () => {
  await withWorld((world) =>
    withAdmin(world, {}, async (admin) => {
      await typeName(admin);
      await admin.resize(30, 8);
      await admin.until("Needs 40x12");
      await admin.press("q");
      await admin.resize(80, 24);
      await admin.until(/Name +lab/);
      assert.doesNotMatch(admin.text(), /What you typed is lost/);
    })
  );
});
