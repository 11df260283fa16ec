/** A server that takes its time: the screen stays usable, says since when one waits, and nobody has to wait. */
import assert from "node:assert/strict";
import { podsNow, refusal, run, withPods } from "./support.ts";

const TICK = 1_100;

/** Requests of a method whose path ends so are not answered until they are given up; all others are. */
function stalled(method: string, end: string) {
  let isOn = false;
  let given = 0;
  return {
    on: () => void (isOn = true),
    off: () => void (isOn = false),
    givenUp: () => given,
    intercept(request: Request): Promise<Response> | null {
      if (!isOn || request.method !== method || !new URL(request.url).pathname.endsWith(end)) return null;
      return new Promise((_, reject) =>
        request.signal.addEventListener("abort", () => {
          given++;
          reject(request.signal.reason);
        })
      );
    },
  };
}

Deno.test("an action that is not answered says for how long it is waited for, and ctrl-x gives it up", async () => {
  const slow = stalled("POST", "/action");
  await withPods(["workshop", "lab"], { intercept: slow.intercept }, async (admin, world) => {
    await admin.until(/^> lab|^> workshop/m);
    assert(!admin.offered().includes("ctrl-x give up"));
    slow.on();
    await admin.press("x", "y");
    await admin.until(/Stop \w+ …$/m);
    world.clock.advance(10_000);
    await admin.until(/Stop \w+ … 1\d s, ctrl-x gives up/);
    await admin.press("j", "?");
    await admin.until("Help: Pods");
    await admin.press("esc");
    assert(admin.offered().includes("ctrl-x give up"));
    await admin.press("ctrl-x");
    await admin.until("! It was given up here; whether it was carried out is not known.");
    assert.equal(slow.givenUp(), 1);
    assert(!admin.offered().includes("ctrl-x give up"));
    assert.match(admin.text(), /● connected/);
  });
});

Deno.test("a form that is not answered is given up by esc: what was typed stays, and is sent again", async () => {
  const slow = stalled("POST", "/keep");
  await withPods(["workshop"], { intercept: slow.intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("K", "ctrl-u");
    await admin.type("77");
    slow.on();
    await admin.press("ctrl-s");
    await admin.until("Sending …");
    assert(admin.offered().includes("esc give up"));
    await admin.press("esc");
    await admin.until("It was given up here");
    assert.match(admin.text(), /Minutes +77/);
    assert(admin.offered().includes("esc cancel"));
    slow.off();
    await admin.press("ctrl-s");
    await admin.until("Kept until");
  });
});

Deno.test("a load that takes long says since when, beside the last state, and keys go on working", async () => {
  const slow = stalled("GET", "/pods");
  await withPods(["workshop"], { intercept: slow.intercept }, async (admin, world) => {
    await admin.until(/^> workshop/m);
    await admin.untilGone("loading");
    slow.on();
    await admin.press("ctrl-r");
    world.clock.advance(10_000);
    await admin.until(/loading 1\d s/);
    assert.match(admin.text(), /^> workshop/m);
    await run(admin, "settings", "> Settings");
  });
});

Deno.test("a server that asks for a pause is waited for, and that is said", async () => {
  let isBusy = false;
  const intercept = (request: Request) => {
    if (!isBusy || !new URL(request.url).pathname.endsWith("/action")) return null;
    const answer = refusal(429, "Too many requests", "rate_limited");
    answer.headers.set("retry-after", "30");
    return answer;
  };
  await withPods(["workshop"], { intercept }, async (admin, world) => {
    await admin.until(/^> workshop/m);
    isBusy = true;
    await admin.press("x", "y");
    world.clock.advance(3 * TICK);
    await admin.until(/Stop workshop … \d s, ctrl-x gives up\. The server asked to wait for \d+ s/);
    await admin.press("ctrl-x");
    await admin.until("It was given up before it began");
    assert.equal((await podsNow(world))[0].status, "RUNNING");
  });
});

Deno.test("an admin that is left while a form is being sent warns first", async () => {
  const slow = stalled("POST", "/keep");
  await withPods(["workshop"], { intercept: slow.intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    slow.on();
    await admin.press("enter");
    await admin.until("Pod id");
    await admin.press("K", "ctrl-s");
    await admin.until("Sending …");
    await admin.press("ctrl-c");
    await admin.until("Something is still under way; press again");
  });
});

Deno.test("going to another org says so until it is there, and a refusal says why one stays", async () => {
  const slow = Promise.withResolvers<void>();
  const intercept = (request: Request) =>
    request.url.endsWith("/other/me")
      ? slow.promise.then(() => refusal(403, "You are not an officer there", "not_an_officer"))
      : null;
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    await run(admin, "orgs", "* here");
    await run(admin, "org other", "Go to other …");
    await admin.press("j", "k");
    slow.resolve();
    await admin.until("! You are not an officer there");
    assert.match(admin.text(), /orgpods {2}org /);
    await run(admin, "org ../x", /! .*/);
    assert.match(admin.text(), /orgpods {2}org /);
  });
});
