/** The main job, with real programs: `orgpods demo` as a process, ssh-keygen, ssh, scp, sftp, and the pods' own sshd. */
import assert from "node:assert/strict";
import { MEMBER, OFFICER } from "../../server/demo/people.ts";
import { run, ssh, sshOptions, withFolder } from "../demo/pods_support.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { askToConnect, connected, fingerprintOf, listingOf, newKey, type SshInfo } from "../support/ssh_client.ts";
import { until } from "../support/sshd.ts";

const ignore = lacks("ssh", "ssh-keygen", "scp", "sftp", "sshd", "root");
const FIVE_MINUTES = 5 * 60_000;
const TWELVE_HOURS = 12 * 3_600_000;

interface Scene {
  readonly demo: DemoProcess;
  readonly podId: string;
  /** For keys and files of the test. */
  readonly folder: string;
}

async function withScene(use: (scene: Scene) => Promise<void>): Promise<void> {
  await withFolder((folder) => withDemo((demo) => use({ demo, podId: demo.facts.pod_id, folder })));
}

const infoOf = (answer: { readonly json: { ssh_info: SshInfo } }): SshInfo => answer.json.ssh_info;

/** A new key of somebody, with a certificate for the pod beside it. */
async function login({ demo, podId, folder }: Scene, name: string, token: string) {
  const key = await newKey(folder, name);
  return { key, at: infoOf(await connected(demo, podId, token, key)) };
}

Deno.test({
  name: "connect gives member and officer the certificate of the contract when each sends a new key",
  ignore,
  fn: () =>
    withScene(async ({ demo, podId, folder }) => {
      const { member, officer } = demo.facts;
      const mine = await demo.call("GET", "/me/pods", member.token);
      assert.equal(mine.status, 200);
      assert.deepEqual(
        mine.json.pods.map((pod: Record<string, unknown>) => [pod.id, pod.name, pod.status, pod.is_public]),
        [[podId, "workshop", "RUNNING", true]],
      );
      const [ca] = demo.rows("select public_key from compute_keys where kind = 'user_ca' and retired_at is null");
      await Deno.writeTextFile(`${folder}/ca.pub`, `${ca!.public_key}\n`);
      const caFingerprint = await fingerprintOf(`${folder}/ca.pub`);
      const serials = new Set<string>();

      const check = async (token: string, expected: {
        readonly keyId: string;
        readonly userFolder: string;
        readonly isAdmin: boolean;
        readonly criticalOptions: string[];
        readonly extensions: string[];
      }) => {
        const key = await newKey(folder, expected.userFolder);
        const before = Date.now();
        const answer = await connected(demo, podId, token, key);
        const after = Date.now();
        const info = infoOf(answer);
        assert.deepEqual(
          { ...info, port: 0, certificate: "" },
          {
            host: "127.0.0.1",
            port: 0,
            username: "root",
            user_folder: expected.userFolder,
            is_admin: expected.isAdmin,
            certificate: "",
          },
        );
        assert.match(info.certificate, /^ssh-ed25519-cert-v01@openssh\.com [A-Za-z0-9+/=]+$/);
        assert.deepEqual(answer.json.warnings, []);
        assert.equal(answer.json.stale, false);

        const listing = await listingOf(`${key}-cert.pub`);
        const { from, to, serial, ...rest } = listing;
        assert.deepEqual(rest, {
          type: "ssh-ed25519-cert-v01@openssh.com user certificate",
          keyId: expected.keyId,
          signedBy: caFingerprint,
          subject: await fingerprintOf(`${key}.pub`),
          principals: [`gf-${podId}`],
          criticalOptions: expected.criticalOptions,
          extensions: expected.extensions,
        });
        // A certificate has whole seconds, so both ends may lie a second before the exact ones.
        assert.ok(from >= before - FIVE_MINUTES - 1_000 && from <= after - FIVE_MINUTES, `starts ${new Date(from)}`);
        assert.ok(to >= before + TWELVE_HOURS - 1_000 && to <= after + TWELVE_HOURS, `ends ${new Date(to)}`);
        assert.equal(Date.parse(answer.json.valid_before), to);

        assert.notEqual(BigInt(serial), 0n);
        assert.equal(serial, answer.json.serial);
        assert.ok(!serials.has(serial), "a serial is never given twice");
        serials.add(serial);
        const stored = demo.rows("select discord_id, is_admin from compute_connections where serial = ?", serial);
        assert.deepEqual(stored.map((row) => ({ ...row })), [
          { discord_id: expected.keyId.split(":")[1], is_admin: expected.isAdmin ? 1 : 0 },
        ]);
      };

      await check(member.token, {
        keyId: `discord:${MEMBER.id}:mo.member`,
        userFolder: "mo.member",
        isAdmin: false,
        criticalOptions: ["force-command /usr/local/bin/godfather-login mo.member"],
        extensions: ["permit-port-forwarding", "permit-pty"],
      });
      await check(officer.cli_token, {
        keyId: `discord:${OFFICER.id}:olivia`,
        userFolder: "olivia",
        isAdmin: true,
        criticalOptions: [],
        extensions: ["permit-agent-forwarding", "permit-port-forwarding", "permit-pty"],
      });
    }),
});

