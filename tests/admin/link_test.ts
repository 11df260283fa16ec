/** Bad days: a server that is away, a token that runs out, another org, a window that is pasted into. */
import assert from "node:assert/strict";
import { Refusal } from "../../admin/client/refusal.ts";
import { checkWhole, startFakeAdmin, withAdmin } from "../support/fake_admin.ts";
import { refusal, withPods, withWorld } from "./support.ts";

Deno.test("a lost server leaves the last list in sight, marked, and it goes on by itself", async () => {
  let isAway = false;
  const intercept = () => isAway ? Promise.reject(new Refusal("The server went away before it answered", 6)) : null;
  await withPods(["workshop"], { intercept }, async (admin, world) => {
    await admin.until(/^> workshop/m);
    isAway = true;
    await admin.press("ctrl-r");
    await admin.until("connection lost");
    world.clock.advance(65_000);
    await admin.until("not fresh: 1 min old");
    assert.match(admin.text(), /> workshop/);
    isAway = false;
    await admin.until("● connected");
    await admin.untilGone("not fresh");
  });
});

Deno.test("a token that runs out in the middle of a form leads to a sign-in, and the form is as it was", async () => {
  let isOut = false;
  const intercept = (request: Request) =>
    isOut && request.headers.get("authorization")?.endsWith("-old") === true
      ? refusal(401, "Token is invalid!", "token_invalid")
      : null;
  await withWorld(async (world) => {
    await world.call("POST", "/api/compute/org/pods", {
      as: "officer",
      body: { name: "workshop", use_cpu_only: true },
    });
    const token = await world.token("officer", "officer");
    const asOld = (request: Request) => {
      if (request.headers.get("authorization") !== "Bearer plat_-old") return intercept(request);
      const refused = intercept(request);
      if (refused !== null) return refused;
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${token}`);
      return world.app.fetch(new Request(request, { headers }), {
        isOperator: false,
        account: "",
        address: "192.0.2.9",
      });
    };
    await withAdmin(world, { token: "plat_-old", intercept: asOld }, async (admin) => {
      await admin.until(/^> workshop/m);
      await admin.press("enter");
      await admin.until("Pod id");
      await admin.press("K", "ctrl-u");
      await admin.type("77");
      isOut = true;
      await admin.press("ctrl-s");
      await admin.until("Sign in to org");
      assert.match(admin.text(), /https:\/\/pods\.example\.org\/api\/compute\/org\/officer\/login/);
      await admin.paste("nonsense");
      await admin.press("enter");
      await admin.until("! A token is one line");
      await admin.paste(token);
      await admin.press("enter");
      await admin.until("You are signed in");
      await admin.until("send it again");
      assert.match(admin.text(), /Minutes +77/);
      await admin.press("ctrl-s");
      await admin.until("Kept until");
    });
  });
});

Deno.test("the operator goes to another org, and its pods are shown", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    await admin.until(/^> workshop/m);
    await admin.press(":");
    await admin.type("orgs");
    await admin.press("enter");
    await admin.until("* here");
    assert.match(admin.text(), /other +Other Society/);
    await admin.press("j", "enter");
    await admin.until("orgpods  other");
    await admin.until("There are no pods yet");
    await admin.press(":");
    await admin.type("orgs");
    await admin.press("enter", ":");
    await admin.type("org org");
    await admin.press("enter");
    await admin.until(/^> workshop/m);
  });
});

Deno.test("a command that is none, and a letter that is no key, change nothing and say so", async () => {
  await withPods(["workshop"], {}, async (admin) => {
    await admin.until(/^> workshop/m);
    await admin.press("Z", ":");
    await admin.type("dance");
    await admin.press("enter");
    await admin.until("There is no command dance here");
    await admin.paste("qqq\nxy");
    await admin.until(/^> workshop/m);
  });
});

Deno.test("every key that the footer shows does something, and the help names them all", async () => {
  await withPods(["workshop", "lab"], { columns: 200, rows: 60 }, async (admin) => {
    await admin.until("> ");
    const offered = admin.offered();
    await admin.press("?");
    const help = await admin.until("Commands");
    for (const offer of offered) {
      const [shown] = offer.split(" ");
      assert(help.includes(`  ${shown}`), offer);
    }
    for (const word of [":pods", ":attention", ":orgs", ":quit", ":stop", ":refresh"]) {
      assert(help.includes(word), word);
    }
  });
});

Deno.test("an error in the program ends the admin with 1, and the terminal is whole", async () => {
  await withWorld(async (world) => {
    const screen = {
      id: "bad",
      title: () => "Bad",
      init: () => null,
      actions: [{ keys: ["b"], label: "break", run: () => Promise.reject(new RangeError("broken")) }],
      view: () => [],
    };
    const admin = await startFakeAdmin(world, { first: { screen, params: null } });
    await admin.until("b break");
    await admin.press("b");
    const { exitCode, error } = await admin.ended;
    assert.equal(exitCode, 1);
    assert(error instanceof RangeError);
    checkWhole(admin.terminal);
    await admin.close();
  });
});

Deno.test("a terminal that is lost ends the admin with 129", async () => {
  await withWorld(async (world) => {
    const admin = await startFakeAdmin(world, {});
    await admin.until("There are no pods yet");
    admin.terminal.hangUp();
    assert.equal((await admin.ended).exitCode, 129);
    await admin.close();
  });
});

Deno.test("at rest hardly anything is sent, and a move sends the difference only", async () => {
  await withPods(["workshop", "lab"], { columns: 120, rows: 40 }, async (admin) => {
    await admin.until("> ");
    await admin.until("0 upcoming");
    await admin.press("j", "k");
    const before = admin.terminal.screen.bytes;
    await admin.press("j");
    const sent = admin.terminal.screen.bytes - before;
    assert(sent > 0 && sent < 120 * 40, `${sent} bytes`);
  });
});
