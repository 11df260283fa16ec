/** The real program in a real terminal against the demo: a new pod, who may enter it, and who is on it. */
import assert from "node:assert/strict";
import { sshOptions, withFolder } from "../demo/pods_support.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { connected, newKey } from "../support/ssh_client.ts";
import { eventually } from "../support/world.ts";
import { inAdmin } from "./program.ts";
import { goTo } from "./terminal_steps.ts";

// deno-lint-ignore no-explicit-any
async function podNamed(demo: DemoProcess, name: string): Promise<any> {
  const { json } = await demo.operator("GET", `/api/compute/${demo.facts.org}/pods`);
  return json.pods.find((pod: { name: string }) => pod.name === name);
}

/** Runs `use` while a member has a command running on a pod. */
async function whileOn(demo: DemoProcess, podId: string, token: string, use: () => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const key = await newKey(folder, "mo");
    const { host, port } = (await connected(demo, podId, token, key)).json.ssh_info;
    const args = [...sshOptions({ host, port }, key), `root@${host}`, "sleep 300"];
    const child = new Deno.Command("ssh", { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
    let isOver = false;
    const over = child.status.then(() => void (isOver = true));
    try {
      await use();
    } finally {
      if (!isOver) child.kill();
      await over;
    }
  });
}

Deno.test({
  name: "an officer makes a pod for one person, sees them on it, and takes their access away, and the API shows it",
  ignore: lacks("tmux", "ssh", "ssh-keygen", "sshd", "root"),
  fn: () =>
    withDemo(async (demo) => {
      const { member } = demo.facts;
      await inAdmin(demo, {}, async (terminal) => {
        await terminal.until(/^> workshop/m);
        await terminal.keys("n");
        await terminal.until("Cost: $0.25/hr and disks from now on.");
        await terminal.type("lab");
        await terminal.until(/> Name +lab/);
        await goTo(terminal, "GPU type");
        await terminal.keys("Enter");
        await terminal.until(/NVIDIA L40S +\$0\.86\/hr, 48 GB, few free/);
        await terminal.keys("Escape");
        await terminal.until("enter list");
        await goTo(terminal, "Volume");
        await terminal.keys("C-u");
        await terminal.type("5");
        await terminal.until("! Volume must be 0 or from 10 to 2000");
        await goTo(terminal, "Hardware", "Up");
        await terminal.keys("Space");
        await terminal.until("! A CPU pod has no volume: a stop loses EVERY file.");
        await terminal.until("Cost: $0.060/hr");
        await goTo(terminal, "Environment");
        await terminal.until("Everyone who can log in");
        await terminal.keys("Enter");
        await terminal.type("MODE");
        await terminal.until("MODE");
        await terminal.keys("Down");
        await terminal.type("fast");
        await terminal.until("fast");
        await goTo(terminal, "Listed people");
        await terminal.keys("Enter");
        await terminal.until("Nobody is listed");
        await terminal.keys("a");
        await terminal.until("everybody: 2 found");
        await terminal.keys("/");
        await terminal.type("mo");
        await terminal.until("everybody: 1 found");
        await terminal.keys("Enter");
        await terminal.until("enter add");
        await terminal.keys("Enter");
        await terminal.until(/listed +Mo Member/);
        await terminal.keys("Escape");
        await terminal.until("everybody: 2 found");
        await terminal.keys("Escape");
        await terminal.until("Listed people 1");
        await terminal.keys("Escape");
        await terminal.until(new RegExp(`> Listed people +${member.discord_id}`));
        await terminal.keys("C-s");
        await terminal.until(/> lab/);
        const { id, allowed_users, is_public } = await podNamed(demo, "lab");
        assert.deepEqual([allowed_users, is_public], [[member.discord_id], false]);
        await terminal.until("● Running");

        await whileOn(demo, id, member.token, async () => {
          await terminal.keys("p");
          await terminal.until("Connected now");
          await eventually(async () => {
            await terminal.keys("C-r");
            return /> Mo Member +\d+ s +mo\.member/.test(await terminal.screen());
          }, "the member is on");
          assert.match(await terminal.screen(), /\[Connected now 1\]/);
          const { json } = await demo.operator("GET", `/api/compute/${demo.facts.org}/pods/${id}/members`);
          const { serial } = json.recent[0];
          await terminal.keys("Tab");
          await terminal.until(new RegExp(`> Mo Member .* ${serial.slice(0, 18)}`));
          await terminal.keys("Tab");
          await terminal.until("[Connected now 1]");
          await terminal.keys("x");
          await terminal.until("Disconnect Mo Member");
          await terminal.until("they can come back");
          await terminal.keys("y");
          await terminal.until("! Mo Member: ");
          await eventually(async () => {
            await terminal.keys("C-r");
            return (await terminal.screen()).includes("Nobody is on it.");
          }, "nobody is on it");
          const removals = await demo.operator("GET", `/api/compute/${demo.facts.org}/removals`);
          const [{ discord_id, report, left }] = removals.json.removals;
          assert.deepEqual([discord_id, left], [member.discord_id, null]);
          assert.match(report, /1 SSH connection .*ended/);
        });
        await whileOn(demo, id, member.token, async () => {
          await terminal.keys("a");
          await terminal.until(new RegExp(`> Mo Member +${member.discord_id}`));
          await terminal.keys("d");
          await terminal.until("Remove Mo Member");
          await terminal.until("Mo Member (until");
          await terminal.keys("y");
          await terminal.until(`Mo Member: ${member.discord_id}`);
          assert.deepEqual((await podNamed(demo, "lab")).allowed_users, []);
        });
        await terminal.keys("i");
        await terminal.until("Discord ids");
        await terminal.paste(`${member.discord_id} 12345`);
        await terminal.keys("C-s");
        await terminal.until("2 people are listed");
        await terminal.keys("C");
        await terminal.until("All 2 are taken off the list.");
        await terminal.keys("y");
        await terminal.until("Only officers may enter.");
        await terminal.keys("a");
        await terminal.until("everybody: 2 found");
        await terminal.keys("r");
        await terminal.until("Officers");
        await terminal.type("off");
        await terminal.keys("Enter");
        await terminal.until("role Officers: 1 found");
        await terminal.keys("A");
        await terminal.until("1 person has it now.");
        await terminal.keys("y");
        await terminal.until(/listed +Olivia Officer/);
        assert.deepEqual((await podNamed(demo, "lab")).allowed_users, [demo.facts.officer.discord_id]);
        await terminal.keys("Escape");
        await terminal.until("Officers and those listed may enter");
        await terminal.keys("p");
        await terminal.until("Every member of the organization may enter");
        await terminal.keys("y");
        await terminal.until("Open to ALL members");
        assert.equal((await podNamed(demo, "lab")).is_public, true);
        await terminal.keys("C-c");
        await terminal.until("rc=0");
      });
    }),
});

