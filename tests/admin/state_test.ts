import assert from "node:assert/strict";
import { completions, type Offer, offersOf } from "../../admin/ui/core/offers.ts";
import { commandOf, promptStep } from "../../admin/ui/core/prompt.ts";
import { type AnyScreen, type At, defineScreen } from "../../admin/ui/core/screen.ts";
import { filterPrompt, initialState, reduce, topOf, type UiState } from "../../admin/ui/core/state.ts";
import { editOf } from "../../admin/ui/text/edit.ts";

const plain = (id: string): AnyScreen =>
  defineScreen<unknown, { n: number }>({
    id,
    title: () => id,
    init: () => ({ n: 0 }),
    actions: [],
    view: () => [],
  }) as AnyScreen;
const [LIST, ONE, MORE] = [plain("list"), plain("one"), plain("more")];
const start = () => initialState(LIST!, null, 80, 24);
const idsOf = (state: UiState) => state.layers.map(({ screen }) => screen.id).join(">");

Deno.test("reduce opens screens above one another and closes each wherever it is", () => {
  let state = start();
  state = reduce(state, { kind: "open", screen: ONE!, params: 1 });
  state = reduce(state, { kind: "open", screen: MORE!, params: 2 });
  assert.equal(idsOf(state), "list>one>more");
  state = reduce(state, { kind: "close", layer: state.layers[1]!.id });
  assert.equal(idsOf(state), "list>more");
  state = reduce(state, { kind: "home", screen: ONE!, params: null });
  assert.equal(idsOf(state), "list>one");
  assert.equal(idsOf(reduce(state, { kind: "home", screen: LIST!, params: null })), "list");
});

Deno.test("reduce never closes the first screen, and does nothing for a screen that is gone", () => {
  const state = start();
  assert.equal(reduce(state, { kind: "close", layer: topOf(state).id }), state);
  assert.equal(reduce(state, { kind: "set", layer: 99, change: () => 1 }), state);
  assert.equal(reduce(state, { kind: "done", what: "Stop x" }), state);
});

Deno.test("reduce keeps the stack bounded and its first screen", () => {
  let state = start();
  for (let n = 0; n < 100; n++) state = reduce(state, { kind: "open", screen: ONE!, params: n });
  assert(state.layers.length <= 30);
  assert.equal(state.layers[0]!.screen, LIST);
  assert.equal(topOf(state).params, 99);
});

Deno.test("reduce filters as one types, and keeps what each screen remembers", () => {
  let state = reduce(start(), { kind: "set", layer: 1, change: () => ({ n: 7 }) });
  state = reduce(state, { kind: "prompt", prompt: { ...filterPrompt(state), edit: editOf("lab") } });
  assert.equal(topOf(state).filter, "lab");
  state = reduce(state, { kind: "open", screen: ONE!, params: null });
  assert.equal(state.prompt, null);
  state = reduce(state, { kind: "close", layer: topOf(state).id });
  assert.equal(topOf(state).filter, "lab");
  assert.deepEqual(topOf(state).state, { n: 7 });
});

const offer = (word: string, takes: string | null = null): Offer => ({
  keys: [],
  shown: null,
  word,
  takes,
  label: word,
  about: word,
  isOffered: true,
  isMinor: false,
  run: () => {},
});
const OFFERS = [
  offer("start"),
  offer("start-over-budget"),
  offer("stop"),
  offer("keep", "<minutes>"),
  offer("help", "[topic]"),
];

Deno.test("commandOf finds a word, a beginning that is clear, and says what else is wrong", () => {
  const found = (text: string) => {
    const command = commandOf(text, OFFERS);
    return typeof command === "object" && command !== null ? `${command.offer.word} ${command.input}`.trim() : command;
  };
  assert.equal(found("start"), "start");
  assert.equal(found("  sto "), "stop");
  assert.equal(found("keep 90"), "keep 90");
  assert.equal(found("help"), "help");
  assert.equal(found(""), null);
  assert.equal(found("st"), "st may be start, start-over-budget, stop");
  assert.equal(found("dance"), "There is no command dance here; ? lists them");
  assert.equal(found("stop now"), "stop takes nothing behind it");
  assert.equal(found("keep"), "keep takes <minutes>");
  assert.deepEqual(completions(OFFERS, "sta").map(({ word }) => word), ["start", "start-over-budget"]);
});

Deno.test("promptStep completes by tab, runs by enter, and is left by esc or an empty backspace", () => {
  const step = (text: string, key: string) =>
    promptStep({ kind: "command", edit: editOf(text) }, { kind: "key", key }, OFFERS);
  assert.deepEqual(step("ke", "tab"), { kind: "edit", edit: editOf("keep ") });
  assert.deepEqual(step("keep 9", "enter"), { kind: "run", text: "keep 9" });
  assert.deepEqual(step("x", "esc"), { kind: "cancel" });
  assert.deepEqual(step("", "backspace"), { kind: "cancel" });
  assert.deepEqual(step("x", "ctrl-s"), { kind: "none" });
  const filter = { kind: "filter", edit: editOf("lab"), layer: 1 } as const;
  assert.deepEqual(promptStep(filter, { kind: "key", key: "enter" }, []), { kind: "close" });
});

Deno.test("offersOf gives a key to the first action that offers it, and letters to the text where one types", () => {
  const pressed: string[] = [];
  const screen = (isTyping: boolean) =>
    defineScreen<null, null>({
      id: "x",
      title: () => "",
      init: () => null,
      ...(isTyping ? { typing: () => () => {} } : {}),
      actions: [
        { keys: ["enter"], label: "never", when: () => false, run: () => pressed.push("never") },
        { keys: ["enter", "s"], label: "first", run: () => pressed.push("first") },
        { keys: ["enter"], label: "second", run: () => pressed.push("second") },
      ],
      view: () => [],
    }) as AnyScreen;
  const at = {} as At<unknown, unknown>;
  const keys = (isTyping: boolean) => offersOf(screen(isTyping), at, []).map((one) => one.keys);
  assert.deepEqual(keys(false), [[], ["enter", "s"], []]);
  assert.deepEqual(keys(true), [[], ["enter"], []]);
});
