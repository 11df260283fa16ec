/** Who is on a pod, read from a real sshd with real people on it. */
import assert from "node:assert/strict";
// @ts-types="npm:@types/ssh2@1.15.6"
import ssh2 from "ssh2";
import { parseWalk } from "../../server/presence/parse.ts";
import { readPresence } from "../../server/presence/read.ts";
import { WALK } from "../../server/presence/script.ts";
import { eventually } from "../demo/pods_support.ts";
import { type ClockedWorld, ORG, partsOf } from "../pods/support.ts";
import { trustingPool } from "../support/ssh_pool.ts";
import { PEOPLE } from "../support/world.ts";
import { ignoreScene, type Scene, withScene } from "./scene.ts";

/** The parts of the world with a pool that trusts every pod. */
async function withParts(
  scene: Scene,
  use: (parts: ReturnType<typeof partsOf>) => Promise<void>,
): Promise<void> {
  const ssh = trustingPool();
  try {
    await use({ ...partsOf(scene.world as unknown as ClockedWorld), ssh });
  } finally {
    await ssh.close();
  }
}

/** A command may be this long. */
const LONG = "x".repeat(20_000);

const connected = async (scene: Scene) => {
  const path = `${ORG}/pods/${scene.podId}/members/connected`;
  const answer = await scene.world.call("GET", path, { as: "officer" });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
};

Deno.test({
  name: "connected tells members and officers apart, by name, the longest first, and leaves the server itself out",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await eventually("the pod is set up", async () => (await connected(scene)).clock_offset_seconds !== null);
      const empty = await connected(scene);
      assert.deepEqual({ ...empty, clock_offset_seconds: 0 }, {
        pod_id: scene.podId,
        clock_offset_seconds: 0,
        state: "known",
        reason: null,
        sessions: [],
        connections: 0,
        certificates: [],
      });
      await scene.ssh("member", ["-tt"]);
      await eventually("the member is on", async () => (await connected(scene)).sessions.length === 1);
      await scene.ssh("officer", ["-tt"]);
      await scene.ssh("exOfficer", [], "sleep 60");
      await eventually("all are on", async () => (await connected(scene)).sessions.length === 3);
      const { sessions, connections } = await connected(scene);
      assert.equal(connections, 3);
      const people = sessions.map((one: Record<string, unknown>) =>
        `${one.username} ${one.discord_id} ${one.name} ${one.is_admin}`
      );
      assert.deepEqual(people.toSorted(), [
        `exofficer ${PEOPLE.exOfficer} exOfficer false`,
        `member ${PEOPLE.member} member false`,
        `officer ${PEOPLE.officer} officer true`,
      ]);
      const seconds: number[] = sessions.map((one: { seconds: number }) => one.seconds);
      assert.deepEqual(seconds, seconds.toSorted((a, b) => b - a));
      assert.ok(seconds.every((value) => Number.isInteger(value) && value >= 0 && value < 600));
    }),
});

Deno.test({
  name: "a connection without a session counts after its login, and one before its login does not",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { host, port } = scene.row();
      const halfway = await Deno.connect({ hostname: host!, port: port! });
      // This one has said who it is and is asked for a proof, which never comes.
      const unproved = new ssh2.Client();
      const isOver = new Promise<void>((resolve) => unproved.once("close", () => resolve()));
      const isAsked = new Promise<unknown>((resolve) => {
        unproved.on("error", resolve).connect({
          host: host!,
          port: port!,
          username: "root",
          authHandler: (methods: readonly string[] | null, _partial: boolean, next: (method: "none") => void) =>
            methods === null ? next("none") : resolve(methods),
        });
      });
      const ssh = trustingPool();
      try {
        assert.ok(Array.isArray(await isAsked));
        await withParts(scene, async ({ keys }) => {
          const privateKey = keys.backendPrivateKey(1);
          const target = { podKey: "p", startKey: "s", host: host!, port: port!, privateKey };
          const walk = async (young: number) => {
            const { stdout } = await ssh.exec(target, "exec /bin/sh -s", { stdin: WALK, deadlineMs: 60_000 });
            return parseWalk(new TextDecoder().decode(stdout), young);
          };
          // The program has connections of its own, which are somebody else's for this one.
          const others = (await walk(0))!.connections;
          const bare = await scene.ssh("member", ["-N"]);
          await eventually("the bare connection counts", async () => (await walk(0))?.connections === others + 1);
          assert.deepEqual((await walk(0))?.sessions, []);
          assert.equal((await walk(999))?.connections, others, "but not while it is young");
          await bare.end();
          await eventually("it is gone", async () => (await walk(0))?.connections === others);
        });
      } finally {
        halfway.close();
        unproved.destroy();
        await isOver;
        await ssh.close();
      }
    }),
});

