import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { decode, type Input, MOST_PASTED } from "../../admin/ui/keys/decode.ts";
import { createKeySource, type RawInput } from "../../admin/ui/keys/source.ts";
import { eventually } from "../support/world.ts";

const keysOf = (text: string, isAll = true) =>
  decode(text, isAll).inputs.map((input) => input.kind === "key" ? input.key : `paste:${input.text}`);

Deno.test("decode splits a burst into single keys", () => {
  assert.deepEqual(keysOf("jjj\r"), ["j", "j", "j", "enter"]);
  assert.deepEqual(keysOf("\x1b[A\x1b[B\x1bOC\x1b[5~\x1b[3~\t\x1b[Z\x7f"), [
    "up",
    "down",
    "right",
    "pageup",
    "delete",
    "tab",
    "shift-tab",
    "backspace",
  ]);
  assert.deepEqual(keysOf("\x03\x13\x1b[1;5C\x1bx"), ["ctrl-c", "ctrl-s", "ctrl-right", "alt-x"]);
});

Deno.test("decode takes a letter with its marks whole, and wide ones too", () => {
  assert.deepEqual(keysOf("e\u0301日\u{1f600}"), ["e\u0301", "日", "\u{1f600}"]);
});

Deno.test("decode keeps a bracketed paste whole, with keys and escapes inside of it", () => {
  assert.deepEqual(keysOf("a\x1b[200~one\r\ntwo\x1b[A\x1b[201~b"), ["a", "paste:one\r\ntwo\x1b[A", "b"]);
});

Deno.test("decode waits for the rest of what is cut, and gives it up when nothing more comes", () => {
  for (const cut of ["\x1b", "\x1b[", "\x1b[1;", "\x1bO", "\x1b[200~abc"]) {
    assert.deepEqual(decode(cut, false), { inputs: [], rest: cut });
  }
  assert.deepEqual(keysOf("\x1b"), ["esc"]);
  assert.deepEqual(keysOf("\x1b\x1b"), ["esc", "esc"]);
  assert.deepEqual(keysOf("\x1b[1;"), []);
  assert.deepEqual(keysOf("\x1b[200~abc"), ["paste:abc"]);
});

Deno.test("decode drops what is no key: mouse reports, focus, answers of the terminal", () => {
  assert.deepEqual(keysOf("\x1b[<0;10;10M\x1b[I\x1b[?62;c\x1b[24;80Rx\x1b[99~"), ["x"]);
});

Deno.test("decode ends a paste that never ends at its limit", () => {
  const [paste] = decode(`\x1b[200~${"x".repeat(MOST_PASTED + 10)}`, false).inputs;
  assert(paste?.kind === "paste");
  assert.equal(paste.text.length, MOST_PASTED);
});

Deno.test("decode ends for every text and every cut of it", () => {
  const text = "a\x1b[200~p\x1b[201~\x1b[A\x1bOP\x1b\x1b[Zé日\x00\x1b[[A\x1b]0;t\x07";
  for (let at = 0; at <= text.length; at++) {
    const first = decode(text.slice(0, at), false);
    const second = decode(first.rest + text.slice(at), true);
    assert.equal(second.rest, "");
  }
});

function rawInput(): RawInput & { emitter: EventEmitter; isRaw: boolean } {
  const emitter = new EventEmitter();
  const input = {
    emitter,
    isRaw: false,
    setRawMode: (isRaw: boolean) => void (input.isRaw = isRaw),
    on: (event: string, listener: (data: Uint8Array | string) => void) => emitter.on(event, listener),
    off: (event: string, listener: (data: Uint8Array | string) => void) => emitter.off(event, listener),
    resume: () => {},
    pause: () => {},
  };
  return input;
}

Deno.test("a key source joins a sequence and a letter that were cut between two reads", () => {
  const raw = rawInput();
  const inputs: Input[] = [];
  const source = createKeySource(raw, { onInput: (input) => void inputs.push(input), onEnd: () => {} });
  source.open();
  assert.equal(raw.isRaw, true);
  raw.emitter.emit("data", "\x1b");
  raw.emitter.emit("data", "[A");
  const letter = new TextEncoder().encode("日");
  raw.emitter.emit("data", letter.slice(0, 1));
  raw.emitter.emit("data", letter.slice(1));
  assert.deepEqual(inputs, [{ kind: "key", key: "up" }, { kind: "key", key: "日" }]);
  source.close();
  assert.equal(raw.isRaw, false);
});

Deno.test("a key source gives a lone escape after a moment", async () => {
  const raw = rawInput();
  const inputs: Input[] = [];
  const source = createKeySource(raw, { onInput: (input) => void inputs.push(input), onEnd: () => {} });
  source.open();
  raw.emitter.emit("data", "\x1b");
  assert.deepEqual(inputs, []);
  await eventually(() => inputs.length > 0, "the escape is a key");
  assert.deepEqual(inputs, [{ kind: "key", key: "esc" }]);
  source.close();
});

Deno.test("a key source hands nothing over once a key has given the terminal away", () => {
  const raw = rawInput();
  const inputs: string[] = [];
  const source = createKeySource(raw, {
    onInput: (input) => {
      inputs.push(input.kind === "key" ? input.key : "");
      source.close();
    },
    onEnd: () => {},
  });
  source.open();
  raw.emitter.emit("data", "eabc");
  assert.deepEqual(inputs, ["e"]);
});