Deno.test({
  name: "ssh lets a member into their own account and folder only, and an officer in as root, when they connect",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      const { member, officer } = scene.demo.facts;
      const ann = await scene.demo.addMember("200000000000000100", "ann");
      const mo = await login(scene, "mo", member.token);
      const other = await login(scene, "ann", ann.token);
      const boss = await login(scene, "boss", officer.cli_token);

      const who = await ssh(mo.at, mo.key, { command: "id -un; id -u; pwd; stat -c '%U %a' .; echo mine >secret" });
      assert.deepEqual([who.code, who.err], [0, ""]);
      const [account, uid, ...place] = who.out.trim().split("\n");
      assert.equal(account, "godfather_mo.member");
      assert.notEqual(uid, "0");
      assert.deepEqual(place, ["/workspace/users/mo.member", "godfather_mo.member 700"]);

      const peeks = [
        "cat /workspace/users/mo.member/secret",
        "ls /workspace/users/mo.member",
        "rm -rf /workspace/users/mo.member",
      ];
      for (const command of peeks) {
        const peek = await ssh(other.at, other.key, { command });
        assert.notEqual(peek.code, 0, command);
        assert.equal(peek.out, "", command);
        assert.match(peek.err, /Permission denied/, command);
      }
      // What the officer's client asks for does not make a member root: the certificate forces the login program.
      const climb = await ssh(other.at, other.key, {
        command: "/usr/local/bin/godfather-login --admin mo.member",
        input: "id -u; cat secret\n",
      });
      assert.notEqual(climb.code, 0);
      assert.doesNotMatch(climb.out, /^(0|mine)$/m);

      const root = await ssh(boss.at, boss.key, { command: "id -u; cat /workspace/users/mo.member/secret" });
      assert.deepEqual([root.code, root.out], [0, "0\nmine\n"]);
      const shell = await ssh(boss.at, boss.key, {
        command: `/usr/local/bin/godfather-login --admin ${boss.at.user_folder}`,
        input: 'echo "$(id -un) in $(pwd)"\nexit\n',
      });
      assert.equal(shell.code, 0);
      assert.match(shell.out, /^root in \/workspace\/users\/olivia$/m);
    }),
});

Deno.test({
  name: "scp and sftp carry a member's files both ways unchanged when they have a certificate",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      const { key, at } = await login(scene, "mo", scene.demo.facts.member.token);
      const local = `${scene.folder}/data.bin`;
      // Every byte value, and more than one SSH packet and window.
      const bytes = Uint8Array.from({ length: 3_000_000 }, (_, index) => index * index >> 3);
      await Deno.writeFile(local, bytes);
      const options = sshOptions(at, key, "-P");
      const target = `root@${at.host}`;

      const put = await run("scp", [...options, local, `${target}:by-scp.bin`]);
      assert.deepEqual([put.code, put.err], [0, ""]);
      const legacy = await run("scp", ["-O", ...options, `${target}:by-scp.bin`, `${scene.folder}/back1.bin`]);
      assert.deepEqual([legacy.code, legacy.err], [0, ""]);
      const batch = `put ${local} by-sftp.bin\nget by-sftp.bin ${scene.folder}/back2.bin\n`;
      const sftp = await run("sftp", [...options, "-b", "-", target], batch);
      assert.deepEqual([sftp.code, sftp.err], [0, ""]);
      for (const back of ["back1.bin", "back2.bin"]) {
        assert.deepEqual(await Deno.readFile(`${scene.folder}/${back}`), bytes, back);
      }
      const owners = await ssh(at, key, { command: "stat -c '%U %n' *.bin | sort" });
      assert.equal(owners.out, "godfather_mo.member by-scp.bin\ngodfather_mo.member by-sftp.bin\n");
    }),
});

