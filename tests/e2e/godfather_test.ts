/** The published client against the demo: what members and officers see when it works, and when their login is over. */
import assert from "node:assert/strict";
import { MEMBER } from "../../server/demo/people.ts";
import { ASK_OFFICER, assertSays, clientIfPossible, logIn, paste, type, withComputer } from "../support/godfather.ts";
import { lacks } from "../support/needs.ts";

const program = lacks("python3", "ssh", "ssh-keygen", "root", "sshd") ? null : await clientIfPossible();
const ignore = program === null;

Deno.test({
  name: "godfather logs a member in, lists the pods, opens a shell as their own account and logs out",
  ignore,
  fn: () =>
    withComputer(program, async (demo, computer) => {
      const { url, org, pod_id: podId } = demo.facts;
      const token = await demo.signIn(MEMBER.id);
      const auth = await computer.godfather(["auth", "--api-url", url, "--org", org], paste(token));
      assertSays(auth, "✓ Logged in to demo");
      assert.ok(!auth.text.includes(token), "what is pasted is not shown");
      assert.deepEqual(await computer.opened(), [`${url}/api/compute/${org}/cli/login`]);
      assert.deepEqual(await computer.config(), { token, api_url: url, org });

      const list = await computer.godfather(["list"]);
      assertSays(list, `Connect with: godfather connect ${podId}`);
      assert.match(list.text, /Your pods \(1\)/);
      assert.match(list.text, new RegExp(`│ workshop +│ RUNNING +│ public +│ ${podId} │`));

      const shell = await computer.godfather(
        ["connect"],
        { expect: "Connect to workshop\\?", send: "y" },
        type("id -un; pwd; stat -c %a ."),
        type("exit"),
      );
      assertSays(shell, "godfather_mo.member", "/workspace/users/mo.member", "700", "✓ Disconnected");
      assert.match(shell.text, /│ User {4}mo\.member /);
      assert.match(shell.text, /│ Mode {4}Restricted user /);
      assert.doesNotMatch(shell.text, /cannot set terminal process group|no job control/);

      // After Ctrl-C the shell is still there; with the original image it was not.
      const interrupted = await computer.godfather(
        ["connect", podId],
        type("bash -c 'echo begun; exec sleep 1000'"),
        { expect: "[\r\n]begun", send: "\x03" },
        type("echo still $((40 + 2))"),
        type("exit"),
      );
      assertSays(interrupted, "still 42", "✓ Disconnected");

      const status = await computer.godfather(["status"]);
      assert.equal(status.code, 0);
      for (
        const row of [
          ["Server", url],
          ["Organization", org],
          ["Login", "Logged in, the server accepts the token"],
          ["Pods you can use", "1"],
          ["CLI version", "2.1.0 \\(no newer version found on PyPI\\)"],
        ]
      ) assert.match(status.text, new RegExp(`│ ${row[0]} +│ ${row[1]} +│`));

      assertSays(await computer.godfather(["logout"]), "✓ Logged out");
      const nobody = await computer.godfather(["list"], paste(""));
      assertSays(nobody, "You're not logged in yet.", "✗ No token entered");
      assert.equal((await computer.godfather(["nonsense"])).code, 2);
    }),
});

Deno.test({
  name: "godfather opens a root shell in the officer's folder when an officer connects",
  ignore,
  fn: () =>
    withComputer(program, async (demo, computer) => {
      await logIn(demo, computer, demo.facts.officer.cli_token);
      const shell = await computer.godfather(
        ["connect", demo.facts.pod_id],
        type("id -un; pwd; echo $GODFATHER_USER"),
        type("exit"),
      );
      assertSays(shell, "root", "/workspace/users/olivia", "olivia", "✓ Disconnected");
      assert.match(shell.text, /│ Mode {4}Administrator /);
    }),
});

Deno.test({
  name: "godfather says that the login is over when the token is wrong, was replaced or belongs to somebody who left",
  ignore,
  fn: () =>
    withComputer(program, async (demo, computer) => {
      const { url, org, pod_id: podId } = demo.facts;
      const auth = (token: string) => computer.godfather(["auth", "--api-url", url, "--org", org], paste(token));
      const refused = "✗ The CLI token is invalid or expired. Run godfather auth again.";
      assertSays(await auth(`plat_${"x".repeat(43)}`), refused);
      assertSays(await auth("gf1.old"), "✗ That doesn't look like a valid Godfather token");
      // An officer's token is for the admin; the client must not take it for a login.
      assertSays(await auth(demo.facts.officer.token), refused);

      await logIn(demo, computer, await demo.signIn(MEMBER.id));
      const newer = await demo.signIn(MEMBER.id);
      const over = "! Your token has expired, or a newer login replaced it.";
      const question = "Log in again now\\?";
      assertSays(await computer.godfather(["connect", podId], { expect: question, send: "n" }), over);
      const status = await computer.godfather(["status"]);
      assertSays(status, "Run 'godfather auth' to log in again.");
      assert.match(status.text, /Token expired or replaced by a newer login/);
      const again = await computer.godfather(["list"], { expect: question, send: "y" }, paste(newer));
      assertSays(again, over, "✓ Logged in to demo", `Connect with: godfather connect ${podId}`);

      const ann = await demo.addMember("200000000000000100", "ann");
      await demo.leave(ann.discord_id);
      const left = "✗ You are no longer a member of this organization";
      assertSays(await auth(ann.token), left);
      // Mo's login is as good as before.
      assert.equal((await computer.config()).token, newer);
      await demo.leave(MEMBER.id);
      await demo.operator("POST", `/api/operator/orgs/${org}/check`); // Drops what is kept of Discord's answers.
      assertSays(await computer.godfather(["list"]), left, ASK_OFFICER);
      assertSays(await computer.godfather(["connect", podId]), left, ASK_OFFICER);

      const nowhere = await computer.godfather(["list", "--api-url", url, "--org", "nowhere"], paste(newer));
      assertSays(nowhere, "✗ Organization not found");
    }),
});
