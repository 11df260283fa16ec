/**
 * A walk through the admin, led by chance: keys that are shown and keys that are not, texts, pastes, bursts and noise,
 * while the window changes, the server is far away or refuses, and others change the same things.
 */
import { SCREENS } from "../../../admin/ui/screens/list.ts";
import type { AnyScreen } from "../../../admin/ui/core/screen.ts";
import { ESCAPE_MS, PASTE_MS } from "../../../admin/ui/keys/source.ts";
import { layoutOf } from "../../../admin/ui/frame/layout.ts";
import type { FormState } from "../../../admin/ui/widgets/form/fields.ts";
import { lineWidth, textOf } from "../../../admin/ui/text/line.ts";
import type { Ended } from "../../../admin/ui/terminal/run.ts";
import { createRandom, type Random } from "../../schedule/term/random.ts";
import { type FakeAdmin, startFakeAdmin } from "../../support/fake_admin.ts";
import { openedBy } from "../screen_params.ts";
import { chooseStep, type Sight, type Step } from "./choose.ts";
import { createScene, type Scene } from "./scene.ts";
import { POD_NAMES } from "./texts.ts";

export interface WalkReport {
  readonly seed: number;
  readonly keys: number;
  /** How often it left the admin and started it again. */
  readonly starts: number;
  readonly resizes: number;
  readonly requests: number;
  /** Ids of the screens that were open. */
  readonly screens: readonly string[];
}

export class WalkFailed extends Error {
  override readonly name = "WalkFailed";
}

/** How long a shown key may take until something is seen of it. */
const ANSWER_MS = 30_000;
const MOST_TOLD = 40;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Walks so many keys. Throws `WalkFailed` with the way that led there. */
export async function walk(
  { seed, keys, folder }: { readonly seed: number; readonly keys: number; readonly folder: string },
): Promise<WalkReport> {
  const random = createRandom(seed);
  const names = Array.from({ length: 2 }, (_, at) => POD_NAMES[(seed * 3 + at) % POD_NAMES.length]!);
  const scene = await createScene(folder, random, ["workshop", ...names]);
  try {
    return await new Walker(seed, random, scene).go(keys);
  } finally {
    // What is stalled would keep the world open.
    scene.sky.change("calm");
    await scene.close();
  }
}

/** Listed people are only left into the form below them. */
const STARTS = SCREENS.filter(({ id }) => id !== "listed-people");

class Walker {
  private fake!: FakeAdmin;
  private ended: Ended | null = null;
  private keys = 0;
  private starts = 0;
  private resizes = 0;
  private screens = new Set<string>();
  private told: string[] = [];

  constructor(private readonly seed: number, private readonly random: Random, private readonly scene: Scene) {}

  async go(most: number): Promise<WalkReport> {
    try {
      await this.start();
      while (this.keys < most) await this.step();
      await this.leave();
    } catch (error) {
      const trail = this.told.join("\n  ");
      const screen = this.fake?.text() ?? "";
      // While it is open, what is written to the console goes to its screen.
      this.fake?.terminal.hangUp();
      await this.fake?.ended;
      throw new WalkFailed(`seed ${this.seed}, after ${this.keys} keys:\n  ${trail}\n${screen}`, { cause: error });
    }
    const { seed, keys, starts, resizes, screens } = this;
    return { seed, keys, starts, resizes, requests: this.scene.sky.requests, screens: [...screens].sort() };
  }

  private async start(): Promise<void> {
    this.starts++;
    this.ended = null;
    const [columns, rows] = this.random.pick([[80, 24], [80, 24], [40, 12], [120, 35]] as const);
    const isOfficer = this.random.chance(0.5);
    // Half of the starts are in the list of pods, as those of the program; the others anywhere.
    const screen = this.random.chance(0.5) ? SCREENS[0]! : this.random.pick(STARTS);
    this.fake = await startFakeAdmin(this.scene.world, {
      first: { screen, params: openedBy(screen, this.scene.facts) },
      columns,
      rows,
      intercept: this.scene.sky.intercept,
      ...(isOfficer ? { token: await this.scene.world.token("officer", "officer") } : {}),
    });
    this.fake.ended.then((how) => this.ended = how);
    this.tell(`started as ${isOfficer ? "an officer" : "the operator"} at ${columns}x${rows} with ${screen.id}`);
  }

  private async step(): Promise<void> {
    const { admin } = this.fake;
    const layer = admin.state.layers.at(-1)!;
    this.screens.add(layer.screen.id);
    const step = chooseStep(this.random, await this.sight(layer.screen));
    this.tell(`${layer.screen.id}${admin.state.prompt === null ? "" : "+prompt"}: ${JSON.stringify(step)}`);
    await this.take(step);
    if (this.ended !== null) return await this.again();
    this.check();
  }

