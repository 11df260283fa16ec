import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { ssh, withSshdPod } from "./pods_support.ts";

const ignore = lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen");

Deno.test({
  name: "sshd pod puts a member into their own account and folder",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "b.o-b");
      const { code, out } = await ssh(address, key, {
        command: "id -un; pwd; echo $HOME; stat -c '%a %U' . ..; id -u",
      });
      assert.equal(code, 0);
      const home = "/workspace/users/b.o-b";
      assert.deepEqual(out.trim().split("\n"), [
        ...["godfather_b.o-b", home, home, "700 godfather_b.o-b", "755 root", "20000"],
      ]);
    }),
});

Deno.test({
  name: "sshd pod passes the exit status, standard input and both outputs of a member's command",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      const command = "cat; echo oops >&2; exit 7";
      const { code, out, err } = await ssh(address, key, { command, input: "to be echoed" });
      assert.deepEqual({ code, out, err }, { code: 7, out: "to be echoed", err: "oops\n" });
    }),
});

Deno.test({
  name: "sshd pod gives a member an interactive shell on a terminal",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      const input = "tty; echo sum$((20 + 22)); exit 3\n";
      const { code, out, err } = await ssh(address, key, { flags: ["-tt"], input });
      assert.equal(code, 3);
      assert.match(out, /Your folder: \/workspace\/users\/bob/);
      assert.match(out, /\/dev\/pts\/\d/);
      assert.match(out, /sum42/);
      assert.doesNotMatch(out + err, /no job control/);
    }),
});

Deno.test({
  name: "sshd pod makes an officer root in the officer's folder",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.officer("pod1");
      const command = "/usr/local/bin/godfather-login --admin ada";
      const { code, out } = await ssh(address, key, { command, input: "id -u; pwd; echo $GODFATHER_USER\n" });
      assert.equal(code, 0);
      assert.equal(out, "0\n/workspace/users/ada\nada\n");
    }),
});

Deno.test({
  name: "sshd pod lets the backend's key in as root",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const { out } = await ssh(address, org.backend, { command: "id -u; cat /etc/godfather/orgpods-image" });
      assert.equal(out, "0\norgpods-image 1\nallow-stream-local-forwarding no\n");
    }),
});

Deno.test({
  name: "sshd pod refuses certificates of another pod, expired ones and those of another CA",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ host, org, address }) => {
      const stranger = await org.newKey("other-ca");
      const principal = "gf-pod1";
      const cases = {
        "another pod": {
          key: await org.certify({ principal: "gf-pod2" }),
          log: /does not contain an authorized principal/,
        },
        "the login name as principal": { key: await org.certify({ principal: "root" }), log: /authorized principal/ },
        "expired": { key: await org.certify({ principal, validity: "20200101:20200102" }), log: /expired/ },
        "not yet valid": { key: await org.certify({ principal, validity: "+1h:+2h" }), log: /not yet valid/ },
        "another CA": { key: await org.certify({ principal, ca: stranger }), log: undefined },
      };
      for (const [name, { key, log }] of Object.entries(cases)) {
        const { code, err } = await ssh(address, key, { command: "id" });
        assert.equal(code, 255, name);
        assert.match(err, /Permission denied \(publickey\)/, name);
        if (log) assert.match(host.logOf("pod1"), log, name);
      }
      assert.equal((await ssh(address, await org.officer("pod1"), { command: "id" })).code, 0);
      assert.match(host.logOf("pod1"), /Accepted publickey for root .*ID discord:1:test\d+ \(serial \d+\)/);
    }),
});

Deno.test({
  name: "sshd pod gives first logins of one member at the same moment one account",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      const logins = await Promise.all(Array.from({ length: 6 }, () => ssh(address, key, { command: "id -u" })));
      assert.deepEqual(logins.map(({ out, err }) => out + err), Array(6).fill("20000\n"));
    }),
});

Deno.test({
  name: "sshd pod shows the pod's environment to members and to root, whatever the values are",
  ignore,
  fn: async () => {
    const odd = "a 'b' \"c\" # d\\\n$(touch /workspace/pwned) `touch /workspace/pwned`; touch /workspace/pwned";
    const env = { HF_HOME: "/workspace/hf", CUDA_HOME: "/opt/cuda", ODD: odd, JUPYTER_PASSWORD: "hush" };
    await withSshdPod("orgpods", async ({ org, address }) => {
      const command =
        'printf "%s|%s|%s|%s|%s" "$HF_HOME" "$CUDA_HOME" "$JUPYTER_PASSWORD$GODFATHER_SETUP" "$PATH" "$ODD"';
      const { out } = await ssh(address, await org.member("pod1", "bob"), { command });
      const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
      assert.equal(out, `/workspace/hf|/opt/cuda||${path}|${odd}`);
      const root = await ssh(address, org.backend, { command: "echo $HF_HOME; ls /workspace" });
      assert.equal(root.out, "/workspace/hf\nshared\nusers\n");
    }, env);
  },
});

Deno.test({
  name: "sshd pod refuses a member whose folder is a link",
  ignore,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      await ssh(address, org.backend, { command: "ln -s /etc /workspace/users/eve" });
      const { code, out, err } = await ssh(address, await org.member("pod1", "eve"), { command: "id" });
      assert.deepEqual({ code, out }, { code: 1, out: "" });
      assert.match(err, /\/workspace\/users\/eve is a link; ask an officer/);
      assert.equal((await ssh(address, org.backend, { command: "stat -c %U /etc" })).out, "root\n");
    }),
});
