import { KEY_KINDS, type KeyKind } from "../../db/stores/key_rotations.ts";
import { AppError, shown } from "../errors.ts";

/** The words for a key in events. */
export const KEY_NAMES: Readonly<Record<KeyKind, string>> = { backend: "backend_key", user_ca: "user_ca_key" };

/** Who does what a rotation does by itself. */
export const ROTATION = { kind: "system", rule: "key_rotation" } as const;

/** A kind of key by its word. Throws `invalid_request`. */
export function keyKind(word: string): KeyKind {
  const kind = KEY_KINDS.find((one) => one === word);
  if (kind === undefined) {
    throw new AppError("invalid_request", `The kind of key must be one of ${KEY_KINDS.join(", ")}: ${shown(word)}`);
  }
  return kind;
}
