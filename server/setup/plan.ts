import { type PodFacts, wrongSetting } from "./look.ts";

/** What a pod needs so that it keeps the rules about who comes in. */
export type SetupPlan =
  /** Its own image keeps them; only list and keys are delivered. */
  | { readonly kind: "image" }
  /** The server's own files and settings are (or are already) on it. */
  | { readonly kind: "push"; readonly isDone: boolean }
  /** It cannot be set up; why, in one sentence without a full stop. */
  | { readonly kind: "refuse"; readonly reason: string };

/** The version of the image's rules that this program knows. */
const IMAGE = "orgpods-image 1";

/**
 * Decides how to set a pod up from what it is like. Settings that are right in the files may not be those of the
 * running sshd, so what an earlier set-up confirmed counts only together with its drop-in (`dropIn`: the SHA-256 of
 * ours).
 */
export function planSetup(facts: PodFacts, dropIn: string): SetupPlan {
  const wrong = wrongSetting(facts.settings);
  if (facts.marker?.split("\n")[0]?.trim() === IMAGE && wrong === null && facts.dropIn === null) {
    return { kind: "image" };
  }
  if (wrong === null && facts.dropIn === dropIn && facts.confirmed === dropIn) return { kind: "push", isDone: true };
  if (facts.missing.length > 0) {
    return { kind: "refuse", reason: `It lacks programs that are needed: ${facts.missing.join(", ")}` };
  }
  if (facts.settings.size === 0) {
    return { kind: "refuse", reason: "Its SSH server does not tell its settings (sshd -T)" };
  }
  if (facts.listener === null) {
    return { kind: "refuse", reason: "Its SSH server is not one that can be told to read its settings anew" };
  }
  return { kind: "push", isDone: false };
}
