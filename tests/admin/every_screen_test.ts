/**
 * What holds of every screen of the admin, also of those that are made later: each is opened over pods with odd names, in
 * windows of all sizes, while the window is changed again and again, without colours, and left by a lost terminal.
 */
import assert from "node:assert/strict";
import { SCREENS } from "../../admin/ui/screens/list.ts";
import { lineWidth, textOf } from "../../admin/ui/text/line.ts";
import { checkWhole, type FakeAdmin, startFakeAdmin, withAdmin } from "../support/fake_admin.ts";
import { lacks } from "../support/needs.ts";
import { withDemo } from "../support/demo_process.ts";
import { createRunningPod, eventually, PEOPLE } from "../support/world.ts";
import { inTmux } from "../support/tmux.ts";
import { checkGivenBack, inAdmin, programWords } from "./program.ts";
import { openedBy, type ScreenFacts } from "./screen_params.ts";
import { type TestWorld, withWorld } from "./support.ts";

const NAMES: readonly string[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/admin/names.json", import.meta.url)),
).names;
const ODD = NAMES.map((name) => name.replaceAll("\0", "").slice(0, 60))
  .filter((name) => name.trim() !== "" && name.isWellFormed());
const SIZES = [[1, 1], [400, 100], [39, 24], [40, 12], [80, 24], [2, 50], [200, 50]] as const;

// deno-lint-ignore no-control-regex
const GREEN_STATE = /\x1b\[32m(?:\x1b\[49m)?● Running/;
/** Keys from the list of pods through what has no word, and what is to be seen then. */
const PATH = [
  ["x", "EVERY file on it is lost"],
  ["n", "q quit"],
  ["D", "It cannot be"],
  ["Escape", "q quit"],
  ["Enter", "Pod id"],
  ["a", "> Access"],
  ["Escape", "Pod id"],
  ["p", "> People"],
  ["Escape", "Pod id"],
  ["f", "> Files"],
  ["Escape", "Pod id"],
  ["Escape", /^> workshop/m],
] as const;

/** An org in which everything has an odd name; which ones, `turn` says. */
async function furnish(world: TestWorld, turn: number): Promise<ScreenFacts> {
  const name = (at: number) => ODD[(turn * 2 + at) % ODD.length]!;
  const id = await createRunningPod(world, { name: name(0) });
  await createRunningPod(world, { name: name(1), is_public: false, allowed_users: [PEOPLE.member] });
  const must = async (path: string, body: unknown) => {
    const { status, json, text } = await world.call("POST", `/api/compute/org/${path}`, { as: "officer", body });
    assert(status < 300, text);
    return json;
  };
  const at = Date.UTC(2026, 11, 24, 18);
  const times = { start_at: new Date(at).toISOString(), stop_at: new Date(at + 3_600_000).toISOString() };
  // The server takes no control characters there.
  const oneLine = (at: number) => name(at).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "x");
  const { session } = await must(`pods/${id}/sessions`, { ...times, title: oneLine(2) });
  const { webhook } = await must("webhooks", {
    name: oneLine(3),
    format: "signed",
    url: "https://93.184.216.34/odd",
    kinds: ["pod.started"],
  });
  return { pod: { id, name: name(0) }, sessionId: session.id, webhookId: webhook.id };
}

function checkFrame({ admin }: FakeAdmin, [columns, rows]: readonly [number, number], id: string): void {
  assert.equal(admin.frame.length, rows, `${id} in ${columns}x${rows}`);
  for (const one of admin.frame) assert.equal(lineWidth(one), columns, `${id} in ${columns}x${rows}: ${textOf(one)}`);
}

for (const [turn, screen] of SCREENS.entries()) {
  Deno.test(`the screen ${screen.id} fits windows of all sizes, whatever things are called, and survives a storm of them`, () =>
    withWorld(async (world) => {
      const facts = await furnish(world, turn);
      const first = { screen, params: openedBy(screen, facts) };
      await withAdmin(world, { first }, async (fake) => {
        await fake.until(/quit|more/);
        for (const size of SIZES) {
          await fake.resize(size[0], size[1]);
          checkFrame(fake, size, screen.id);
          await fake.press("?", "esc");
        }
        // Ten times a second for a while, so to say: without a wait, and with keys in between.
        for (let at = 0; at < 40; at++) {
          fake.terminal.resize(1 + (at * 53) % 400, 1 + (at * 17) % 100);
          if (at % 4 === 0) fake.terminal.send("j");
          if (at % 8 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
        }
        await fake.resize(100, 30);
        checkFrame(fake, [100, 30], screen.id);
        assert.equal(fake.admin.state.layers[0]!.screen, screen);
        assert.match(fake.text(), /^ orgpods {2}org/);
      });
    }));
}

Deno.test("a terminal that is lost while a dialog or a form is open ends the admin with 129, and nothing is left on", () =>
  withWorld(async (world) => {
    const facts = await furnish(world, 0);
    for (const keys of [["x"], ["n"], [":"], ["/"], ["?"]]) {
      const first = { screen: SCREENS[0], params: openedBy(SCREENS[0]!, facts) };
      const fake = await startFakeAdmin(world, { first });
      await fake.until(/^> /m);
      await fake.press(...keys);
      fake.terminal.hangUp();
      assert.equal((await fake.ended).exitCode, 129);
      await fake.close();
      checkWhole(fake.terminal);
    }
  }));

Deno.test({
  name: "with NO_COLOR no colour is sent on any screen, and without it the state of a pod is green",
  ignore: lacks("tmux", "stty"),
  fn: () =>
    withDemo(async (demo) => {
      const words = SCREENS.flatMap(({ command }) => command === undefined ? [] : [command.word]);
      const coloured = { NO_COLOR: "", FORCE_COLOR: "", CI: "" };
      for (const env of [{ ...coloured, NO_COLOR: "1" }, coloured]) {
        const isPlain = env.NO_COLOR === "1";
        await inAdmin(demo, { env, columns: 100, rows: 30 }, async (terminal) => {
          const sent = await terminal.record();
          await terminal.until(/^> workshop/m);
          if (!isPlain) await terminal.untilColoured(GREEN_STATE);
          for (const [key, want] of PATH) {
            await terminal.keys(key);
            await terminal.until(want);
          }
          for (const word of words) {
            await terminal.keys(":");
            await terminal.until("tab complete");
            await terminal.type(`${word}\n`);
            await eventually(async () => !(await terminal.screen()).includes("tab complete"), `${word} is open`);
            // A form takes the colon as text.
            if ((await terminal.screen()).includes("f1 help")) {
              await terminal.keys("Escape");
              await terminal.until(": command");
            }
          }
          await terminal.keys("C-c");
          await checkGivenBack(terminal, 0);
          // deno-lint-ignore no-control-regex
          const styles = [...(await sent()).matchAll(/\x1b\[([0-9;]*)m/g)].map(([, codes]) => codes!);
          if (isPlain) assert.deepEqual(styles.filter((codes) => codes !== "" && codes !== "0"), []);
          else assert(styles.includes("32"), styles.slice(0, 20).join(" "));
        });
      }
    }),
});

Deno.test({
  name: "admin with a closed input, or one that is no terminal, is refused with 2",
  ignore: lacks("tmux"),
  fn: async () => {
    const words = programWords(["admin"]).map((word) => `'${word}'`).join(" ");
    for (const input of ["<&-", "</dev/null"]) {
      await inTmux({ command: ["bash", "-c", `${words} ${input}`] }, async (terminal) => {
        await terminal.until("rc=2");
        assert.match(await terminal.screen(), /The admin needs a terminal/);
      });
    }
  },
});
