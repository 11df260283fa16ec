/** Somebody who expected to be removed, and left as much behind as an account can, on a real sshd. */
import assert from "node:assert/strict";
import { eventually, sshOptions } from "../demo/pods_support.ts";
import { ignoreScene, type Scene, withScene } from "../presence/scene.ts";
import { newKey, publicLineOf } from "../support/ssh_client.ts";
import { PEOPLE } from "../support/world.ts";
import { connected, list, livesOn, processesOf, removals, settled, takeOff } from "./scene.ts";

const ACCOUNT = "godfather_member";

/** Each starts what should outlive a removal; all of it is bounded, should the removal not end it. */
const LEFT_BEHIND = [
  "setsid nohup sleep 601 >/dev/null 2>&1 &",
  // As tmux does: twice forked, in a session of its own, deaf to hang-ups.
  "setsid bash -c \"trap '' HUP TERM INT; setsid sleep 602 & exec sleep 603\" >/dev/null 2>&1 &",
  'sleep 604 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done; kill -STOP $!',
  "(exec -a 'sshd: root@notty' sleep 605) &",
  "(exec -a 'su - godfather_exofficer' sleep 606) &",
  "(exec -a 'sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups' sleep 607) &",
  // A process that is another one every few milliseconds.
  "fork() { [ $1 -lt 1 ] || { sleep 0.02; fork $(($1 - 1)) & }; }; (fork 1500) &",
  "ln -s /etc /workspace/users/member/etc; ln -s /workspace/users/exofficer /workspace/shared/link",
];

/** Logs in as fast as it can until it is told to stop; how often that worked before and after a moment. */
function insist(args: readonly string[]) {
  let stopped = false;
  let isAfter = false;
  const count = { before: 0, after: 0, tries: 0 };
  const done = (async () => {
    while (!stopped) {
      const wasAfter = isAfter;
      const { code } = await new Deno.Command("ssh", { args: [...args], stdin: "null", stdout: "null", stderr: "null" })
        .output();
      count.tries++;
      if (code === 0) count[wasAfter ? "after" : "before"]++;
    }
  })();
  return {
    count,
    removed: () => void (isAfter = true),
    async stop() {
      stopped = true;
      await done;
    },
  };
}

/** A key of the member's own in their home: it would be a way in that no certificate stands behind, and opens nothing. */
async function plantKey(scene: Scene): Promise<string[]> {
  const { at } = await scene.login("member");
  const key = await newKey(scene.folder, "planted");
  const line = await publicLineOf(key);
  await scene.tryLogin("member", `mkdir -pm 700 .ssh && echo '${line}' >.ssh/authorized_keys`);
  return [...sshOptions(at, key), `${ACCOUNT}@${at.host}`, "true"];
}

Deno.test({
  name:
    "a member who logs in again and again and left jobs, keys, links, stopped, forking and forged processes is gone for good",
  ignore: ignoreScene,
  fn: () =>
    withScene(async (scene) => {
      await list(scene, "member", "exOfficer");
      const other = await scene.ssh("exOfficer", ["-tt"]);
      const officer = await scene.ssh("officer", ["-tt"]);
      const byKey = await plantKey(scene);
      const { key, at } = await scene.login("member");
      const shell = await scene.ssh("member", ["-tt"]);
      // An officer who became the member to look at their files is no connection of the member.
      await officer.type(`su - ${ACCOUNT} -c 'sleep 608' & echo became\n`);
      await shell.type(`${LEFT_BEHIND.join("\n")}\n`);
      await scene.root(
        `uid=$(id -u ${ACCOUNT}); mkdir -p /var/spool/cron/crontabs /var/spool/cron/atjobs; ` +
          `echo '* * * * * sleep 609' >/var/spool/cron/crontabs/${ACCOUNT}; : >/var/spool/cron/atjobs/a0001; ` +
          `: >/var/spool/cron/crontabs/godfather_exofficer; chown $uid /var/spool/cron/crontabs/${ACCOUNT} ` +
          `/var/spool/cron/atjobs/a0001`,
      );
      // A login that was under way opens the account again right after the removal closed it.
      const opens = [
        "#!/bin/sh",
        '/usr/sbin/usermod "$@" || exit',
        '[ "$2" = 1 ] && mkdir /run/opened 2>/dev/null &&',
        "  exec /usr/sbin/usermod --expiredate '' \"$3\"",
        "exit 0",
      ];
      await scene.root(
        `echo ${btoa(opens.join("\n"))} | base64 -d >/usr/local/sbin/usermod && chmod 755 /usr/local/sbin/usermod`,
      );
      const insisting = [byKey, [...sshOptions(at, key), `root@${at.host}`, "true"]].map(insist);
      try {
        const [withKey, withCertificate] = insisting as [ReturnType<typeof insist>, ReturnType<typeof insist>];
        await eventually("all of it runs, and the certificate lets in", async () => {
          const { out } = await scene.root("ps -eo stat=,args=");
          return /^T\S* +sleep 604/m.test(out) && /sleep 608/.test(out) && /sleep 602/.test(out) &&
            withCertificate.count.before > 0 && withKey.count.tries > 0;
        });
        assert.equal(withKey.count.before, 0);
        const removal = await takeOff(scene, "member");
        for (const one of insisting) one.removed();
        assert.deepEqual([removal.state, removal.left, removal.todo], ["done", null, null], JSON.stringify(removal));
        const tried = insisting.map(({ count }) => count.tries);
        await eventually("they have gone on trying", () =>
          Promise.resolve(insisting.every(({ count }, i) => count.tries >= tried[i]! + 2)));
        assert.deepEqual(
          insisting.map(({ count }) =>
            count.after
          ),
          [0, 0],
        );
        assert.equal((await scene.root("ls -d /run/opened")).code, 0);
        await settled(scene, 6_000);
        assert.deepEqual(await processesOf(scene, "member"), []);
        const { out } = await scene.root("ls /var/spool/cron/*/; ls -l /workspace/users/member /workspace/shared");
        assert.doesNotMatch(out, /godfather_member$|a0001/m);
        assert.match(out, /godfather_exofficer$/m, "the other one's crontab stays");
        assert.match(out, /etc -> \/etc\n/, "their files stay as they are");
        assert.deepEqual((await scene.root("ls /etc/ssh/sshd_config /workspace/users/exofficer")).code, 0);
      } finally {
        await Promise.all(insisting.map((one) => one.stop()));
      }
      assert.deepEqual(insisting.map(({ count }) => count.after), [0, 0]);
      for (const one of [other, officer]) await livesOn(one);
      const { sessions, connections } = await connected(scene);
      assert.deepEqual(sessions.map((one: { discord_id: string }) => one.discord_id).toSorted(), [
        PEOPLE.officer,
        PEOPLE.exOfficer,
      ]);
      assert.equal(connections, 2);
      assert.equal((await removals(scene.world)).length, 1);
    }),
});
