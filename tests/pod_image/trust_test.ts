import assert from "node:assert/strict";
import { join } from "node:path";
import { mustRun, ssh, withSshdPod } from "../demo/pods_support.ts";
import { asRoot, ignorePods } from "./support.ts";

/** As a pod is before the server has been there. */
const UNTRUSTED = { GODFATHER_TRUST_CA_AT_START: "" };

Deno.test({
  name: "pod image refuses valid certificates until the CA is delivered, and lets the backend's key in",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const [member, officer] = [await org.member("pod1", "bob"), await org.officer("pod1")];
      for (const key of [member, officer]) {
        const { code, err } = await ssh(address, key, { command: "id" });
        assert.equal(code, 255);
        assert.match(err, /Permission denied \(publickey\)/);
      }
      assert.equal(
        await asRoot(address, org, "wc -c </etc/ssh/godfather_revoked; wc -c </etc/ssh/godfather_user_ca.pub"),
        "0\n0\n",
      );

      const ca = await Deno.readTextFile(join(org.folder, "ca.pub"));
      await ssh(address, org.backend, { command: "cat >/etc/ssh/godfather_user_ca.pub", input: ca });
      assert.equal((await ssh(address, member, { command: "id -un" })).out, "godfather_bob\n");
      assert.equal((await ssh(address, officer, { command: "id -un" })).out, "root\n");
    }, UNTRUSTED),
});

Deno.test({
  name: "pod image refuses a revoked certificate from the first moment when the list comes before the CA",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address, folder }) => {
      const [revoked, other] = [await org.member("pod1", "eve"), await org.member("pod1", "bob")];
      const list = join(folder, "krl");
      await mustRun("ssh-keygen", "-q", "-k", "-f", list, `${revoked}-cert.pub`);
      const put = async (path: string, from: string) => {
        const command = `cat >${path}.new && mv ${path}.new ${path}`;
        const { code } = await ssh(address, org.backend, { command, input: await Deno.readFile(from) });
        assert.equal(code, 0);
      };
      const isRefused = async () => assert.equal((await ssh(address, revoked, { command: "id" })).code, 255);
      await isRefused();
      await put("/etc/ssh/godfather_revoked", list);
      await isRefused();
      await put("/etc/ssh/godfather_user_ca.pub", join(org.folder, "ca.pub"));
      await isRefused();
      assert.equal((await ssh(address, other, { command: "id -un" })).out, "godfather_bob\n");
    }, UNTRUSTED),
});

Deno.test({
  name: "pod image trusts the CA from the start only when that is asked for",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ host, org, address }) => {
      const key = await org.member("pod1", "bob");
      assert.equal((await ssh(address, key, { command: "id -un" })).out, "godfather_bob\n");
      await host.stop("pod1", { keepVolume: true });
      const env = { ...org.env, GODFATHER_TRUST_CA_AT_START: "yes" };
      const again = await host.start({ id: "pod1", image: "test", env });
      assert.equal((await ssh(again, key, { command: "id -un" })).code, 255);
    }, { GODFATHER_TRUST_CA_AT_START: "true" }),
});
