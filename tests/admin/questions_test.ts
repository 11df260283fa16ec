/** Dangerous questions are answered by whoever has seen them. */
import assert from "node:assert/strict";
import { eventually } from "../support/world.ts";
import { podsNow, refusal, sentence, withPods } from "./support.ts";

/** Answers for who is on a pod, by names that may change. */
function presence() {
  const now = { names: [] as string[], isRefused: false };
  const session = (name: string) => ({
    kind: "shell",
    username: name,
    discord_id: null,
    name,
    is_admin: false,
    since: null,
    folder: null,
  });
  const intercept = (request: Request) => {
    if (!request.url.endsWith("/members/connected")) return null;
    if (now.isRefused) return refusal(503, "The pod does not answer", "pod_unreachable");
    return Response.json({ state: "known", sessions: now.names.map(session), connections: 0, certificates: [] });
  };
  return { now, intercept };
}

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

Deno.test("a question says who is on the pod now, not who was when it was last looked", async () => {
  const { now, intercept } = presence();
  await withPods(["workshop"], { columns: 120, intercept }, async (admin, world) => {
    await admin.until("Nobody is on it now");
    now.names = ["Ada"];
    for (const key of ["x", "R", "D"]) {
      world.clock.advance(1_000);
      await admin.press(key);
      await admin.until("On it now: Ada. They are disconnected.");
      await admin.press("esc");
      await admin.untilGone("They are disconnected");
    }
    now.isRefused = true;
    world.clock.advance(1_000);
    await admin.press("x");
    await admin.until("Who is on it is not known: The pod does not answer");
  });
});

Deno.test("a question about a pod follows what another officer does to it meanwhile", async () => {
  const { now, intercept } = presence();
  await withPods(["workshop"], { intercept }, async (admin, world, [id]) => {
    const act = (action: string) =>
      world.call("POST", `/api/compute/org/pods/${id}/action`, { as: "officer", body: { action } });
    await admin.until(/^> workshop/m);
    await act("stop");
    await eventually(
      async () => (await podsNow(world))[0].status === "EXITED",
      "it is stopped",
      () => world.clock.advance(1_000),
    );
    await admin.press("ctrl-r");
    await admin.until("○ Stopped");
    await admin.press("D");
    await admin.until("because it is not running");
    now.names = ["Ada"];
    await act("start");
    await eventually(
      async () => (await podsNow(world))[0].status === "RUNNING",
      "it runs",
      () => world.clock.advance(1_000),
    );
    await admin.press("ctrl-r");
    await admin.until("On it now: Ada. They are disconnected.");
    await act("terminate");
    await admin.press("ctrl-r");
    await admin.until(sentence("It is not in the list of pods any more"));
  });
});

Deno.test("a question about access follows what another officer changes meanwhile", async () => {
  const listed = { name: "lab", is_public: false, allowed_users: ["300000000000000001"] };
  await withPods([listed], { rows: 30 }, async (admin, world, [id]) => {
    const put = (body: unknown) => world.call("PUT", `/api/compute/org/pods/${id}`, { as: "officer", body });
    await admin.until(/^> lab/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("a");
    await admin.until("1 person is listed");
    await admin.press("d");
    await admin.until(sentence("may not enter lab any more"));
    await put({ is_public: true });
    await admin.press("ctrl-r");
    await admin.until(sentence("The pod is open to all members, so they may still enter."));
    await admin.press("n", "p");
    await admin.until(sentence("officers and the 1 listed may enter"));
    await put({ add_users: ["300000000000000002"] });
    await admin.press("ctrl-r");
    await admin.until(sentence("officers and the 2 listed may enter"));
  });
});
