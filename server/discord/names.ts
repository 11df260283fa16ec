/** Names as they may be shown in a terminal, a log line or a page: whatever Discord lets people type, made harmless. */

const LONGEST = 100;

/** Control, format (direction, zero width) and separator characters, lone surrogates, and letters that show nothing. */
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]/gu;

/** The text without characters that control a terminal, turn the direction of writing or are invisible; trimmed. */
export function plainName(text: string): string {
  const plain = text.replace(UNSHOWABLE, "").replace(/\s+/gu, " ").trim();
  return [...plain].slice(0, LONGEST).join("");
}

/** The names Discord knows of one person; `nick` is the one of the server at hand. */
export interface Names {
  readonly id: string;
  readonly username: string;
  readonly globalName?: string | null | undefined;
  readonly nick?: string | null | undefined;
}

/** The name to show: nickname, else global name, else username; one that shows nothing is passed over, at last the id. */
export function shownName(names: Names): string {
  for (const candidate of [names.nick, names.globalName, names.username]) {
    const plain = plainName(candidate ?? "");
    if (plain !== "") return plain;
  }
  return names.id;
}
