/** A hostile pod: its root gives sshd another host key while it runs. */
import assert from "node:assert/strict";
import { startDemo } from "../../server/demo/start.ts";
import { silentLog } from "../../server/log.ts";
import { ssh, withFolder } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";
import { newKey, publicLineOf, saveCertificate } from "../support/ssh_client.ts";

const NEW_HOST_KEY = "rm /etc/ssh/ssh_host_*; ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key; " +
  "kill -HUP $(pgrep -o -x sshd)";

Deno.test("no certificate is given for a pod whose host key changed within one start, and officers see it", {
  ignore: lacks("ssh", "ssh-keygen", "sshd", "root"),
}, () =>
  withFolder(async (folder) => {
    let offset = 0;
    const clock = { now: () => Date.now() + offset };
    const demo = await startDemo({ port: 0, log: silentLog, clock });
    const { url, org, pod_id, member, officer, runpod_url, demo_secret } = demo.facts;
    const call = async (method: string, path: string, token: string, body?: unknown) => {
      const answer = await fetch(`${url}/api/compute/${org}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, json: await answer.json() };
    };
    const connect = async (token: string, key: string) =>
      await call("POST", `/me/pods/${pod_id}/connect`, token, { public_key: await publicLineOf(key) });
    try {
      const key = await newKey(folder, "officer");
      const first = await connect(officer.cli_token, key);
      assert.equal(first.status, 200);
      const { certificate, host, port } = first.json.ssh_info;
      await saveCertificate(key, certificate);
      assert.equal((await ssh({ host, port }, key, { command: NEW_HOST_KEY })).code, 0);

      offset += 31_000; // The last handshake no longer counts as proof; an open connection must not count either.
      for (const token of [member.token, officer.cli_token]) {
        const refused = await connect(token, key);
        assert.deepEqual([refused.status, refused.json.code], [502, "host_key_changed"]);
      }
      const kinds = async () =>
        (await call("GET", "/attention", officer.token)).json.attention.map((entry: { kind: string }) => entry.kind);
      assert.deepEqual(await kinds(), ["host_key_changed"]);

      // A hiccup of RunPod in between changes nothing about it.
      const faults = { method: "POST", headers: { "x-demo-secret": demo_secret, "content-type": "application/json" } };
      const on = await fetch(`${runpod_url}/_demo/faults`, {
        ...faults,
        body: JSON.stringify({ fault: "F32", variant: "empty-503", times: 3, on: "GET /pods/{id}" }),
      });
      assert.ok(on.ok, await on.text());
      offset += 2_000;
      assert.equal((await connect(member.token, key)).json.code, "host_key_changed");
      offset += 2_000;
      assert.equal((await connect(member.token, key)).json.code, "host_key_changed");
      assert.deepEqual(await kinds(), ["host_key_changed"]);
    } finally {
      await demo.close();
    }
  }));
