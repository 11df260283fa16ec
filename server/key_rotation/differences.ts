import type { RunpodPod } from "../runpod/client.ts";

/** What of a pod can be seen to be otherwise than it was asked for, keys aside. */
export type Difference = "image" | "args";

/**
 * Compares a pod as RunPod shows it with what was asked for (`config`: JSON of the create). orgpods never sends `args`,
 * which replace the image's own start; a pod that was adopted is as it was found. What RunPod does not tell is not
 * compared.
 */
export function differencesOf(config: string, pod: Pick<RunpodPod, "image" | "args">): Difference[] {
  const asked = JSON.parse(config) as { readonly image_name?: unknown; readonly adopted?: unknown };
  if (asked.adopted === true) return [];
  const differs: Difference[] = [];
  if (typeof asked.image_name === "string" && pod.image !== null && pod.image !== asked.image_name) {
    differs.push("image");
  }
  if (pod.args !== null && pod.args.trim() !== "") differs.push("args");
  return differs;
}
