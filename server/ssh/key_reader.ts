import { parsePublicKey, type SubjectKey } from "./public_key.ts";

/** Keys remembered: more than a class has members. */
const MOST_KEYS = 500;

/**
 * `parsePublicKey` with a memory of the keys it read last, by their exact text. People send the same key at each connect,
 * and to prove that its point lies on the curve is most of the reading. Throws what `parsePublicKey` throws.
 */
export function createKeyReader(most = MOST_KEYS): (text: unknown) => SubjectKey {
  const known = new Map<string, SubjectKey>();
  return (text) => {
    if (typeof text !== "string") return parsePublicKey(text);
    const key = known.get(text) ?? parsePublicKey(text);
    // The one used last goes to the end; the one at the front is forgotten first.
    known.delete(text);
    known.set(text, key);
    if (known.size > most) known.delete(known.keys().next().value!);
    return key;
  };
}
