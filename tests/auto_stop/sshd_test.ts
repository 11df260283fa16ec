/** Idle stops and warnings on pods with a real sshd and real people on them. */
import assert from "node:assert/strict";
import { createWarnTurn } from "../../server/auto_stop/warn.ts";
import { tellTerminals } from "../../server/auto_stop/tell.ts";
import { HOUR, MINUTE, SECOND } from "../../server/clock.ts";
import { eventually } from "../demo/pods_support.ts";
import { type ClockedWorld, ORG, partsOf } from "../pods/support.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { trustingPool } from "../support/ssh_pool.ts";

const worldOf = (scene: Scene) => scene.world as unknown as ClockedWorld;

async function pass(scene: Scene, ms: number): Promise<void> {
  scene.world.clock.advance(ms);
  const answer = await scene.world.call("GET", `${ORG}/pods`, { as: "officer" });
  assert.equal(answer.status, 200, answer.text);
}

function addSession(scene: Scene, now: number, fromMs: number, untilMs: number, started = 1): number {
  return scene.world.db.get<{ id: number }>(
    "insert into compute_sessions (org_id, pod_id, start_at, stop_at, started, created_at) values (1, ?, ?, ?, ?, 0) " +
      "returning id",
    scene.row().id,
    now + fromMs,
    now + untilMs,
    started,
  )!.id;
}

async function connections(scene: Scene): Promise<number> {
  const path = `${ORG}/pods/${scene.podId}/members/connected`;
  return (await scene.world.call("GET", path, { as: "officer" })).json.connections;
}

/** Somebody's terminal that shows a prompt. */
async function terminal(scene: Scene, person: "member" | "officer" | "exOfficer") {
  const ssh = await scene.ssh(person, ["-tt"]);
  await eventually(`${person} has a prompt`, () => Promise.resolve(/[$#] $/.test(ssh.printed())));
  return ssh;
}

const count = (text: string, pattern: RegExp) => [...text.matchAll(new RegExp(pattern, "g"))].length;

Deno.test({
  name: "an idle pod is stopped, one with somebody on it is not, by a session or by a bare connection",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { stops, watch } = scene.world.app.jobs.autoStop;
      const put = { as: "officer" as const, body: { auto_stop_after_minutes: 20, max_run_hours: 0 } };
      assert.equal((await scene.world.call("PUT", `${ORG}/pods/${scene.podId}`, put)).status, 200);
      const phase = () => scene.world.runpod.pods.get(scene.podId).phase;
      const turns = async (minutes: number) => {
        for (let passed = 0; passed < minutes; passed += 5) {
          await pass(scene, 5 * MINUTE);
          await watch();
          await stops.turn();
        }
      };
      const bare = await scene.ssh("member", ["-N"]);
      // A connection without a session counts once it is 15 s old, by the pod's own clock.
      await eventually("the connection is old enough", async () => await connections(scene) === 1);
      await turns(25);
      assert.equal(phase(), "up");
      await bare.end();
      const shell = await terminal(scene, "member");
      await turns(25);
      assert.deepEqual([phase(), scene.row().active_why], ["up", "member was on it"]);
      await shell.end();
      await eventually("the shell is gone", async () => await connections(scene) === 0);
      await turns(15);
      assert.equal(phase(), "up", "it is not idle for long enough");
      await turns(10);
      assert.equal(phase(), "exited");
      const row = scene.world.db.get<{ actor_id: string }>("select actor_id from audit_log where action = 'auto_stop'");
      assert.equal(row?.actor_id, "idle_stop");
    }),
});

Deno.test({
  name: "who comes right before an idle stop keeps the pod up",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { stops, watch } = scene.world.app.jobs.autoStop;
      const put = { as: "officer" as const, body: { auto_stop_after_minutes: 5 } };
      assert.equal((await scene.world.call("PUT", `${ORG}/pods/${scene.podId}`, put)).status, 200);
      await scene.login("member");
      await watch();
      assert.equal(scene.row().active_at, null);
      await terminal(scene, "member");
      await pass(scene, 6 * MINUTE);
      await stops.turn();
      assert.equal(scene.world.runpod.pods.get(scene.podId).phase, "up");
      assert.equal(scene.row().active_why, "member was on it");
    }),
});

Deno.test({
  name: "everybody with a terminal is told 10 and 2 minutes before a session ends, and anew when the stop was moved",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { warn } = scene.world.app.jobs.autoStop;
      const people = [await terminal(scene, "member"), await terminal(scene, "officer")];
      const shown = (pattern: RegExp) => people.map((one) => count(one.printed(), pattern));
      const session = addSession(scene, scene.world.clock.now(), -HOUR, 11 * MINUTE);
      await warn();
      await pass(scene, MINUTE + SECOND);
      await warn();
      await warn();
      await eventually("both are told", () => Promise.resolve(shown(/in 10 minutes/).every((told) => told === 1)));
      const line =
        /\*\*\* orgpods: this pod stops at \d\d:\d\d UTC, in 10 minutes, because its session ends\. [^*]+ \*\*\*/;
      for (const one of people) assert.match(one.printed(), line);
      assert.match(people[0]!.printed(), /All files on it are lost then/);
      await pass(scene, 8 * MINUTE);
      await warn();
      await warn();
      await eventually("both are told again", () => Promise.resolve(shown(/in 2 minutes/).every((told) => told === 1)));
      scene.world.db.run("update compute_sessions set stop_at = stop_at + ? where id = ?", 7 * MINUTE, session);
      await warn();
      await eventually("the new end is told", () => Promise.resolve(shown(/in 9 minutes/).every((told) => told === 1)));
      assert.deepEqual(shown(/\*\*\* orgpods/), [3, 3]);
      // It went on working in both.
      await people[0]!.type("echo still$((1 + 1))here\n");
      await eventually("the shell works", () => Promise.resolve(people[0]!.printed().includes("still2here")));
    }),
});