  private async sight(screen: AnyScreen): Promise<Sight> {
    const { admin } = this.fake;
    const isBlind = layoutOf(admin.state.columns, admin.state.rows) === null;
    const offers = isBlind || admin.state.prompt !== null ? [] : admin.offers();
    const typed = /Type (.*?) and press enter/s.exec(admin.frame.map(textOf).join("\n"))?.[1];
    const token = screen.id === "sign-in" ? await this.scene.world.token("officer", "officer") : undefined;
    return {
      offered: offers.filter(({ isOffered, shown }) => isOffered && shown !== null),
      words: offers.flatMap(({ word, takes, isOffered }) =>
        word !== null && isOffered ? [{ word, takes: takes !== null }] : []
      ),
      // Where letters are text, the colon is no key.
      isTyping: offers.length === 0 || !offers.some(({ keys }) => keys.includes(":")),
      fitting: [typed, token].filter((text) => text !== undefined),
    };
  }

  private async take(step: Step): Promise<void> {
    switch (step.kind) {
      case "shown":
        return await this.pressShown(step);
      case "keys":
        this.keys += step.keys.length;
        for (const key of step.keys) if (this.ended === null) await this.fake.press(key);
        return;
      case "type":
        this.keys += [...step.text].length;
        return await this.fake.type(step.text);
      case "paste":
        this.keys++;
        return await this.fake.paste(step.text);
      case "bytes":
        this.keys++;
        await this.fake.type(step.bytes);
        // What is left of them may be the beginning of a key.
        await pause(ESCAPE_MS * 2);
        // Until a paste whose end does not come is given up, keys are part of it.
        if (step.bytes.lastIndexOf("\x1b[200~") > step.bytes.lastIndexOf("\x1b[201~")) {
          await pause(PASTE_MS + ESCAPE_MS);
        }
        return;
      case "resize":
        this.resizes += step.sizes.length;
        for (const [columns, rows] of step.sizes.slice(0, -1)) this.fake.terminal.resize(columns, rows);
        return await this.fake.resize(...step.sizes.at(-1)!);
      case "weather":
        this.scene.sky.change();
        return this.tell(`  now ${this.scene.sky.weather}`);
      case "happen":
        return this.tell(`  ${await this.scene.happen()}`);
    }
  }

  /** Presses a key of the footer; something must be seen of it. Of keys that move, the other way counts too. */
  private async pressShown({ key, keys, label }: Step & { kind: "shown" }): Promise<void> {
    const before = this.seen();
    this.keys++;
    await this.fake.press(key);
    const others = keys.filter((one) => one !== key);
    for (const until = performance.now() + ANSWER_MS; this.ended === null && this.seen() === before;) {
      const next = others.shift();
      if (next !== undefined) {
        this.keys++;
        await this.fake.press(next);
      } else if (this.saysWhy()) return;
      else if (performance.now() > until) throw new Error(`The footer shows "${key} ${label}", which does nothing`);
      else await pause(20);
    }
  }

  /** Everything by which one notices that a key did something. */
  private seen(): string {
    const { admin } = this.fake;
    const { busy, messages } = admin.state;
    return JSON.stringify([admin.frame, this.scene.sky.requests, busy, messages, this.fake.terminal.screen.bytes]);
  }

  /** What cannot be sent or completed has said so, and goes on saying it; a form that is being sent waits. */
  private saysWhy(): boolean {
    const state = this.fake.admin.state.layers.at(-1)!.state as Partial<FormState> & { refusal?: unknown } | null;
    if (typeof state?.refusal === "string") return true;
    return state?.wasTried === true && (state.isSending === true || / ! \S/.test(this.fake.text()));
  }

  private check(): void {
    const { admin, terminal } = this.fake;
    const { columns, rows } = admin.state;
    if (terminal.screen.rows().length !== rows) throw new Error("The admin believes in another window");
    if (admin.frame.length !== rows) throw new Error(`The frame has ${admin.frame.length} lines of ${rows}`);
    for (const one of admin.frame) {
      if (lineWidth(one) !== columns) throw new Error(`A line of ${lineWidth(one)} columns: ${textOf(one)}`);
    }
  }

  /** The admin was left by a key: that must be a good end, and it starts again. */
  private async again(): Promise<void> {
    const how = this.ended!;
    if (how.error !== undefined) throw new Error("The admin broke", { cause: how.error });
    if (how.exitCode !== 0) throw new Error(`The admin ended with ${how.exitCode}`);
    await this.fake.close();
    await this.start();
  }

  private async leave(): Promise<void> {
    if (this.random.chance(0.5)) {
      this.fake.terminal.hangUp();
      const how = await this.fake.ended;
      if (how.exitCode !== 129) throw new Error(`A lost terminal ended with ${how.exitCode}`, { cause: how.error });
    }
    const how = await this.fake.close();
    if (how.error !== undefined) throw new Error("The admin broke", { cause: how.error });
  }

  private tell(text: string): void {
    this.told.push(text);
    if (this.told.length > MOST_TOLD) this.told.shift();
  }
}
