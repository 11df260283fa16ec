import assert from "node:assert/strict";
import { sshOptions, withSshdPod } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { playOnTerminal, type Step } from "../support/pty.ts";
import { ignorePods } from "./support.ts";

/** Types a command that says when it is in the foreground; what is typed does not match what it says. */
const busy = (name: string) => `sh -c 'echo $0 ru""ns; exec sleep 8641' ${name}\r`;

const ignore = ignorePods || lacks("python3");

function play(
  scene: { readonly address: { readonly host: string; readonly port: number } },
  key: string,
  steps: Step[],
) {
  const argv = ["ssh", ...sshOptions(scene.address, key), `root@${scene.address.host}`];
  return playOnTerminal(argv, { env: { PATH: Deno.env.get("PATH") ?? "", TERM: "xterm" }, cwd: "/", steps });
}

Deno.test({
  name: "pod image's member shell goes on after Ctrl-C and Ctrl-Z and gives its exit status",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async (scene) => {
      const played = await play(scene, await scene.org.member("pod1", "bob"), [
        { expect: "bob@pod1:~\\$ $", send: busy("first") },
        { expect: "first runs\\s", send: "\u0003" },
        { expect: "\\^C[^$]*\\$ $", send: `echo interrupted $?; ${busy("second")}` },
        { expect: "interrupted 130\\s[^$]*second runs\\s", send: "\u001a" },
        { expect: "Stopped[\\s\\S]*\\$ $", send: "disown -a; exit 7\r" },
      ]);
      assert.equal(played.code, 7);
      assert.match(played.text, /Your folder: \/workspace\/users\/bob/);
      assert.doesNotMatch(played.text, /no job control|cannot set terminal process group/);
    }),
});

Deno.test({
  name: "original image ends a member's shell at Ctrl-C",
  ignore,
  fn: () =>
    withSshdPod("original", async (scene) => {
      const played = await play(scene, await scene.org.member("pod1", "bob"), [
        { expect: "\\$ $", send: busy("it") },
        { expect: "it runs\\s", send: "\u0003" },
      ]);
      assert.equal(played.code, 255);
      assert.match(played.text, /no job control/);
    }),
});
