/** One pod in the real program, in a real terminal, against the demo; what is done is looked up by the API. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import type { Tmux } from "../support/tmux.ts";
import { eventually } from "../support/world.ts";
import { inAdmin } from "./program.ts";
import { sentence } from "./support.ts";
import { untilFresh, untilGone } from "./terminal_steps.ts";

const ignore = lacks("tmux");

const HOUR = 3_600_000;
/** A pod host takes its time on a busy machine. */
const SLOW_MS = 20_000;

/** What the API tells the operator of the org. */
const ask = async (demo: DemoProcess, path: string) =>
  (await demo.operator("GET", `/api/compute/${demo.facts.org}${path}`)).json;

// deno-lint-ignore no-explicit-any
async function podNamed(demo: DemoProcess, name: string): Promise<any> {
  return (await ask(demo, "/pods")).pods.find((pod: { name: string }) => pod.name === name);
}

async function untilStatus(demo: DemoProcess, name: string, status: string): Promise<void> {
  await eventually(
    async () => (await podNamed(demo, name))?.status === status,
    `${name} is ${status}`,
    () => {},
    SLOW_MS,
  );
}

/** How often the pods were restarted by somebody. */
async function restartsOf(demo: DemoProcess): Promise<number> {
  const { events } = await ask(demo, "/events?kind=pod.started");
  return events.filter(({ details }: { details: { did?: string } }) => details.did === "restarted").length;
}

/** Plans a session of an hour on a pod that begins at once. */
async function sessionNow(demo: DemoProcess, podId: string): Promise<{ readonly id: number }> {
  const now = Date.now();
  const body = { title: "Class", start_at: new Date(now), stop_at: new Date(now + HOUR) };
  const { status, json } = await demo.operator("POST", `/api/compute/${demo.facts.org}/pods/${podId}/sessions`, body);
  assert.equal(status, 201, JSON.stringify(json));
  return json.session;
}

async function openPod(terminal: Tmux, name: string): Promise<void> {
  await terminal.until(new RegExp(`^> ${name}`, "m"));
  await terminal.keys("Enter");
  await terminal.until(/Pods \d( of \d)? > /);
}

Deno.test({
  name: "an officer restarts a pod, keeps it up, puts its session's stop off and reads its events, at three sizes",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      const { pod_id } = demo.facts;
      const { id } = await sessionNow(demo, pod_id);
      // deno-lint-ignore no-explicit-any
      const session = async (): Promise<any> =>
        (await ask(demo, `/pods/${pod_id}/sessions`)).sessions.find((one: { id: number }) => one.id === id);
      await eventually(async () => (await session()).started, "the session has begun", () => {}, SLOW_MS);
      const containerStarts = async (): Promise<number> => {
        const same = { action: "set_status", id: pod_id, status: null };
        return (await demo.control("runpod", "/_demo/pods", same)).pod.container_starts;
      };
      let [restarts, extended] = [0, 0];
      for (const [columns, rows] of [[80, 24], [40, 12], [200, 50]] as const) {
        await inAdmin(demo, { columns, rows }, async (terminal) => {
          await openPod(terminal, "workshop");
          const starts = await containerStarts();
          await terminal.keys("R");
          await terminal.until("Restart workshop");
          await terminal.until(sentence("Nobody is on it now."));
          await terminal.until(sentence("EVERY file on it is lost."));
          await terminal.keys("n");
          await untilGone(terminal, "Restart workshop");
          assert.equal(await restartsOf(demo), restarts);
          await terminal.keys("R");
          await terminal.until("Press y to restart it");
          await terminal.keys("y");
          await terminal.until("The pod had no volume");
          assert.equal(await restartsOf(demo), ++restarts);
          assert.equal(await containerStarts(), starts + 1);
          await untilStatus(demo, "workshop", "RUNNING");
          await untilFresh(terminal, /Status +● Running/);

          const minutes = 60 + columns;
          await terminal.keys("K");
          await terminal.until("Keep workshop up");
          await terminal.keys("C-u");
          await terminal.type(String(minutes));
          await terminal.until(new RegExp(`Minutes +${minutes}`));
          await terminal.keys("C-s");
          await terminal.until("It is kept from stopping by itself");
          const left = Date.parse((await podNamed(demo, "workshop")).keep_until) - Date.now();
          assert(Math.abs(left - minutes * 60_000) < 60_000, `${left} ms`);

          await eventually(async () => {
            await terminal.keys("C-r", "e");
            await new Promise((resolve) => setTimeout(resolve, 250));
            return (await terminal.screen()).includes("Extend Class");
          }, "the running session is known");
          await terminal.keys("C-u");
          await terminal.type("500");
          await terminal.until(sentence("Minutes must be a whole number from 1 to 120"));
          await terminal.keys("C-u");
          await terminal.type("20");
          await terminal.until(/Minutes +20/);
          await terminal.keys("C-s");
          await terminal.until("The stop is put off");
          assert.equal((await session()).extended_minutes, extended += 20);

          await terminal.keys("E");
          await terminal.until(/Events \d/);
          await terminal.until(/^> .*pod\.started/m);
          await terminal.keys("Enter");
          await terminal.until(/Event +pod\.started/);
          await terminal.until(/did +restarted/i);
          await terminal.keys("q");
          await terminal.until("rc=0");
        });
      }
    }),
});