Deno.test({
  name: "connect serves RSA and ECDSA keys too, and refuses what is no public key, when a member sends them",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      const { demo, podId, folder } = scene;
      const { token } = demo.facts.member;
      for (const type of [["rsa", "2048"], ["ecdsa", "256"], ["ecdsa", "384"], ["ecdsa", "521"]]) {
        const key = await newKey(folder, type.join("-"), type);
        const at = infoOf(await connected(demo, podId, token, key));
        const { code, out, err } = await ssh(at, key, { command: "id -un" });
        assert.deepEqual([code, out, err], [0, "godfather_mo.member\n", ""], type.join(" "));
      }
      const secret = await Deno.readTextFile(await newKey(folder, "private"));
      for (const wrong of [secret, "ssh-ed25519 AAAA", "", null, 7]) {
        const { status, json } = await demo.call("POST", `/me/pods/${podId}/connect`, token, { public_key: wrong });
        assert.deepEqual([status, json.code], [400, "invalid_request"]);
        assert.match(json.error, /^A valid SSH public key is required/);
      }
    }),
});

Deno.test({
  name: "connect lets twelve members in, each with an account of their own, when they come at once",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      const names = Array.from({ length: 12 }, (_, index) => `guest${index + 1}`);
      const people = await Promise.all(
        names.map((name, index) => scene.demo.addMember(`2000000000000002${String(index).padStart(2, "0")}`, name)),
      );
      const seen = await Promise.all(people.map(async ({ token }, index) => {
        const { key, at } = await login(scene, names[index]!, token);
        const { code, out, err } = await ssh(at, key, { command: "id -u; id -un; pwd; stat -c '%U %a' ." });
        assert.deepEqual([code, err], [0, ""]);
        return out.trim().split("\n");
      }));
      assert.deepEqual(
        seen.map(([, ...rest]) => rest),
        names.map((name) => [`godfather_${name}`, `/workspace/users/${name}`, `godfather_${name} 700`]),
      );
      assert.equal(new Set(seen.map(([uid]) => uid)).size, names.length, "each has a uid of their own");
      assert.ok(seen.every(([uid]) => uid !== "0"));
    }),
});

Deno.test({
  name: "connect answers 409 while the pod is stopped, and leads to its new address, when an officer starts it again",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      const { demo, podId } = scene;
      const { member } = demo.facts;
      const before = await login(scene, "before", member.token);
      await demo.act("stop");
      const listed = async () => (await demo.call("GET", "/me/pods", member.token)).json.pods.length;
      await until(async () => await listed() === 0, "the stopped pod leaves the list");
      const refused = await askToConnect(demo, podId, member.token, before.key);
      assert.deepEqual([refused.status, refused.json.code], [409, "pod_not_running"]);
      assert.equal(refused.json.error, "Pod is not running");
      assert.equal((await ssh(before.at, before.key, { command: "true" })).code, 255);

      await demo.act("start");
      let again = await askToConnect(demo, podId, member.token, before.key);
      await until(
        async () => {
          again = await askToConnect(demo, podId, member.token, before.key);
          return again.status === 200;
        },
        "connect works again",
      );
      const after = await login(scene, "after", member.token);
      assert.notEqual(after.at.port, before.at.port);
      const { code, out } = await ssh(after.at, after.key, { command: "id -un" });
      assert.deepEqual([code, out], [0, "godfather_mo.member\n"]);
    }),
});

Deno.test({
  name: "connect answers 403 when the caller has left the Discord server",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      const { demo, podId, folder } = scene;
      const key = await newKey(folder, "key");
      const ann = await demo.addMember("200000000000000100", "ann");
      const ben = await demo.addMember("200000000000000101", "ben");
      const gone = { status: 403, code: "not_a_member", error: "You are no longer a member of this organization" };
      const connect = async (token: string) => {
        const { status, json } = await askToConnect(demo, podId, token, key);
        return status === 200 ? { status } : { status, code: json.code, error: json.error };
      };

      // Nobody asked about ben before, so it is known at once that he left.
      await demo.leave(ben.discord_id);
      assert.deepEqual(await connect(ben.token), gone);

      // What Discord said about ann is kept for up to 60 s: until then she is let in, as the contract has it. The
      // operator's check of the org drops what is kept.
      assert.deepEqual(await connect(ann.token), { status: 200 });
      await demo.leave(ann.discord_id);
      assert.deepEqual(await connect(ann.token), { status: 200 });
      const checked = await demo.operator("POST", `/api/operator/orgs/${demo.facts.org}/check`);
      assert.equal(checked.status, 200);
      assert.deepEqual(await connect(ann.token), gone);
      const mine = await demo.call("GET", "/me/pods", ann.token);
      assert.deepEqual([mine.status, mine.json.code], [403, "not_a_member"]);
    }),
});
