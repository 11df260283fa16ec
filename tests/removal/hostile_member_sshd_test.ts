/** Members who work against their own removal with what an account on a pod can do. */
import assert from "node:assert/strict";
import { eventually } from "../demo/pods_support.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { endScript, parseEnded } from "../../server/removal/script.ts";
import { lacks } from "../support/needs.ts";
import { PEOPLE } from "../support/world.ts";
import { connected, disconnect, list, livesOn, processesOf } from "./scene.ts";

const ignore = ignoreScene || lacks("perl");

/** Starts a program of a member's that stays when their connection ends. */
async function leave(scene: Scene, program: string): Promise<void> {
  const shell = await scene.ssh("member", ["-tt"]);
  await shell.type(`setsid nohup ${program} >/dev/null 2>&1 </dev/null &\n`);
  const [word] = program.split(" ");
  await eventually("it runs", async () => (await processesOf(scene, "member")).some((args) => args.includes(word!)));
}

// Several, so that one of them is always at work, and new ones all the time.
const STOPS = `perl -e 'fork for 1..3; while (1) { kill "STOP", -1; fork if rand() < 0.0005 }'`;

for (const hasPerl of [true, false]) {
  Deno.test({
    name: `a member whose programs stop whatever begins as their account is removed whole${
      hasPerl ? "" : ", also without perl"
    }`,
    ignore,
    fn: () =>
      withScene(async (scene) => {
        await list(scene, "member", "exOfficer");
        const other = await scene.ssh("exOfficer", ["-tt"]);
        await leave(scene, hasPerl ? STOPS : STOPS.replace("; fork if rand() < 0.0005", ""));
        if (!hasPerl) {
          await scene.root("printf '#!/bin/sh\\nexit 1\\n' >/usr/local/bin/perl && chmod 755 /usr/local/bin/perl");
        }
        const removal = await disconnect(scene, "member");
        assert.deepEqual([removal.state, removal.left], ["done", null], JSON.stringify(removal));
        assert.deepEqual(await processesOf(scene, "member"), []);
        await livesOn(other);
      }),
  });
}

Deno.test({
  name: "what a member had before they were let in again ends also where its name has line ends",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member");
      await leave(scene, `perl -e '$0 = "perl\\n(x) S"; sleep 1000'`);
      const script = endScript({
        folder: "member",
        discordId: PEOPLE.member,
        spared: [],
        wholeAccount: true,
        letInAgo: 0,
        isRecorded: true,
      });
      const { out } = await scene.root(`echo ${btoa(script)} | base64 -d | sh`);
      assert.equal(typeof parseEnded(out), "object", out);
      assert.deepEqual(await processesOf(scene, "member"), []);
    }),
});

/** What a busy pod does by itself: the list of processes takes its time, and a login waits for those before it. */
const BUSY = `cat >/usr/local/bin/ps <<'END'
#!/bin/sh
/usr/bin/ps "$@"
if [ "$*" = "-e -o pid=,ppid=" ] && [ ! -e /run/listed ]; then
  : >/run/listed
  for wait in $(seq 40); do [ -e /run/opened ] && break; sleep 0.05; done
fi
END
cat >/usr/local/bin/flock <<'END'
#!/bin/sh
if [ "$*" = "-w 60 9" ]; then
  : >/run/opened
  sleep 4
fi
exec /usr/bin/flock "$@"
END
chmod 755 /usr/local/bin/ps /usr/local/bin/flock`;

Deno.test({
  name: "a session that is opened while its connection is being ended does not outlive it",
  ignore,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member");
      const socket = await Deno.makeTempDir();
      try {
        await scene.ssh("member", ["-M", "-S", `${socket}/mux`], "sleep 500");
        await eventually("they are on", async () => (await processesOf(scene, "member")).includes("sleep 500"));
        await scene.root(BUSY);
        const removing = disconnect(scene, "member");
        await eventually("their processes are listed", async () => (await scene.root("ls /run/listed")).code === 0);
        await scene.ssh("member", ["-S", `${socket}/mux`], "sleep 501");
        const removal = await removing;
        assert.deepEqual([removal.state, removal.left], ["done", null], JSON.stringify(removal));
        await eventually("no login of theirs is under way", async () => {
          const { code } = await scene.root("pgrep -f '^/bin/bash /usr/local/bin/godfather-login member'");
          return code === 1;
        });
        assert.deepEqual(await processesOf(scene, "member"), []);
      } finally {
        await Deno.remove(socket, { recursive: true });
      }
    }),
});

for (const isFirst of [true, false]) {
  Deno.test({
    name: `a login whose connection is gone begins nothing after the removal${
      isFirst ? ", also where it is the first" : ""
    }`,
    ignore,
    fn: () =>
      withScene(async (scene) => {
        await list(scene, "member");
        if (!isFirst) assert.equal((await scene.tryLogin("member")).code, 0);
        // Many logins at once wait for each other like that; they need no connection any more.
        await scene.root(
          "printf '%s\\n' '#!/bin/sh' 'if [ \"$*\" = \"-w 60 9\" ]; then for i in $(seq 400); do " +
            "[ -e /run/go ] && break; sleep 0.05; done; fi' 'exec /usr/bin/flock \"$@\"' " +
            ">/usr/local/bin/flock && chmod 755 /usr/local/bin/flock",
        );
        const isUnderWay = async () =>
          (await scene.root("pgrep -f '^/bin/bash /usr/local/bin/godfather-login member'")).code === 0;
        const client = await scene.ssh("member", [], "setsid sleep 503 </dev/null >/dev/null 2>&1");
        await eventually("they log in", isUnderWay);
        await client.end();
        await eventually("they are gone", async () => (await connected(scene)).connections === 0);
        assert(await isUnderWay(), "the login goes on without its connection");
        const removal = await disconnect(scene, "member");
        assert.deepEqual([removal.state, removal.left], ["done", null], JSON.stringify(removal));
        await scene.root("touch /run/go");
        await eventually("no login of theirs is under way", async () => !await isUnderWay());
        assert.deepEqual(await processesOf(scene, "member"), []);
      }),
  });
}
