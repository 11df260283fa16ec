/**
 * A newcomer who reads only the screen: every key they press is shown on it at that moment. What they did is looked up by
 * the API.
 */
import assert from "node:assert/strict";
import { SCREENS } from "../../admin/ui/screens/list.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { eventually } from "../support/world.ts";
import { checkGivenBack, inAdmin } from "./program.ts";
import { readerOf } from "./reader.ts";

const ROWS = 24;
const hasFiles = SCREENS.some(({ id }) => id === "files");
const CONTENT = "Welcome to the pod\n";

// deno-lint-ignore no-explicit-any
async function podNamed({ operator, facts }: DemoProcess, name: string): Promise<any> {
  const { json } = await operator("GET", `/api/compute/${facts.org}/pods`);
  return json.pods.find((pod: { name: string }) => pod.name === name);
}

Deno.test({
  name: "a newcomer creates a pod, shares it with one member and plans a session, with keys that the screen shows",
  ignore: lacks("tmux", "stty"),
  fn: () =>
    withDemo((demo) =>
      inAdmin(demo, { columns: 80, rows: ROWS, env: { NO_COLOR: "1" } }, async (terminal) => {
        const { pressShown, pressFor, goTo, typeInto, select } = readerOf(terminal, ROWS);
        const { org, member } = demo.facts;
        await terminal.until(/^> workshop/m);
        await assert.rejects(pressShown("Z"), /shows no key Z/);

        await pressFor("new pod");
        await terminal.until("Cost: ");
        await typeInto("Name", "newcomers");
        await goTo("Hardware");
        await pressShown("←→");
        await terminal.until("Cost: $0.060/hr");
        await pressFor("send");
        await terminal.until("Pods 2 > newcomers");
        const pod = await eventually(() => podNamed(demo, "newcomers"), "the pod is there");
        assert.equal(pod.is_public, false);
        assert.equal(pod.cost_per_hour, 0.06);

        await terminal.until("Pod id");
        await pressFor("access");
        await terminal.until("Only officers may enter.");
        await pressFor("add");
        await terminal.until("everybody: 2 found");
        await select(/Mo Member/);
        await pressFor("add");
        await terminal.until(/listed +Mo Member/);
        assert.deepEqual((await podNamed(demo, "newcomers")).allowed_users, [member.discord_id]);
        await pressFor("back");
        await terminal.until("1 person is listed");
        await pressFor("back");
        await terminal.until("Pod id");

        await pressFor("sessions");
        await terminal.until("There are no sessions to come");
        await pressFor("add");
        await terminal.until("New session of newcomers");
        await typeInto("Title", "First evening");
        await pressFor("send");
        await terminal.until("The session is added");
        const { json } = await demo.operator("GET", `/api/compute/${org}/pods/${pod.id}/sessions`);
        assert.deepEqual(json.sessions.map(({ title }: { title: string }) => title), ["First evening"]);
        await pressFor("back");
        await terminal.until("Pod id");
        await pressFor(/^(quit|leave the admin)/);
        await checkGivenBack(terminal, 0);
      })
    ),
});

Deno.test({
  name: "a newcomer reads a file of a pod, with keys that the screen shows",
  ignore: !hasFiles || lacks("tmux", "stty", "sshd", "root"),
  fn: () =>
    withDemo((demo) =>
      inAdmin(demo, { columns: 80, rows: ROWS, env: { NO_COLOR: "1" } }, async (terminal) => {
        const { pressShown, pressFor, select } = readerOf(terminal, ROWS);
        const { org, pod_id } = demo.facts;
        const path = `/api/compute/${org}/pods/${pod_id}/files/write`;
        const written = await demo.operator("POST", path, { path: "/workspace/welcome.txt", content: CONTENT });
        assert(written.status < 300, JSON.stringify(written.json));
        await terminal.until(/^> workshop/m);
        await pressShown("enter");
        await terminal.until("Pod id");
        await pressFor("files");
        await terminal.until("welcome.txt");
        await select(/welcome\.txt/);
        await pressFor(/^(open|view|read)/);
        await terminal.until(CONTENT.trim());
        await pressFor("quit");
        await checkGivenBack(terminal, 0);
      })
    ),
});
