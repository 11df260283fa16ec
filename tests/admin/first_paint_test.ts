/** The admin before its drawing library is loaded: it draws, takes keys, follows the window, and leaves the terminal whole. */
import assert from "node:assert/strict";
import { bytesOfKey } from "../support/fake_terminal.ts";
import { startFakeAdmin } from "../support/fake_admin.ts";
import { withPods, withWorld } from "./support.ts";

Deno.test("the first frame stands there as soon as the admin is open, without colours", async () => {
  await withWorld(async (world) => {
    const admin = await startFakeAdmin(world, { columns: 100, rows: 30 });
    const text = admin.text();
    const { bytes } = admin.terminal.screen;
    await admin.close();
    assert.match(text, /^ orgpods {2}org .*connected/);
    assert.match(text, /q quit/);
    // A frame of 100x30 with little around it.
    assert(bytes < 3_500, `${bytes} bytes`);
  });
});

Deno.test("keys and sizes of the first moment count, and the frame goes over to the drawing library", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    admin.terminal.send(bytesOfKey("?"));
    admin.terminal.resize(120, 40);
    await admin.until("Help: Pods");
    assert.equal(admin.text().split("\n").length, 40);
    await admin.press("esc");
    await admin.resize(40, 12);
    await admin.until(/^> workshop/m);
  });
});

Deno.test("the screen is never empty while it goes over to the drawing library", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    const { screen } = admin.terminal;
    const seen = new Set<string>();
    admin.terminal.onWrite(() => seen.add(screen.text().slice(0, 8)));
    // Longer than the library is waited for.
    for (const until = performance.now() + 500; performance.now() < until;) {
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    assert.deepEqual([...seen], [" orgpods"]);
    await admin.until(/^> workshop/m);
  });
});

Deno.test("an admin that is left in its first moment leaves the terminal whole", async () => {
  await withWorld(async (world) => {
    for (const wait of [0, 30, 60]) {
      const admin = await startFakeAdmin(world);
      await new Promise((resolve) => setTimeout(resolve, wait));
      admin.terminal.send("q");
      assert.equal((await admin.close()).exitCode, 0);
    }
    const lost = await startFakeAdmin(world);
    lost.terminal.hangUp();
    assert.equal((await lost.ended).exitCode, 129);
    await lost.close();
  });
});

Deno.test("ctrl-l in the first moment draws all anew, and the admin goes on", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    admin.terminal.send(bytesOfKey("ctrl-l"));
    await admin.until(/^> workshop/m);
    await admin.press("?");
    await admin.until("Help: Pods");
  });
});
