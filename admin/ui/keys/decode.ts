/**
 * What a terminal sends, as keys. A key is named by a word: a printable letter by itself, else `enter`, `esc`, `tab`,
 * `shift-tab`, `up`, `pagedown`, `backspace`, `delete`, `home`, `f1`, `ctrl-s`, `alt-x` and so on.
 */
export type Input = { readonly kind: "key"; readonly key: string } | { readonly kind: "paste"; readonly text: string };

const PASTE = "\x1b[200~";
const PASTE_END = "\x1b[201~";
// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x1f\x7f]/;
// deno-lint-ignore no-control-regex
const CSI = /^\x1b\[(\[?)([0-?]*)[ -/]*([@-~])/;
// deno-lint-ignore no-control-regex
const SS3 = /^\x1bO[0-9;]*([A-Za-z])/;
// deno-lint-ignore no-control-regex
const UNFINISHED = /^\x1b(?:\[[0-?]*|O[0-9;]*)$/;
/** A paste that is longer is cut, and so is one whose end never comes. */
export const MOST_PASTED = 1_000_000;

const CSI_LETTERS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  Z: "shift-tab",
};
const CSI_NUMBERS: Readonly<Record<string, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};

export interface Decoded {
  readonly inputs: readonly Input[];
  /** The beginning of something whose rest has not come yet. */
  readonly rest: string;
}

/**
 * Splits what came into keys and pastes. `isAll` says that nothing more comes soon: then a lone escape is the key `esc`
 * and an unfinished sequence is dropped. Terminal answers and mouse reports are no keys and vanish.
 */
export function decode(text: string, isAll: boolean): Decoded {
  const inputs: Input[] = [];
  let at = 0;
  while (at < text.length) {
    const one = next(text, at, isAll);
    if (one === null) return { inputs, rest: text.slice(at) };
    if (one.input !== null) inputs.push(one.input);
    at = one.end;
  }
  return { inputs, rest: "" };
}

interface Next {
  readonly input: Input | null;
  readonly end: number;
}

const key = (name: string | null, end: number): Next => ({
  input: name === null ? null : { kind: "key", key: name },
  end,
});

/** The input that begins at a place; null when its end is not there yet. */
function next(text: string, at: number, isAll: boolean): Next | null {
  const char = text[at]!;
  if (char === "\x1b") return escape(text, at, isAll);
  const code = char.charCodeAt(0);
  if (code < 0x20 || code === 0x7f) return key(controlName(code), at + 1);
  // Letters are taken whole with their marks; a run of them never spans a control character.
  const end = text.slice(at).search(CONTROL);
  const run = end < 0 ? text.slice(at) : text.slice(at, at + end);
  const [letter] = segmenter.segment(run.slice(0, 64));
  return key(letter!.segment, at + letter!.segment.length);
}

const segmenter = new Intl.Segmenter();

function controlName(code: number): string | null {
  if (code === 0x0d || code === 0x0a) return "enter";
  if (code === 0x09) return "tab";
  if (code === 0x7f || code === 0x08) return "backspace";
  if (code === 0) return "ctrl-space";
  return code < 0x1b ? `ctrl-${String.fromCharCode(code + 96)}` : null;
}

function escape(text: string, at: number, isAll: boolean): Next | null {
  if (text.startsWith(PASTE, at)) return paste(text, at, isAll);
  const rest = text.slice(at, at + 64);
  const csi = CSI.exec(rest);
  if (csi !== null) return key(csiName(csi[2]!, csi[3]!, csi[1] === "["), at + csi[0].length);
  const ss3 = SS3.exec(rest);
  if (ss3 !== null) return key(CSI_LETTERS[ss3[1]!] ?? null, at + ss3[0].length);
  const isUnfinished = rest.length === 1 || UNFINISHED.test(rest);
  if (isUnfinished && !isAll) return null;
  if (rest.length === 1) return key("esc", at + 1);
  if (isUnfinished && rest.length > 2) return key(null, at + rest.length);
  if (rest[1] === "\x1b") return key("esc", at + 1);
  const after = next(text, at + 1, true)!;
  const name = after.input?.kind === "key" ? `alt-${after.input.key}` : null;
  return key(name, after.end);
}

function paste(text: string, at: number, isAll: boolean): Next | null {
  const from = at + PASTE.length;
  const end = text.indexOf(PASTE_END, from);
  const isTooLong = text.length - from > MOST_PASTED;
  if (end < 0 && !isAll && !isTooLong) return null;
  const body = end < 0 ? text.slice(from) : text.slice(from, end);
  return {
    input: { kind: "paste", text: body.slice(0, MOST_PASTED) },
    end: end < 0 ? text.length : end + PASTE_END.length,
  };
}

function csiName(parameters: string, final: string, isLinux: boolean): string | null {
  if (isLinux) return null;
  const [first = "", modifier = "1"] = parameters.split(";");
  const name = final === "~" ? CSI_NUMBERS[first] : CSI_LETTERS[final];
  // A letter with other numbers is an answer of the terminal, such as where the cursor is.
  if (name === undefined || (final !== "~" && first !== "" && first !== "1")) return null;
  const bits = Number(modifier) - 1;
  if (!(bits > 0)) return name;
  return `${bits & 4 ? "ctrl-" : ""}${bits & 2 ? "alt-" : ""}${bits & 1 ? "shift-" : ""}${name}`;
}
