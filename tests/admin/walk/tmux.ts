/** A walk through the real program in a real terminal, over a demo of its own. */
import { PASTE_MS } from "../../../admin/ui/keys/source.ts";
import { SCREENS } from "../../../admin/ui/screens/list.ts";
import { CATALOGUE } from "../../../server/demo/discord/fault_catalogue.ts";
import { type FaultInfo, FAULTS } from "../../../server/demo/runpod/fault_table.ts";
import { createRandom, type Random } from "../../schedule/term/random.ts";
import { type DemoProcess, startDemoProcess } from "../../support/demo_process.ts";
import { footerKeys, tmuxNames } from "../../support/shown_keys.ts";
import type { Tmux } from "../../support/tmux.ts";
import { checkGivenBack, inAdmin } from "../program.ts";
import { chooseStep, type Sight, type Step } from "./choose.ts";
import { WalkFailed, type WalkReport } from "./walk.ts";

const WORDS = SCREENS.flatMap(({ command }) => command === undefined ? [] : [{ word: command.word, takes: false }]);
const MOST_TOLD = 40;
/** The exit code that the pane prints; keys that come after the end are echoed before it. */
const ENDED = /rc=\d+$/m;
/** So many steps after the other, until it must show that it still answers. */
const PROBE_EVERY = 12;
const SHORT_MS = 100;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Walks so many keys. Throws `WalkFailed` with the way that led there. */
export async function walkInTmux(
  { seed, keys, folder }: { readonly seed: number; readonly keys: number; readonly folder: string },
): Promise<WalkReport> {
  const demo = await startDemoProcess();
  try {
    const walker = new TmuxWalker(seed, createRandom(seed), demo);
    while (walker.keys < keys) await walker.run(keys, folder);
    return walker.report();
  } finally {
    Deno.kill(demo.pid, "SIGCONT");
    await demo.end("SIGTERM").finally(demo.close);
  }
}

class TmuxWalker {
  keys = 0;
  private starts = 0;
  private resizes = 0;
  private size: readonly [columns: number, rows: number] = [80, 24];
  private isStill = false;
  private told: string[] = [];

  constructor(private readonly seed: number, private readonly random: Random, private readonly demo: DemoProcess) {}

  report(): WalkReport {
    const { seed, keys, starts, resizes } = this;
    return { seed, keys, starts, resizes, requests: 0, screens: [] };
  }

  /** From one start of the program to its end. */
  async run(most: number, folder: string): Promise<void> {
    this.starts++;
    this.size = this.random.pick([[80, 24], [40, 12], [120, 35]] as const);
    const [columns, rows] = this.size;
    // A server that stands still would not let it in.
    this.stand(false);
    this.tell(`started at ${columns}x${rows}`);
    const env = { EDITOR: "true", VISUAL: "true", XDG_CONFIG_HOME: folder };
    await inAdmin(this.demo, { columns, rows, env, folder }, async (terminal) => {
      try {
        await terminal.until(/connected/);
        for (let steps = 1; this.keys < most && !(await this.hasEnded(terminal)); steps++) {
          const screen = await terminal.screen();
          const step = chooseStep(this.random, this.sight(screen));
          this.tell(JSON.stringify(step));
          await this.take(terminal, step);
          if (steps % PROBE_EVERY === 0) await this.probe(terminal);
        }
        // Keys are part of a paste whose end did not come, until it is given up.
        await pause(PASTE_MS);
        if (!(await this.hasEnded(terminal))) await terminal.keys("C-c", "C-c");
        await checkGivenBack(terminal, 0);
      } catch (error) {
        const trail = this.told.join("\n  ");
        throw new WalkFailed(`seed ${this.seed}, after ${this.keys} keys:\n  ${trail}\n${await terminal.screen()}`, {
          cause: error,
        });
      }
    });
  }

  private async hasEnded(terminal: Tmux): Promise<boolean> {
    return ENDED.test(await terminal.screen()) && !(await terminal.flag("alternate_on"));
  }

