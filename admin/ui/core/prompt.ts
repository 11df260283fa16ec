import { type Edit, editKey, editText, insert } from "../text/edit.ts";
import type { Input } from "../keys/decode.ts";
import { isText, type Offer } from "./offers.ts";
import { completions } from "./offers.ts";
import type { Prompt } from "./state.ts";

/** What an input does to a prompt. */
export type PromptStep =
  | { readonly kind: "edit"; readonly edit: Edit }
  /** The prompt closes; a filter stays as it is. */
  | { readonly kind: "close" }
  /** Escape: the filter goes too. */
  | { readonly kind: "cancel" }
  | { readonly kind: "run"; readonly text: string }
  | { readonly kind: "none" };

/** The keys that a prompt takes, as the footer shows them. */
export const PROMPT_KEYS = {
  command: [["enter", "do it"], ["tab", "complete"], ["esc", "cancel"]],
  filter: [["enter", "keep"], ["esc", "show all"]],
} as const;

/** One key or paste in the line of a command or a filter. */
export function promptStep(prompt: Prompt, input: Input, offers: readonly Offer[]): PromptStep {
  const { edit } = prompt;
  if (input.kind === "paste") return { kind: "edit", edit: insert(edit, input.text) };
  const { key } = input;
  if (key === "esc") return { kind: "cancel" };
  if (key === "enter") return prompt.kind === "filter" ? { kind: "close" } : { kind: "run", text: editText(edit) };
  if (key === "backspace" && edit.letters.length === 0) return { kind: "cancel" };
  if (key === "tab" && prompt.kind === "command") {
    const text = editText(edit);
    const [first] = completions(offers, text);
    if (first === undefined || /\s/.test(text.trimStart())) return { kind: "none" };
    const done = `${first.word}${first.takes === null ? "" : " "}`;
    return { kind: "edit", edit: insert({ letters: [], at: 0 }, done) };
  }
  if (isText(key)) return { kind: "edit", edit: insert(edit, key) };
  const edited = editKey(edit, key);
  return edited === null ? { kind: "none" } : { kind: "edit", edit: edited };
}

/** What a command line asks for: an offer and what stands behind its word; or a sentence why it cannot be. */
export function commandOf(text: string, offers: readonly Offer[]): { offer: Offer; input: string } | string | null {
  const [, word = "", input = ""] = /^\s*(\S*)\s*(.*?)\s*$/s.exec(text) ?? [];
  if (word === "") return null;
  const found = completions(offers, word);
  const exact = found.find((offer) => offer.word === word);
  const offer = exact ?? (found.length === 1 ? found[0] : undefined);
  if (offer === undefined) {
    return found.length === 0
      ? `There is no command ${word} here; ? lists them`
      : `${word} may be ${found.map((one) => one.word).join(", ")}`;
  }
  if (offer.takes === null && input !== "") return `${offer.word} takes nothing behind it`;
  if (offer.takes !== null && !offer.takes.startsWith("[") && input === "") return `${offer.word} takes ${offer.takes}`;
  return { offer, input };
}
