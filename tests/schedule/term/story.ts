/** What happened to a pod around a broken rule, for whoever looks for the reason. */
import { HOUR, isoTime } from "../../../server/clock.ts";
import type { Records } from "./records.ts";
import type { Watch } from "./watch.ts";

/** Before and after the moment that the sentence names. */
const SPAN_MS = 12 * HOUR;

/** Lines by time: changes at RunPod, orders, events and sessions of the pods that a sentence names. */
export function storyOf(sentence: string, records: Records, watch: Watch): string[] {
  const at = Date.parse(/\d{4}-\d\d-\d\dT[\d:.]+/.exec(sentence)?.[0] + "Z");
  const ids = new Set(sentence.match(/\b[a-z0-9]{14}\b/g) ?? []);
  const lines: { at: number; text: string }[] = [];
  const isNear = (time: number) => Number.isNaN(at) || Math.abs(time - at) <= SPAN_MS;
  const add = (time: number | null, text: string) => {
    if (time !== null && isNear(time)) lines.push({ at: time, text });
  };
  for (const one of watch.changes) {
    if (ids.has(one.pod)) add(one.at, `RunPod: ${one.what} by ${one.who}${one.withoutGpu ? " (no GPU)" : ""}`);
  }
  for (const one of records.intents()) {
    if (!ids.has(one.runpod_id ?? "")) continue;
    const settled = one.settled_at === null ? "" : ` at ${isoTime(one.settled_at)}`;
    add(one.asked_at, `order: ${one.action} by ${one.asked_by}, ${one.state}${settled} ${one.error ?? ""}`);
  }
  for (const one of records.events()) {
    if (ids.has(one.runpod_id ?? "")) add(one.created_at, `event: ${one.kind} ${one.details}`);
  }
  for (const one of [...ids].flatMap((id) => records.sessionsOf(id))) {
    add(
      one.start_at,
      `session ${one.title}: until ${isoTime(one.stop_at)}, ${one.state}, started ${one.started} at ` +
        `${one.started_at && isoTime(one.started_at)}, over at ${one.finished_at && isoTime(one.finished_at)}, asked ` +
        `${one.starting_at && isoTime(one.starting_at)}, ${one.error}`,
    );
  }
  return lines.sort((a, b) => a.at - b.at).map((line) => `${isoTime(line.at)} ${line.text}`);
}