Deno.test({
  name: "nobody is told when no stop is near, another session follows at once, or the server is paused",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const parts = { ...partsOf(worldOf(scene)), ssh: trustingPool() };
      try {
        let paused: string | null = "x";
        const warn = createWarnTurn({ ...parts, budgetReached: () => false, isPaused: () => paused });
        const shell = await terminal(scene, "member");
        const now = scene.world.clock.now();
        addSession(scene, now, -HOUR, 5 * MINUTE);
        await warn();
        paused = null;
        const next = addSession(scene, now, 15 * MINUTE, HOUR, 0);
        await warn();
        assert.equal(scene.row().warned_stop_at, null);
        scene.world.db.run("update compute_sessions set start_at = start_at + 1 where id = ?", next);
        await warn();
        await eventually("it is told now", () => Promise.resolve(/in 5 minutes/.test(shell.printed())));
        assert.equal(count(shell.printed(), /\*\*\* orgpods/), 1);
      } finally {
        await parts.ssh.close();
      }
    }),
});

Deno.test({
  name: "an idle stop is told to who came since the last look, and put off by that",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const { warn, watch } = scene.world.app.jobs.autoStop;
      const put = { as: "officer" as const, body: { auto_stop_after_minutes: 20 } };
      assert.equal((await scene.world.call("PUT", `${ORG}/pods/${scene.podId}`, put)).status, 200);
      await scene.login("member");
      for (let look = 0; look < 5; look++) {
        await watch();
        if (look < 4) await pass(scene, (look < 3 ? 5 : 3.5) * MINUTE);
      }
      const shell = await terminal(scene, "member");
      await warn();
      await eventually("it is told", () =>
        Promise.resolve(/in \d+ (minute|second)s?, unless it is used/.test(shell.printed())));
      assert.equal(scene.row().active_why, "member was on it");
      await warn();
      assert.equal(count(shell.printed(), /\*\*\* orgpods/), 1);
    }),
});

Deno.test({
  name: "everybody with a terminal is told of a stop although who is on cannot be read",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const people = [await terminal(scene, "member"), await terminal(scene, "officer")];
      await scene.root("printf '#!/bin/sh\\nexit 1\\n' >/usr/local/bin/ps && chmod 755 /usr/local/bin/ps");
      addSession(scene, scene.world.clock.now(), -HOUR, 5 * MINUTE);
      await scene.world.app.jobs.autoStop.warn();
      await eventually("both are told", () =>
        Promise.resolve(people.every((one) => count(one.printed(), /in 5 minutes/) === 1)));
      assert.equal(scene.row().presence_error, "The command on the pod failed");
      const parts = { ...partsOf(worldOf(scene)), ssh: trustingPool() };
      try {
        assert.equal(await tellTerminals(parts, scene.row(), "all", "Hello all"), 2);
      } finally {
        await parts.ssh.close();
      }
    }),
});

Deno.test({
  name: "a terminal that takes nothing does not keep the others from being told",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      const stuck = await terminal(scene, "member");
      const parts = { ...partsOf(worldOf(scene)), ssh: trustingPool() };
      try {
        const free = await terminal(scene, "exOfficer");
        const ttys = (await scene.root("ps -eo tty=,args= | sed -n 's,^\\(pts/[0-9]*\\) *su - godfather_,\\1 ,p'")).out;
        const ttyOf = (name: string) => new RegExp(`^(pts/\\d+) ${name}\\b`, "m").exec(ttys)?.[1] ?? assert.fail(ttys);
        await stuck.type("\x13");
        await eventually("the terminal takes nothing", async () => {
          const { code } = await scene.root(`echo x | timeout -s KILL 1 tee /dev/${ttyOf("member")}`);
          return code !== 0;
        });
        const told = (line: string, ...terminals: string[]) => tellTerminals(parts, scene.row(), terminals, line);
        // One after the other they would take longer than telling may take.
        const stuckOnes = Array.from({ length: 6 }, () => ttyOf("member"));
        assert.equal(await told("Hello all", ...stuckOnes, ttyOf("exofficer"), "pts/999"), 1);
        await eventually(
          "the other one is told",
          () => Promise.resolve(/\*\*\* Hello all \*\*\*/.test(free.printed())),
        );
        assert.equal(
          (await scene.root("ps -eo args | grep -c '^tee /dev/pt[s]'")).out.trim(),
          "0",
          "nothing is left behind",
        );
        // What is no terminal is never written to.
        const odd = ["pts/../../workspace/x", "$(touch /workspace/x)", "pts/1;touch /workspace/x", "-x", ""];
        assert.equal(await told("Hello again", ...odd), 0);
        assert.notEqual((await scene.root("ls /workspace/x")).code, 0);
        const hostile = "'; touch /workspace/x; echo '$(touch /workspace/x)`touch /workspace/x`%s\\n";
        assert.equal(await told(hostile, ttyOf("exofficer")), 1);
        await eventually("it is told as it is", () => Promise.resolve(free.printed().includes(hostile)));
        assert.notEqual((await scene.root("ls /workspace/x")).code, 0);
      } finally {
        await parts.ssh.close();
      }
    }),
});