  private sight(screen: string): Sight {
    const shown = footerKeys(screen, this.size[1]);
    const typed = /Type (.*?) and press enter/.exec(screen)?.[1];
    return {
      offered: shown.map(({ key, label }) => ({ keys: [key], label, isMinor: false })),
      words: WORDS,
      isTyping: !shown.some(({ key }) => key === ":"),
      fitting: typed === undefined ? [] : [typed],
    };
  }

  private async take(terminal: Tmux, step: Step): Promise<void> {
    const bytes = (text: string) => terminal.bytes(new TextEncoder().encode(text));
    switch (step.kind) {
      case "shown":
        return await this.press(terminal, step.key);
      case "keys":
        for (const key of step.keys) await this.press(terminal, key);
        return;
      case "type":
        this.keys += [...step.text].length;
        return await bytes(step.text);
      case "paste":
        this.keys++;
        return await terminal.paste(step.text.replaceAll("\0", ""));
      case "bytes":
        this.keys++;
        return await bytes(step.bytes);
      case "resize":
        for (const size of step.sizes) await this.resize(terminal, size);
        return;
      case "weather":
        return this.stand(!this.isStill && this.random.chance(0.5));
      case "happen":
        return await this.fault();
    }
  }

  private async press(terminal: Tmux, key: string): Promise<void> {
    this.keys++;
    const names = tmuxNames(key);
    if (names === null) await terminal.type(key);
    else await terminal.keys(this.random.pick(names));
  }

  private async resize(terminal: Tmux, size: readonly [number, number]): Promise<void> {
    this.resizes++;
    this.size = size;
    await terminal.resize(...size);
  }

  /** It answers: a window that is too small says which size it has, and one that is large enough has its header again. */
  private async probe(terminal: Tmux): Promise<void> {
    if (await this.hasEnded(terminal)) return;
    await this.resize(terminal, [39, this.random.int(13, 40)]);
    await this.untilOrEnd(terminal, new RegExp(`is 39x${this.size[1]}`));
    await this.resize(terminal, this.random.pick([[80, 24], [40, 12], [120, 35]] as const));
    await this.untilOrEnd(terminal, /^ \S.*(connected|connection lost|signed out)/);
  }

  private async untilOrEnd(terminal: Tmux, want: RegExp): Promise<void> {
    await terminal.until(new RegExp(`${want.source}|${ENDED.source}`, "m"));
  }

  /** Stops the server for a while, or lets it go on. */
  private stand(isStill: boolean): void {
    if (isStill === this.isStill) return;
    this.isStill = isStill;
    Deno.kill(this.demo.pid, isStill ? "SIGSTOP" : "SIGCONT");
    this.tell(`  the server ${isStill ? "stands still" : "goes on"}`);
  }

  private async fault(): Promise<void> {
    // The stand-ins are in the server's process.
    if (this.isStill) return await pause(SHORT_MS) as void;
    const { random, demo } = this;
    const times = random.int(1, 4);
    if (random.chance(0.6)) {
      const { id, variants } = random.pick(
        (FAULTS as readonly FaultInfo[]).filter(({ variants }) => variants.length > 0),
      );
      const variant = random.pick(variants);
      this.tell(`  RunPod: ${id} ${variant}`);
      await demo.control("runpod", "/_demo/faults", { fault: id, variant, times, ms: 300 });
      return;
    }
    const [fault, { variants }] = random.pick(Object.entries(CATALOGUE).filter(([, { byRoute }]) => byRoute));
    const [variant, { ms }] = random.pick(Object.entries(variants));
    this.tell(`  Discord: ${fault} ${variant}`);
    await demo.control("discord", "/_demo/faults", { fault, variant, times, ...(ms === undefined ? {} : { ms: 300 }) });
  }

  private tell(text: string): void {
    this.told.push(text);
    if (this.told.length > MOST_TOLD) this.told.shift();
  }
}
