import assert from "node:assert/strict";
import { ssh, withSshdPod } from "../demo/pods_support.ts";
import { asRoot, ignorePods } from "./support.ts";

const SHOW = 'echo "$CUDA_HOME|$LD_LIBRARY_PATH|${PATH%%:*}|$HF_HOME"';

Deno.test({
  name: "pod image shows CUDA to commands and shells of members and to officers' shells, where the image has it",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const [member, officer] = [await org.member("pod1", "bob"), await org.officer("pod1")];
      assert.equal((await ssh(address, member, { command: SHOW })).out, "|/opt/lib|/usr/local/sbin|/workspace/hf\n");
      await asRoot(address, org, "mkdir -p /usr/local/cuda/bin");
      const cuda = "/usr/local/cuda|/opt/lib:/usr/local/cuda/lib64|/usr/local/cuda/bin|/workspace/hf\n";
      assert.equal((await ssh(address, member, { command: SHOW })).out, cuda);
      assert.equal((await ssh(address, member, { command: "bash", input: SHOW })).out, cuda);
      assert.equal((await ssh(address, member, { input: `${SHOW}\n` })).out, cuda);
      const admin = "/usr/local/bin/godfather-login --admin ada";
      assert.equal((await ssh(address, officer, { command: admin, input: `${SHOW}\n` })).out, cuda);
    }, { HF_HOME: "/workspace/hf", LD_LIBRARY_PATH: "/opt/lib" }),
});

Deno.test({
  name: "pod image keeps what chooses a program's code away from programs of root that serve a member's login",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const { out } = await ssh(address, await org.member("pod1", "bob"), { command: "echo $LD_PRELOAD:$GCONV_PATH" });
      assert.equal(out.trim(), "/workspace/shared/none.so:/workspace/shared");
      assert.equal(
        await asRoot(address, org, "grep -cE 'LD_|GCONV' /etc/environment; env | grep -cE '^(LD_|GCONV)'; true"),
        "0\n0\n",
      );
    }, { LD_PRELOAD: "/workspace/shared/none.so", GCONV_PATH: "/workspace/shared" }),
});

Deno.test({
  name: "pod image reads a member's own .bashrc and .profile, as the member",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      await ssh(address, key, { command: "echo 'export ONE=$(id -un)' >.profile; echo 'TWO=$(id -un)' >.bashrc" });
      assert.equal((await ssh(address, key, { command: "echo $ONE$TWO" })).out, "godfather_bob\n");
      assert.equal((await ssh(address, key, { input: "echo $ONE $TWO\n" })).out, "godfather_bob godfather_bob\n");
    }),
});
