/** A token that does not work any more: the dialog can be left and comes back, and a check that is not answered blocks nothing. */
import assert from "node:assert/strict";
import { refusal, withPods } from "./support.ts";

Deno.test("who leaves the sign-in keeps the last state in sight, and ctrl-r asks again", async () => {
  let isOut = false;
  const intercept = () => isOut ? refusal(401, "Token is invalid!", "token_invalid") : null;
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    isOut = true;
    await admin.press("ctrl-r");
    await admin.until("Sign in to org");
    await admin.press("esc");
    await admin.untilGone("Sign in to org");
    assert.match(admin.text(), /! signed out/);
    assert.match(admin.text(), /^> workshop/m);
    await admin.press("ctrl-r");
    await admin.until("Sign in to org");
    isOut = false;
    await admin.press("esc", "ctrl-r");
    await admin.until("● connected");
  });
});

Deno.test("a pasted token whose check is not answered is said to be checked, and esc goes on without it", async () => {
  let isOut = false;
  let isStalled = false;
  const late = Promise.withResolvers<Response>();
  const intercept = (request: Request) => {
    if (isStalled && request.url.endsWith("/me")) return late.promise;
    return isOut ? refusal(401, "Token is invalid!", "token_invalid") : null;
  };
  await withPods(["workshop"], { intercept }, async (admin) => {
    await admin.until(/^> workshop/m);
    isOut = true;
    await admin.press("ctrl-r");
    await admin.until("Sign in to org");
    isStalled = true;
    await admin.paste(`plat_${"x".repeat(43)}`);
    await admin.press("enter");
    await admin.until("Checking it …");
    await admin.press("esc");
    await admin.untilGone("Sign in to org");
    await admin.press("j", "enter");
    await admin.until("Pod id");
    late.resolve(refusal(401, "Token is invalid!", "token_invalid"));
  });
});