Deno.test({
  name: "a member can neither hide others nor look like somebody else, whatever they call their processes",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const forge = [
        "exec -a 'su - godfather_ghost' sleep 50",
        "exec -a 'bash --rcfile /etc/godfather/admin.bashrc -i' sleep 51",
        "exec -a 'sshd: root@notty' sleep 52",
        "exec -a 'sshd: root [net]' sleep 53",
        "exec -a $'x\\nssh 1 99 root@notty\\nend 5' sleep 54",
        "exec -a \"$(head -c 100000 /dev/zero | tr '\\\\0' a)\" sleep 55",
      ];
      const command = `${forge.map((one) => `(${one}) & `).join("")} wait`;
      await scene.ssh("exOfficer", ["-tt"]);
      await scene.ssh("member", [], command);
      await eventually("both are on, and all is forged", async () => {
        const forged = /^su - godfather_ghost 50$|^bash --rcfile .* 51$|^sshd: root@notty 52$|^sshd: root .net. 53$/gm;
        const { out } = await scene.root("ps -eo args");
        return (await connected(scene)).sessions.length === 2 && out.match(forged)?.length === 4;
      });
      const { sessions, connections } = await connected(scene);
      assert.deepEqual(sessions.map((one: { username: string }) => one.username).toSorted(), ["exofficer", "member"]);
      assert.equal(connections, 2);
    }),
});

Deno.test({
  name: "the walk leaves out what members start, so that they cannot make it long, and cuts what it reads",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const named = `(exec -a "$(head -c 100000 /dev/zero | tr '\\0' a)" sleep 77) &`;
      await scene.ssh("member", [], `for n in 1 2 3 4 5 6 7 8 9; do ${named} done; wait # ${LONG}`);
      await eventually("the member is on", async () => (await connected(scene)).sessions.length === 1);
      const ps = "/usr/local/bin/ps";
      const kept = `printf "%s\\n" "$@" >/root/asked; exec /usr/bin/ps "$@" | tee /root/printed`;
      await scene.root(`printf '%s\\n' '#!/bin/sh' '${kept}' >${ps} && chmod 755 ${ps}`);
      assert.equal((await connected(scene)).sessions[0]?.username, "member");
      const asked = (await scene.root("tail -n 1 /root/asked")).out.trim().split(",");
      const pids = async (user: string) => (await scene.root(`/usr/bin/ps -o pid= -u ${user}`)).out.match(/\d+/g) ?? [];
      const members = await pids("godfather_member");
      assert.ok(members.length > 9);
      assert.ok(members.filter((pid) => asked.includes(pid)).length <= 1, "only what root's own su started");
      assert.ok(asked.includes("1"));
      const printed = (await scene.root("cat /root/printed")).out.split("\n");
      assert.ok(printed.some((line) => line.includes("su - godfather_member")));
      assert.ok(printed.every((line) => line.length <= 400), `${Math.max(...printed.map((line) => line.length))}`);
    }),
});

Deno.test({
  name: "what outlives its connection is no presence",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const ssh = await scene.ssh("member", [], "trap '' HUP TERM; setsid sleep 60 & sleep 60");
      await eventually("the member is on", async () => (await connected(scene)).sessions.length === 1);
      await scene.root("setsid su - godfather_member -c 'sleep 61' </dev/null >/dev/null 2>&1 &");
      await ssh.end();
      await eventually("nobody is on", async () => {
        const { sessions, connections } = await connected(scene);
        return sessions.length === 0 && connections === 0;
      });
      const { out } = await scene.root("ps -eo args");
      assert.match(out, /^sleep 60/m);
      assert.match(out, /^su - godfather_member -c sleep 61/m);
    }),
});

Deno.test({
  name: "readPresence says why it is not known: no login program, a broken ps, too much output, a pod that hangs",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await withParts(scene, async (parts) => {
        const reason = async (deadlineMs = 20_000) => {
          const presence = await readPresence(parts, scene.row(), deadlineMs);
          return presence.state === "unknown" ? presence.reason : null;
        };
        assert.equal(await reason(), null);
        const ps = "/usr/local/bin/ps";
        const put = (script: string) =>
          scene.root(`printf '#!/bin/sh\\n%s\\n' '${script}' >${ps}.new && chmod 755 ${ps}.new && mv ${ps}.new ${ps}`);
        await put("exit 1");
        assert.equal(await reason(), "The command on the pod failed");
        await put("while :; do echo 1 0 0 9 pts/0 sshd: root@notty; done");
        assert.equal(await reason(1_500), "The command on the pod failed");
        await put("sleep 60");
        assert.equal(await reason(1_500), "The command on the pod failed");
        await scene.root(`rm ${ps}; chmod 644 /usr/local/bin/godfather-login`);
        const why = "The pod image has no godfather-login, so its sessions cannot be read";
        assert.equal(await reason(), why);
        const { clock_offset_seconds: _, ...rest } = await connected(scene);
        assert.deepEqual(rest, {
          pod_id: scene.podId,
          state: "unknown",
          reason: why,
          sessions: [],
          connections: null,
          certificates: [],
        });
      });
    }),
});
