import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { systemClock } from "../../server/clock.ts";
import type { PodAddress, PodHost } from "../../server/demo/pods/host.ts";
import { createInProcessHost } from "../../server/demo/pods/inprocess_host.ts";
import { createLog } from "../../server/log.ts";
import { lacks } from "../support/needs.ts";
import { hasEnded, makeOrg, type Org, ssh, withFolder, withHost } from "./pods_support.ts";

const ignore = lacks("ssh", "ssh-keygen");

interface Scene {
  readonly host: PodHost;
  readonly org: Org;
  readonly folder: string;
  readonly address: PodAddress;
  readonly logged: string[];
}

async function withPod(use: (scene: Scene) => Promise<void>, env: Record<string, string> = {}): Promise<void> {
  await withFolder(async (folder) => {
    const org = await makeOrg(folder);
    const logged: string[] = [];
    const log = createLog((line) => logged.push(line), systemClock.now);
    await withHost(createInProcessHost({ folder: join(folder, "pods"), log, clock: systemClock }), async (host) => {
      const address = await host.start({ id: "pod1", image: "test", env: { ...org.env, ...env } });
      await use({ host, org, folder, address, logged });
    });
  });
}

Deno.test({
  name: "in-process pod takes certificates for ed25519, RSA and ECDSA keys",
  ignore,
  fn: () =>
    withPod(async ({ org, address }) => {
      const types = ["ed25519", "rsa -b 2048", "ecdsa -b 256", "ecdsa -b 384", "ecdsa -b 521"];
      for (const type of types) {
        const forced = "/usr/local/bin/godfather-login bob";
        const key = await org.certify({ principal: "gf-pod1", forced, keyType: ["-t", ...type.split(" ")] });
        const { code, out, err } = await ssh(address, key, { command: "basename $PWD; echo $GODFATHER_USER; exit 5" });
        assert.deepEqual({ code, out, err }, { code: 5, out: "bob\nbob\n", err: "" }, type);
      }
    }),
});

Deno.test({
  name: "in-process pod refuses keys and certificates that the pod does not trust",
  ignore,
  fn: () =>
    withPod(async ({ org, address, logged }) => {
      const principal = "gf-pod1";
      const cases = {
        "authorized principal": await org.certify({ principal: "gf-pod2" }),
        "has expired": await org.certify({ principal, validity: "20200101:20200102" }),
        "not yet valid": await org.certify({ principal, validity: "+1h:+2h" }),
        "CA of the certificate is not trusted": await org.certify({ principal, ca: await org.newKey("other-ca") }),
        "critical option source-address": await org.certify({ principal, options: ["source-address=10.0.0.0/8"] }),
        "not authorized": await org.newKey("stranger"),
      };
      for (const [reason, key] of Object.entries(cases)) {
        const { code, err } = await ssh(address, key, { command: "id" });
        assert.equal(code, 255, reason);
        assert.match(err, /Permission denied/, reason);
        assert.ok(logged.some((line) => line.includes(reason)), reason);
      }
      const other = await ssh(address, org.backend, { flags: ["-l", "bob"], command: "id" });
      assert.equal(other.code, 255, "another login name than root");
      assert.equal((await ssh(address, org.backend, { command: "id" })).code, 0);
    }),
});

Deno.test({
  name: "in-process pod runs the backend's commands in the pod's folder, binary input included",
  ignore,
  fn: () =>
    withPod(async ({ org, folder, address }) => {
      const bytes = randomBytes(3 * 1024 * 1024);
      const { code, bytes: back } = await ssh(address, org.backend, { command: "cat", input: bytes });
      assert.equal(code, 0);
      assert.ok(bytes.equals(back));
      assert.equal((await ssh(address, org.backend, { command: "pwd" })).out, `${join(folder, "pods", "pod1")}\n`);
      const user = await ssh(address, org.backend, { command: "id -u" });
      assert.equal(user.out, `${Deno.uid() === 0 ? 65534 : Deno.uid()}\n`);
      const killed = await ssh(address, org.backend, { command: "kill -TERM $$" });
      assert.equal(killed.code, 255);
    }),
});

Deno.test({
  name: "in-process pod gives members and officers an interactive shell in their folder",
  ignore,
  fn: () =>
    withPod(async ({ org, address }) => {
      const input = "echo sum$((20 + 22)) $HF_HOME; basename $PWD; exit 3\n";
      const member = await ssh(address, await org.member("pod1", "bob"), { flags: ["-tt"], input });
      assert.equal(member.code, 3);
      assert.match(member.out, /sum42 \/workspace\/hf\r\nbob\r\n/);
      const command = "/usr/local/bin/godfather-login --admin ada";
      const officer = await ssh(address, await org.officer("pod1"), { command, input });
      assert.equal(officer.code, 3);
      assert.equal(officer.out, "sum42 /workspace/hf\nada\n");
    }, { HF_HOME: "/workspace/hf", LD_LIBRARY_PATH: "/nowhere" }),
});

Deno.test({
  name: "in-process host ends what a pod started, keeps the volume and forgets it on request",
  ignore: ignore || Deno.build.os !== "linux",
  fn: () =>
    withPod(async ({ host, org, folder, address }) => {
      const key = await org.member("pod1", "bob");
      const command = "echo text > mine; setsid sleep 86397 >/dev/null 2>&1 </dev/null & echo $!";
      const pid = Number((await ssh(address, key, { command })).out);
      assert.equal(await hasEnded(pid), false);
      await host.stop("pod1", { keepVolume: true });
      assert.equal(await hasEnded(pid), true);
      await assert.rejects(Deno.connect({ hostname: "127.0.0.1", port: address.port }), Deno.errors.ConnectionRefused);

      const again = await host.start({ id: "pod1", image: "test", env: org.env });
      await assert.rejects(host.start({ id: "pod1", image: "test", env: org.env }), /The pod pod1 is running already/);
      assert.equal((await ssh(again, key, { command: "cat mine" })).out, "text\n");
      await host.remove("pod1");
      const fresh = await host.start({ id: "pod1", image: "test", env: org.env });
      assert.equal((await ssh(fresh, key, { command: "cat mine" })).code, 1);
      await host.close();
      await assert.rejects(Deno.lstat(join(folder, "pods")), Deno.errors.NotFound);
    }),
});

Deno.test({
  name: "in-process pod does not follow a link put in place of the members' folder with more rights than the command",
  ignore: ignore || lacks("root"),
  fn: () =>
    withPod(async ({ org, folder, address }) => {
      const outside = join(folder, "outside");
      await Deno.mkdir(outside, { mode: 0o755 });
      await ssh(address, org.backend, { command: `mkdir -p users && ln -s ${outside} users/bob` });
      await ssh(address, await org.member("pod1", "bob"), { command: "touch owned" });
      assert.equal((await Deno.stat(outside)).uid, 0);
      assert.deepEqual([...Deno.readDirSync(outside)], []);
    }),
});