Deno.test({
  name: "a pod is made and shared in 40x12 and 200x50 although Discord's list and the pod's address are missing",
  ignore: lacks("tmux"),
  fn: () =>
    withDemo(async (demo) => {
      const { member } = demo.facts;
      await demo.control("discord", "/_demo/world", { action: "set_intent", on: false });
      await demo.control("runpod", "/_demo/faults", { fault: "F16", variant: "never-address" });
      for (const [columns, rows, env] of [[40, 12, { NO_COLOR: "1" }], [200, 50, {}]] as const) {
        const name = `lab-${columns}`;
        await inAdmin(demo, { columns, rows, env }, async (terminal) => {
          await terminal.until(/^> /m);
          await terminal.keys("n");
          await terminal.until("Cost: $0.25/hr and disks from now on.");
          await terminal.type(name);
          await terminal.until(new RegExp(`> Name +${name}`));
          await goTo(terminal, "Hardware");
          await terminal.keys("Space");
          await terminal.until("Cost: $0.060/hr");
          await terminal.keys("C-s");
          await terminal.until(`> ${name}`);
          await eventually(async () => (await podNamed(demo, name))?.status === "RUNNING", "it runs");
          await terminal.keys("a");
          await terminal.until("Only officers may enter.");
          await terminal.keys("a");
          await terminal.until(/Members\s+Intent/);
          await terminal.until("Ids can still be pasted: press i.");
          await terminal.keys("i");
          await terminal.until("Discord ids");
          await terminal.paste(member.discord_id);
          await terminal.keys("C-s");
          await terminal.until("They are added");
          await terminal.keys("Escape");
          await terminal.until(/1\s+person is listed/);
          await terminal.until("Mo Member");
          assert.deepEqual((await podNamed(demo, name)).allowed_users, [member.discord_id]);
          await terminal.keys("Escape");
          await terminal.until("Status");
          await terminal.keys("p");
          await terminal.until(/Unknown: The pod has no SSH address\s+yet\./);
          await terminal.keys("C-c");
          await terminal.until("rc=0");
        });
      }
    }),
});
