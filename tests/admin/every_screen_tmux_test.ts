/** What holds of every screen in the real program, in a real terminal: its help, and how money, states and times are written. */
import assert from "node:assert/strict";
import { SCREENS } from "../../admin/ui/screens/list.ts";
import { withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { footerKeys } from "../support/shown_keys.ts";
import type { Tmux } from "../support/tmux.ts";
import { eventually } from "../support/world.ts";
import { ask, inAdmin, inPhoenix, PHOENIX } from "./program.ts";
import { command, leave, openPod, untilGone } from "./terminal_steps.ts";

const ignore = lacks("tmux");
const HOUR = 3_600_000;

/** The whole help of the screen on top, by pages; it is left again. */
async function helpOf(terminal: Tmux): Promise<string> {
  const keys = footerKeys(await terminal.screen(), 24);
  const isForm = keys.some(({ key }) => key === "f1");
  await terminal.keys(isForm ? "F1" : "?");
  await terminal.until("Help: ");
  const pages = [await terminal.screen()];
  // Its last line is the same on every screen.
  while (!pages.at(-1)!.includes("orgpods --help")) {
    await terminal.keys("NPage");
    await eventually(async () => await terminal.screen() !== pages.at(-1), "the next page is shown");
    pages.push(await terminal.screen());
  }
  await leave(terminal, "Help: ");
  return pages.join("\n");
}

/** The keys that a help names: the words in front of what they do. */
const keysIn = (help: string) =>
  new Set(help.split("\n").flatMap((line) => /^ {2}(\S.*?)(?: {2,}|$)/.exec(line)?.[1]?.split(" ") ?? []));

/** Fails unless the help names every key that the screen shows. */
async function checkHelp(terminal: Tmux, where: string): Promise<void> {
  const shown = footerKeys(await terminal.screen(), 24);
  assert(shown.length > 0, where);
  const help = await helpOf(terminal);
  assert.match(help, /^Keys$/m, where);
  const named = keysIn(help);
  for (const { key, label } of shown) assert(named.has(key), `${where}: ${key} ${label} is not in the help:\n${help}`);
}

/** Keys from the list of pods through what has no word of its own, and what is seen then; with escape, what goes. */
const PATH = [
  ["x", "EVERY file on it is lost"],
  ["Escape", "EVERY file on it is lost"],
  ["D", "It cannot be"],
  ["Escape", "It cannot be"],
  ["n", "Mount path"],
  ["BTab", "> [ Create pod ]"],
  ["Up", "> Provider"],
  ["Up", "> Over the budget"],
  ["Up", "> Listed people"],
  ["Enter", "Nobody is listed"],
  ["Escape", "Nobody is listed"],
  ["Escape", "esc cancel"],
  ["y", "> workshop"],
  ["Enter", "Pod id"],
  ["K", "Minutes"],
  ["Escape", "Minutes"],
  ["a", "Open to ALL members"],
  ["a", "everybody: 2 found"],
  ["Escape", "everybody: 2 found"],
  ["Escape", "Open to ALL members"],
  ["p", "Connected now"],
  ["Escape", "Connected now"],
  ["c", "> Sessions"],
  ["Escape", "> Sessions"],
  ["f", "> shared/"],
  ["End", "> notes.txt"],
  ["Enter", "Buy chalk"],
  ["Escape", "Buy chalk"],
  ["Escape", "> Files"],
] as const;

/** Screens behind the first row of another one. */
const BEHIND: Readonly<Record<string, string>> = { sessions: "> Lesson", webhooks: "> Deliveries to grading" };

Deno.test({
  name: "every screen has a help, which names every key that the screen shows",
  ignore: lacks("tmux", "sshd", "root"),
  fn: () =>
    withDemo(async (demo) => {
      const { pod_id } = demo.facts;
      const start = Date.now() + HOUR;
      await ask(demo, "POST", `/pods/${pod_id}/sessions`, {
        title: "Lesson",
        start_at: new Date(start).toISOString(),
        stop_at: new Date(start + HOUR).toISOString(),
      });
      const url = "https://93.184.216.34/in";
      await ask(demo, "POST", "/webhooks", { name: "grading", format: "signed", url, kinds: ["pod.started"] });
      await ask(demo, "POST", `/pods/${pod_id}/files/write`, { path: "/workspace/notes.txt", content: "Buy chalk\n" });
      await inAdmin(demo, { env: PHOENIX }, async (terminal) => {
        await terminal.until(/^> workshop +● Running/m);
        await checkHelp(terminal, "pods");
        for (const [key, what] of PATH) {
          if (key === "Escape") {
            await leave(terminal, what);
            continue;
          }
          await terminal.keys(key);
          await terminal.until(what);
          await checkHelp(terminal, what);
        }
        for (const { command: word } of SCREENS) {
          if (word === undefined) continue;
          await terminal.keys(":");
          await terminal.until("tab complete");
          await terminal.type(`${word.word}\n`);
          await untilGone(terminal, "tab complete");
          await checkHelp(terminal, word.word);
          const behind = BEHIND[word.word];
          if (behind !== undefined) {
            await terminal.keys("Enter");
            await terminal.until(behind);
            await checkHelp(terminal, behind);
            await leave(terminal, behind);
          }
          // A form takes the colon as text.
          if ((await terminal.screen()).includes("f1 help")) await leave(terminal, "f1 help");
        }
        await terminal.keys("C-c");
        await terminal.until("rc=0");
      });
    }),
});

Deno.test({
  name: "money, states, durations and times are written in one way on all screens",
  ignore,
  fn: () =>
    withDemo(async (demo) => {
      const { pod } = await ask(demo, "POST", "/pods", { name: "big", volume_in_gb: 10, cloud_type: "SECURE" });
      const start = Math.ceil(Date.now() / HOUR) * HOUR + 72 * HOUR;
      const session = { start_at: new Date(start).toISOString(), stop_at: new Date(start + 2 * HOUR).toISOString() };
      await ask(demo, "POST", `/pods/${demo.facts.pod_id}/sessions`, session);
      await ask(demo, "PUT", "/settings", { monthly_budget_usd: 1234.5 });
      await demo.act("stop");
      await eventually(
        async () => (await ask(demo, "GET", `/pods/${pod.id}`)).pod.status === "RUNNING",
        "big runs",
      );
      const [workshop, big] = (await ask(demo, "GET", "/pods")).pods;
      assert.deepEqual([workshop.status, big.status, big.cost_per_hour], ["EXITED", "RUNNING", 0.25]);
      // Seven hours behind, in the words of a calendar.
      const parts = new Intl.DateTimeFormat("en-GB", {
        timeZone: "UTC",
        weekday: "short",
        day: "numeric",
        month: "short",
      }).formatToParts(start - 7 * HOUR);
      const part = (type: string) => parts.find((one) => one.type === type)!.value;
      const clock = inPhoenix(start);
      const at = `${part("weekday")} ${part("day")} ${part("month")} ${clock}`;
      const since = inPhoenix(Date.parse(workshop.status_since));

      await inAdmin(demo, { columns: 120, rows: 40, env: PHOENIX }, async (terminal) => {
        const seen: string[] = [];
        const see = async (want: string | RegExp) => {
          const screen = await terminal.until(want);
          seen.push(screen);
          return screen;
        };
        const list = await see(/^..big +● Running \d+s +\$0\.25\/hr/m);
        assert.match(list, /1 running \/ 1 stopped {3}\$0\.25\/hr/);
        assert.match(list, /^> workshop +○ Stopped \d+s +\$0\.00\/hr/m);
        await openPod(terminal, "workshop");
        const details = await see(new RegExp(`Next session  ${at} to [^]*^ +${since} +pod\\.stopped`, "m"));
        assert.match(details, /Status +○ Stopped/);
        assert.match(details, new RegExp(`Since +${since}`));
        await terminal.keys("c");
        await see(at);
        await command(terminal, "sessions", at);
        await see(at);
        await command(terminal, "events", new RegExp(`${since}.*pod\\.stopped`));
        await see("pod.stopped");
        await command(terminal, "audit", "WHEN");
        await see(since);
        await command(terminal, "spend", /\$0\.\d\d/);
        await see("$1234.50");
        await command(terminal, "settings", "$1234.50 a month");
        await see("$1234.50 a month");
        await command(terminal, "pods", /^> workshop/m);
        await terminal.keys("n");
        await see("Cost: $0.25/hr");
        await terminal.keys("Down");
        await terminal.until(/^> Hardware/m);
        await terminal.keys("Space");
        await see(/Cost: \$0\.060\/hr/);
        await terminal.keys("C-c");
        await terminal.until("rc=0");
        for (const screen of seen) {
          // Lines of capitals alone are the headings of tables.
          const text = screen.split("\n").filter((line) => /[a-z]/.test(line)).join("\n");
          assert.doesNotMatch(text, /\b(RUNNING|EXITED|PROVISIONING|STARTING)\b/);
          assert.doesNotMatch(screen, /\d{4}-\d\d-\d\dT\d\d/);
          for (const [text, whole, cents] of screen.matchAll(/\$(\d+)(?:\.(\d+))?/g)) {
            const isTiny = whole === "0" && cents?.startsWith("0") === true && cents !== "00";
            assert.equal(cents?.length, isTiny ? 3 : 2, `${text}:\n${screen}`);
          }
        }
      });
    }),
});