/** As if a pod had been made an hour ago, so that it may be called gone, and had cost a dollar a second until now. */
function makeOlder(demo: DemoProcess, podId: string): void {
  const file = new DatabaseSync(`${demo.facts.data_dir}/orgpods.sqlite`, { timeout: 5_000 });
  try {
    file.prepare("update compute_pod_incarnations set since = since - ? where runpod_id = ?").run(HOUR, podId);
    file.prepare("update compute_spend set hardware_per_hour = 3600 where runpod_id = ?").run(podId);
  } finally {
    file.close();
  }
}

Deno.test({
  name:
    "a pod without a free GPU, over the budget, hanging in its start or gone at RunPod is handled from the terminal",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      const { org } = demo.facts;
      const made = await demo.operator("POST", `/api/compute/${org}/pods`, { name: "trainer", volume_in_gb: 10 });
      assert.equal(made.status, 201, JSON.stringify(made.json));
      const { id } = made.json.pod;
      await untilStatus(demo, "trainer", "RUNNING");
      makeOlder(demo, id);
      const fault = (body: Record<string, unknown>) => demo.control("runpod", "/_demo/faults", body);
      const show = (status: string | null) =>
        demo.control("runpod", "/_demo/pods", { action: "set_status", id, status });
      await inAdmin(demo, {}, async (terminal) => {
        await terminal.until(/^ {2}trainer/m);
        await terminal.keys("/");
        await terminal.type("trainer");
        await terminal.keys("Enter");
        await openPod(terminal, "trainer");

        // A pod that does not come up is stopped, whatever RunPod calls its state.
        for (const status of ["PROVISIONING", "STARTING", "MIGRATING"]) {
          await show(status);
          await untilFresh(terminal, new RegExp(`Status +◐ ${status[0]}${status.slice(1).toLowerCase()}`));
          await terminal.until("x stop");
        }
        await terminal.keys("x");
        await terminal.until("Stop trainer");
        await terminal.until(sentence("Nobody can be on it, because it is not running."));
        await terminal.until(sentence("Files on the volume stay."));
        await terminal.keys("y");
        await terminal.until("trainer is stopping");
        await show(null);
        await untilFresh(terminal, /Status +○ Stopped/);
        await untilStatus(demo, "trainer", "EXITED");
        await untilGone(terminal, "x stop");

        await fault({ fault: "F27", variant: "problem" });
        const refused = async () =>
          (await ask(demo, "/audit?limit=100")).audit.filter(({ outcome }: { outcome: string }) =>
            outcome === "runpod_no_capacity"
          ).length;
        for (let tries = 1; tries <= 2; tries++) {
          await terminal.keys("s");
          await eventually(async () => await refused() === tries, "RunPod was asked to start it", () => {}, SLOW_MS);
          await terminal.until(/! .*(free GPU|GPU is taken)/);
          await terminal.until("s start");
          assert.equal((await podNamed(demo, "trainer")).status, "EXITED");
          await terminal.keys("C-r");
        }
        // The same in the night, when nobody looks: the pod says what happened and what to do.
        const { id: session } = await sessionNow(demo, id);
        await untilFresh(terminal, /! .*session/i);
        await terminal.until("What to do: ");
        await terminal.keys("E");
        await terminal.until(/session\.failed/);
        await terminal.keys("Escape");
        await terminal.until(/ > trainer\n[^]*Status/);
        const gone = await demo.operator("DELETE", `/api/compute/${org}/pods/${id}/sessions/${session}`);
        assert.equal(gone.status, 200, JSON.stringify(gone.json));
        await fault({ fault: "F27", off: true });

        const put = await demo.operator("PUT", `/api/compute/${org}/settings`, { monthly_budget_usd: 0.01 });
        assert.equal(put.status, 200, JSON.stringify(put.json));
        await terminal.keys("s");
        await terminal.until("Start trainer over the budget");
        await terminal.until(/! The budget of \d{4}-\d\d is spent: \d+\.\d+ of 0\.0100 USD\s/);
        await terminal.keys("n");
        await untilGone(terminal, "over the budget");
        assert.equal((await podNamed(demo, "trainer")).status, "EXITED");
        await terminal.keys("s");
        await terminal.until("Press y to start it");
        await terminal.keys("y");
        await untilStatus(demo, "trainer", "RUNNING");
        await untilFresh(terminal, /Status +● Running/);
        const { audit } = await ask(demo, "/audit?limit=50");
        assert(audit.some(({ details }: { details: { over_budget?: boolean } }) => details?.over_budget === true));

        await demo.control("runpod", "/_demo/pods", { action: "delete_outside", id });
        await untilFresh(terminal, /Status +! Gone/);
        assert.equal((await podNamed(demo, "trainer")).status, "GONE");
        await untilGone(terminal, /x stop|(^| )s start/m);
        await terminal.keys("D");
        await terminal.until(sentence("RunPod does not have this pod any more. This only takes it off the list"));
        await terminal.type("trainer");
        await terminal.until("> trainer");
        await terminal.keys("Enter");
        await terminal.until("No pod fits the filter");
        assert.equal(await podNamed(demo, "trainer"), undefined);
        assert.equal((await podNamed(demo, "workshop")).status, "RUNNING");
        await terminal.keys("q");
        await terminal.until("rc=0");
      });
    }),
});
