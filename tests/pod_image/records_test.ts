import assert from "node:assert/strict";
import { join } from "node:path";
import type { PodAddress } from "../../server/demo/pods/host.ts";
import { eventually, mustRun, type Org, run, ssh, withSshdPod } from "../demo/pods_support.ts";
import { asRoot, ignorePods, withOpenSsh } from "./support.ts";

interface Record {
  readonly start: string;
  readonly serial: string;
  readonly keyId: string;
  /** Of the process with the record's pid, now; empty when there is none. */
  readonly startNow: string;
}

const READ = `cd /run/godfather/connections || exit 0
for record in *; do
  [ -f "$record" ] || continue
  now=$(sed 's/.*) //' "/proc/$record/stat" 2>/dev/null | cut -d' ' -f20)
  echo "$record $(cat "$record") now=$now"
done`;

/** The records on the pod, by pid. */
async function records(address: PodAddress, org: Org): Promise<Map<string, Record>> {
  const found = new Map<string, Record>();
  for (const line of (await asRoot(address, org, READ)).split("\n").filter((one) => one !== "")) {
    const [, pid, start, serial, keyId, startNow] = /^(\d+) (\d+) (\d+) (\S+) now=(\d*)$/.exec(line) ?? [];
    assert.ok(pid !== undefined, `a record of another form: ${line}`);
    found.set(pid, { start: start!, serial: serial!, keyId: keyId!, startNow: startNow! });
  }
  return found;
}

async function serialAndId(key: string): Promise<{ serial: string; keyId: string }> {
  const listing = await mustRun("ssh-keygen", "-L", "-f", `${key}-cert.pub`);
  return { serial: /Serial: (\d+)/.exec(listing)![1]!, keyId: /Key ID: "(.*)"/.exec(listing)![1]! };
}

/** Pids of the sshd processes that member sessions hang on. */
async function sshdOf(address: PodAddress, org: Org, account: string): Promise<string[]> {
  const list = await asRoot(address, org, `ps -eo ppid=,args= | grep 'su - ${account} ' | grep -v grep`);
  return list.trim().split("\n").map((line) => line.trim().split(" ")[0]!);
}

Deno.test({
  name: "principals records the certificate under the connection's own process, for shell, bare tunnel and officer",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const [bob, eve, ada] = [
        await org.member("pod1", "bob"),
        await org.member("pod1", "eve"),
        await org.officer("pod1"),
      ];
      await withOpenSsh(address, bob, { flags: ["-tt"], input: "echo shell$((40 + 2))\n" }, (shell) =>
        withOpenSsh(address, eve, { flags: ["-N"] }, () =>
          withOpenSsh(address, ada, { command: "echo parent $PPID; cat" }, async (officer) => {
            await eventually("all three are on", async () =>
              shell.printed().includes("shell42") && officer.printed().includes("parent") &&
              (await records(address, org)).size >= 3);
            const all = await records(address, org);
            for (const record of all.values()) {
              assert.equal(record.startNow, record.start);
            }

            const [sshd] = await sshdOf(address, org, "godfather_bob");
            const expected = await serialAndId(bob);
            assert.deepEqual(all.get(sshd!), { ...all.get(sshd!), ...expected });

            const parent = /parent (\d+)/.exec(officer.printed())![1]!;
            assert.deepEqual(all.get(parent), { ...all.get(parent), ...await serialAndId(ada) });

            const { serial } = await serialAndId(eve);
            const [tunnel] = [...all].filter(([, record]) =>
              record.serial === serial
            );
            assert.ok(tunnel, "the tunnel has a record");
            assert.match(await asRoot(address, org, `ps -o args= -p ${tunnel[0]}`), /^sshd: root/);
            // Backend connections come with a plain key and leave no record.
            assert.equal(all.size, 3);
          })));
      await eventually("the processes of all records are gone", async () =>
        [...(await records(address, org)).values()].every((record) =>
          record.startNow !== record.start
        ));
    }),
});

Deno.test({
  name: "principals records a multiplexed connection once, for all of its sessions",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address, folder }) => {
      const key = await org.member("pod1", "bob");
      const socket = ["-S", join(folder, "mux")];
      await withOpenSsh(address, key, { flags: ["-N", "-M", ...socket] }, async () => {
        await eventually("the connection is up", async () => (await records(address, org)).size === 1);
        // Before its socket is there ssh would make a connection of its own.
        const shared = async () => (await run("ssh", ["-F", "/dev/null", "-O", "check", ...socket, "x"])).code === 0;
        await eventually("the connection can be shared", shared);
        const share = { flags: socket, command: "echo on; cat" };
        await withOpenSsh(address, key, share, (first) =>
          withOpenSsh(address, key, share, async (second) => {
            await eventually(
              "both sessions are on",
              () => Promise.resolve(first.printed() === "on\n" && second.printed() === "on\n"),
            );
            const all = await records(address, org);
            const sshd = await sshdOf(address, org, "godfather_bob");
            assert.equal(sshd.length, 2);
            assert.deepEqual(new Set(sshd), new Set(all.keys()));
            const expected = await serialAndId(key);
            assert.deepEqual([...all.values()].map(({ serial, keyId }) => ({ serial, keyId })), [expected]);
          }));
      });
    }),
});

