/** Longest reason that is shown or logged, in characters (contract, RunPod errors). */
export const DETAIL_LIMIT = 300;

/** Takes secrets out of a text that came from outside. */
export type Redact = (text: string) => string;

const MARK = "[redacted]";
/** From this length on, a beginning of a secret is treated as the secret: services quote values cut short. */
const PREFIX = 12;
/** Shorter values ("1", "yes") are words of any sentence; they are taken out only as a quoted or assigned value. */
const SHORT = 4;

/** A function that replaces each of `secrets` (API key, env values), also when escaped, cut short, or one line of many. */
export function createRedact(secrets: readonly string[]): Redact {
  const forms = new Set(secrets.flatMap(formsOf));
  // Longest first, so that a secret which contains another goes as a whole.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  return (text) => ordered.reduce(takeOut, text);
}

function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= PREFIX);
  return [secret, ...lines]
    .flatMap((form) => [form, JSON.stringify(form).slice(1, -1), encodeURIComponent(form.toWellFormed()), html(form)])
    .filter((form) => form !== "");
}

function html(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function takeOut(text: string, secret: string): string {
  if (secret.length < SHORT) {
    const literal = secret.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return text.replace(new RegExp(`(["'\`]|[=:]\\s?)${literal}(?![A-Za-z0-9_])`, "g"), `$1${MARK}`);
  }
  if (secret.length < PREFIX) return text.replaceAll(secret, MARK);
  const start = secret.slice(0, PREFIX);
  let out = "";
  let from = 0;
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, from)) {
    let end = PREFIX;
    while (end < secret.length && text[at + end] === secret[end]) end++;
    out += text.slice(from, at) + MARK;
    from = at + end;
  }
  return out + text.slice(from);
}

/** One line for a person: white space joined, control and direction characters escaped, at most `limit` characters. */
export function plain(text: string, limit = DETAIL_LIMIT): string {
  const line = text
    .trim()
    .slice(0, limit * 20)
    .replace(/\s+/g, " ")
    .trim()
    .replace(
      // deno-lint-ignore no-control-regex
      /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  return (line.length > limit ? `${line.slice(0, limit - 1)}…` : line).toWellFormed();
}
