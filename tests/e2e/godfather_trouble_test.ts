/** What the published client says when a pod cannot be had, RunPod is down or Discord is down. */
import assert from "node:assert/strict";
import { ASK_OFFICER, assertSays, clientIfPossible, logIn, paste, type, withComputer } from "../support/godfather.ts";
import { lacks } from "../support/needs.ts";
import { until } from "../support/sshd.ts";

const program = lacks("python3", "ssh", "ssh-keygen", "root", "sshd") ? null : await clientIfPossible();
const ignore = program === null;

const SERVER_TROUBLE = "The server had a problem. Try again in a moment.";
const NO_PODS = "! No pods are available to you right now.";

Deno.test({
  name: "godfather says why a pod cannot be had when it is private, stopped, unknown or gone",
  ignore,
  fn: () =>
    withComputer(program, async (demo, computer) => {
      const { pod_id: podId, member, officer } = demo.facts;
      await logIn(demo, computer, member.token);
      const connect = (id = podId) => computer.godfather(["connect", id]);
      const unknown = "Check the pod ID with 'godfather list', and the org with 'godfather status'.";
      assertSays(await connect("nosuchpod"), "✗ Pod not found", unknown);

      const hide = (hidden: boolean) => demo.call("PUT", `/pods/${podId}`, officer.token, { is_public: !hidden });
      assert.equal((await hide(true)).status, 200);
      assertSays(await computer.godfather(["list"]), NO_PODS);
      assertSays(await connect(), "✗ Pod not accessible", ASK_OFFICER);
      assert.equal((await hide(false)).status, 200);

      await demo.act("stop");
      const listed = async () => (await demo.call("GET", "/me/pods", member.token)).json.pods.length;
      await until(async () => await listed() === 0, "the stopped pod leaves the list");
      assertSays(await computer.godfather(["list"]), NO_PODS);
      assertSays(await computer.godfather(["connect"]), NO_PODS);
      const stopped = "The pod is not running. Ask an officer to start it, then try again.";
      assertSays(await connect(), "✗ Pod is not running", stopped);

      await demo.act("terminate");
      assertSays(await connect(), "✗ Pod not found", unknown);
      assertSays(await computer.godfather(["list"]), NO_PODS);
    }),
});

Deno.test({
  name: "godfather still logs in and connects while RunPod is down, and says so for a pod it knows nothing good about",
  ignore,
  fn: () =>
    withComputer(program, async (demo, computer) => {
      const { pod_id: podId, member } = demo.facts;
      const fault = (spec: Record<string, unknown>) => demo.control("runpod", "/_demo/faults", spec);
      await fault({ fault: "F34", variant: "refused-like" });
      await logIn(demo, computer, member.token);
      const list = await computer.godfather(["list"]);
      assert.match(list.text, new RegExp(`│ workshop +│ RUNNING +│ public +│ ${podId} │`));
      const shell = await computer.godfather(["connect", podId], type("id -un"), type("exit"));
      assertSays(shell, "godfather_mo.member", "✓ Disconnected");

      await fault({ fault: "F34", off: true });
      await demo.act("stop");
      await fault({ fault: "F34", variant: "refused-like" });
      assertSays(await computer.godfather(["connect", podId]), "✗ RunPod could not be reached");
      await fault({ fault: "F34", off: true });
      await fault({ fault: "F32", variant: "html-502" });
      const edge = await computer.godfather(["connect", podId]);
      assertSays(edge);
      assert.match(edge.text, /✗ RunPod answered 502: /);
      assert.doesNotMatch(edge.text, /<html|Traceback/i);
    }),
});

Deno.test({
  name: "godfather says that Discord is not available, and keeps the login, while Discord is down",
  ignore,
  fn: () =>
    withComputer(program, async (demo, computer) => {
      const { url, org, pod_id: podId, member } = demo.facts;
      const fault = (spec: Record<string, unknown>) => demo.control("discord", "/_demo/faults", spec);
      const down = "✗ Discord is not available; try again shortly";
      await fault({ fault: "D20", variant: "503" });
      const auth = await computer.godfather(["auth", "--api-url", url, "--org", org], paste(member.token));
      assertSays(auth, down);
      await fault({ fault: "D20", off: true });

      await logIn(demo, computer, member.token);
      await fault({ fault: "D20", variant: "cut" });
      await demo.operator("POST", `/api/operator/orgs/${org}/check`); // Drops what is kept of Discord's answers.
      assertSays(await computer.godfather(["list"]), down, SERVER_TROUBLE);
      assertSays(await computer.godfather(["connect", podId]), down, SERVER_TROUBLE);
      const status = await computer.godfather(["status"]);
      assert.match(status.text, /Server refused the token \(run 'godfather list' to see why\)/);
      assert.equal((await computer.config()).token, member.token);

      await fault({ fault: "D20", off: true });
      assertSays(await computer.godfather(["list"]), `Connect with: godfather connect ${podId}`);
    }),
});