Deno.test({
  name:
    "principals lets no certificate in while it cannot record it, the server's key still works, and the folder is root's alone",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      assert.equal(
        await asRoot(address, org, "stat -c '%U %a' /run/godfather /run/godfather/connections"),
        "root 700\nroot 700\n",
      );
      const look = await ssh(address, key, { command: "ls /run/godfather" });
      assert.match(look.err, /Permission denied/);
      await asRoot(
        address,
        org,
        "rm -r /run/godfather/connections && touch /run/godfather/connections",
      );
      const refused = await ssh(address, key, { command: "id -un" });
      assert.deepEqual([refused.code, refused.out], [255, ""]);
      await asRoot(address, org, "rm /run/godfather/connections");
      assert.equal((await ssh(address, key, { command: "id -un" })).out, "godfather_bob\n");
    }),
});

Deno.test({
  name: "principals records only the org's own key ids, and the last certificate that was offered",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      // Each call has the same parent, as the questions of one connection have.
      const ask = (serial: string, keyId: string) =>
        `/usr/lib/godfather/principals root '${serial}' '${keyId}'; cat /run/godfather/connections/$$ 2>/dev/null | cut -d' ' -f2-`;
      const said = async (...asked: [string, string][]) =>
        (await asRoot(address, org, asked.map(([serial, keyId]) => ask(serial, keyId)).join("; "))).split("\n").filter(
          Boolean,
        );
      assert.deepEqual(await said(["7", "discord:12345:b.o-b_1"]), ["gf-pod1", "7 discord:12345:b.o-b_1"]);
      const last = await said(["18446744073709551615", "discord:1:bob"], ["8", "discord:2:eve"]);
      assert.deepEqual(last.slice(-2), ["gf-pod1", "8 discord:2:eve"]);
      for (
        const [serial, keyId] of [
          ["9", "discord:3:Bob"],
          ["9", "discord:3:.bob"],
          ["9", "discord:3:"],
          ["9", "discord:3"],
          ["9", "discord:x:bob"],
          ["9", "discord:3:bob:eve"],
          ["9", "discord:3:bob\n1 2 discord:4:eve"],
          ["9", "discord:3:../../etc/passwd"],
          ["9", `discord:3:${"b".repeat(23)}`],
          ["9", "somebody"],
          ["9", ""],
          ["-1", "discord:3:bob"],
          ["9 9", "discord:3:bob"],
          ["", "discord:3:bob"],
        ] as const
      ) {
        assert.deepEqual(
          await said(["8", "discord:2:eve"], [serial, keyId]),
          ["gf-pod1", "8 discord:2:eve", "gf-pod1"],
          keyId,
        );
      }
      for (const user of ["", "..", "../root", "nobody", ".root", "/etc/passwd"]) {
        assert.equal(await asRoot(address, org, `/usr/lib/godfather/principals '${user}' 7 discord:1:bob`), "", user);
      }
    }),
});

Deno.test({
  name: "principals leaves the record of the certificate that got in when another one was refused before it",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const [refused, mine] = [await org.certify({ principal: "gf-pod2" }), await org.member("pod1", "bob")];
      await withOpenSsh(address, refused, { flags: ["-i", mine], command: "echo on; cat" }, async (open) => {
        await eventually("it is on", () => Promise.resolve(open.printed() === "on\n"));
        const [sshd] = await sshdOf(address, org, "godfather_bob");
        const record = (await records(address, org)).get(sshd!);
        assert.deepEqual(record, { ...record, ...await serialAndId(mine) });
      });
    }),
});

Deno.test({
  name: "principals removes records of ended connections, and never one that still holds",
  ignore: ignorePods,
  fn: () =>
    withSshdPod("orgpods", async ({ org, address }) => {
      const key = await org.member("pod1", "bob");
      await withOpenSsh(address, key, { command: "echo on; cat" }, async (open) => {
        await eventually("it is on", () => Promise.resolve(open.printed() === "on\n"));
        const [mine] = await sshdOf(address, org, "godfather_bob");
        // Pid 1 lives but did not start then; the pids above the limit of Linux are nobody's.
        await asRoot(
          address,
          org,
          `cd /run/godfather/connections && echo '5 6 discord:7:eve' >1 &&
           for i in $(seq 4200000 4200310); do echo "5 6 discord:7:eve" >$i; done; touch 4200311.new`,
        );
        assert.equal(
          (await ssh(address, await org.member("pod1", "ann"), { command: "id -un" })).out,
          "godfather_ann\n",
        );
        const left = [...(await records(address, org)).keys()];
        assert.ok(left.includes(mine!), "the record of the open connection stays");
        assert.ok(left.length <= 2, `left: ${left}`);
        assert.ok(!left.includes("1"));
      });
    }),
});
