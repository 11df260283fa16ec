/** Access that is taken away from the shell. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { GUILD, MEMBER, OFFICER } from "../../server/demo/people.ts";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { silentLog } from "../../server/log.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { sshOptions, withFolder, withHost } from "../demo/pods_support.ts";
import { ignoreScene } from "../presence/scene.ts";
import { type Server, untilTrue } from "../support/server_process.ts";
import { newKey, publicLineOf, saveCertificate } from "../support/ssh_client.ts";
import { type Bench, withOrg } from "./bench.ts";

const issue = (bench: Bench, discordId: string) =>
  bench.must(["token", "issue", "--kind", "cli", "--discord-id", discordId]);

const connect = (server: Server, token: string, pod: string, public_key: string) =>
  server.call("POST", `/api/compute/demo/me/pods/${pod}/connect`, { token, body: { public_key } });

Deno.test("pod disconnect, org block, unblock, blocked and removals say what was taken and what is left", async () => {
  await withOrg(async (bench, server) => {
    const pod = await bench.must(["pod", "create", "--cpu", "--name", "lab-1", "--allow", MEMBER.id]);
    await untilTrue("the pod runs", async () => (await bench.must(["pod", "list"])).includes("RUNNING"));
    const line = publicLine(generateKeyPair().publicKey, "laptop");
    const [member, officer] = [await issue(bench, MEMBER.id), await issue(bench, OFFICER.id)];
    const both = async () => {
      for (const token of [member, officer]) {
        await untilTrue("a certificate is given", async () => (await connect(server, token, pod, line)).status === 200);
      }
    };
    assert.equal((await bench.orgpods(["org", "removals"])).stderr, "No access was taken away.\n");
    assert.equal((await bench.orgpods(["org", "blocked"])).stderr, "Nobody is blocked.\n");
    await both();

    const done = await bench.orgpods(["pod", "disconnect", pod, MEMBER.id]);
    assert.deepEqual([done.code, done.stdout], [0, "open\n"], done.stderr);
    assert.match(done.stderr, new RegExp(`^${MEMBER.id}: Left: The pod has not the revocation list: `, "m"));
    assert.match(done.stderr, /^Who may use the pod can come back with a new certificate: --block keeps them off\.$/m);
    await both();
    const blocked = await bench.orgpods(["pod", "disconnect", pod, MEMBER.id, "--block"]);
    assert.match(
      blocked.stderr,
      new RegExp(`^${MEMBER.id} is kept off it: orgpods org unblock ${MEMBER.id} --pod`, "m"),
    );
    assert.equal((await connect(server, member, pod, line)).status, 403);
    const table = await bench.must(["org", "blocked"]);
    assert.match(table, new RegExp(`^${MEMBER.id} +${pod} +20\\d\\d-.* -$`, "m"));
    assert.equal(await bench.must(["org", "unblock", MEMBER.id, "--pod", pod]), MEMBER.id);

    const kept = await bench.orgpods(["org", "block", OFFICER.id]);
    assert.deepEqual([kept.code, kept.stdout], [5, ""]);
    assert.match(kept.stderr, /They are an officer: take the role in Discord first/);
    bench.standins.discord.world.setRoles(GUILD, OFFICER.id, []);
    const root = await bench.orgpods(["org", "block", OFFICER.id, "--reason", "moved away"]);
    assert.deepEqual([root.code, root.stdout], [0, `${OFFICER.id}\n`]);
    assert.match(root.stderr, new RegExp(`^${OFFICER.id}: They had root on the pod, .*RunPod key`, "m"));
    const answer = JSON.parse(await bench.must(["org", "blocked", "--json"])).blocked;
    assert.deepEqual([answer[0].discord_id, answer[0].reason, answer[0].pod_id], [OFFICER.id, "moved away", null]);
    const removals = await bench.orgpods(["org", "removals", "--limit", "5"]);
    assert.match(
      removals.stdout,
      new RegExp(`^20\\S+ \\S+ +${MEMBER.id} +${pod} +all +.*open +They were blocked`, "m"),
    );
    assert.match(removals.stderr, new RegExp(`^${OFFICER.id} on ${pod}: They had root on the pod`, "m"));
    assert.equal(JSON.parse(await bench.must(["org", "removals", "--json"])).removals.length, 2);
    const shown = await bench.orgpods(["pod", "access", pod, "--remove", MEMBER.id]);
    assert.equal(shown.code, 0);

    const wrong: [string[], number][] = [
      [["pod", "disconnect", pod, "me"], 2],
      [["pod", "disconnect", pod, "a/b"], 2],
      [["pod", "disconnect", "nosuch", MEMBER.id], 3],
      [["org", "block", "123"], 2],
      [["org", "block", MEMBER.id, "--pod", "nosuch"], 3],
      [["org", "unblock", MEMBER.id], 2],
      [["org", "removals", "--limit", "0"], 2],
    ];
    for (const [args, code] of wrong) {
      const refused = await bench.orgpods(args);
      assert.deepEqual([refused.code, refused.stdout], [code, ""], args.join(" "));
    }
  });
});

Deno.test({
  name: "pod connected shows connections by certificate, and pod access says what became of who was taken off the list",
  ignore: ignoreScene,
  fn: () =>
    withFolder(async (folder) => {
      const host = createSshdHost({ folder: join(folder, "pods"), flavour: "orgpods", log: silentLog });
      await withHost(host, () =>
        withOrg(async (bench, server) => {
          const pod = await bench.must(["pod", "create", "--cpu", "--name", "lab-1", "--allow", MEMBER.id]);
          const key = await newKey(folder, "member");
          const token = await issue(bench, MEMBER.id);
          const line = await publicLineOf(key);
          const given = await untilTrue("a certificate is given", async () => {
            const answer = await connect(server, token, pod, line);
            return answer.status === 200 ? answer : null;
          });
          const at = given.json.ssh_info;
          await saveCertificate(key, at.certificate);
          const args = [...sshOptions(at, key), "-tt", `root@${at.host}`];
          const ssh = new Deno.Command("ssh", { args, stdin: "piped", stdout: "null", stderr: "null" }).spawn();
          try {
            const on = await untilTrue("they are on", async () => {
              const shown = await bench.orgpods(["pod", "connected", pod]);
              return /CONNECTION OF/.test(shown.stdout) && /USER/.test(shown.stdout) ? shown : null;
            });
            assert.match(on.stdout, new RegExp(`^${at.user_folder} .*member +0 +${given.json.serial}$`, "m"));
            assert.equal(on.stderr, "1 SSH connections, 1 sessions.\n");
            const off = await bench.orgpods(["pod", "access", pod, "--remove", MEMBER.id]);
            assert.equal(off.code, 0, off.stderr);
            assert.match(
              off.stderr,
              new RegExp(`^warning: ${MEMBER.id}: Their certificates are refused on the pod\\. 1 SSH connection`, "m"),
            );
            assert.equal((await bench.orgpods(["pod", "connected", pod])).stderr, "0 SSH connections, 0 sessions.\n");
          } finally {
            await ssh.stdin.close();
            await ssh.status;
          }
        }, { podHost: host, timings: { provisioningMs: 0, startingMs: 0, addressMs: 0 } }));
    }),
});
