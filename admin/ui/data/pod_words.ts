/** A pod in the words that officers read, the same on every screen. */
import { MINUTE } from "../../../server/clock.ts";
import type { Reading } from "../core/cache.ts";
import { type Span, span } from "../text/line.ts";
import { duration, localTime, shortDuration } from "../text/units.ts";
import { onNow } from "./on_now.ts";
import type { Connected, Pod } from "./pods.ts";

const WORDS: Readonly<Record<string, string>> = {
  RUNNING: "Running",
  EXITED: "Stopped",
  STOPPED: "Stopped",
  GONE: "Gone (deleted at RunPod)",
};

/** RunPod's word for a state as officers read it. */
export function statusWord(status: string | null): string {
  const word = status ?? "UNKNOWN";
  return WORDS[word] ?? word.charAt(0) + word.slice(1).toLowerCase();
}

/** The state with its mark and since when: `● Running 2h`. `~` says that RunPod was not heard since. */
export function statusSpan(pod: Pod, now: number): Span {
  const word = pod.status === "GONE" ? "Gone" : statusWord(pod.status);
  const since = pod.status === "RUNNING" ? pod.up_since : pod.status_since;
  const age = since === null ? "" : ` ${shortDuration(now - Date.parse(since))}`;
  const text = `${word}${pod.stale ? "~" : ""}${age}`;
  switch (pod.status) {
    case "RUNNING":
      return pod.reachable === false ? span(`! ${text}`, "warn") : span(`● ${text}`, "good");
    case "EXITED":
    case "STOPPED":
      return span(`○ ${text}`, "dim");
    case "GONE":
    case "ERROR":
      return span(`! ${text}`, "bad");
    default:
      return span(`◐ ${text}`, "warn");
  }
}

const MACHINE = ["gpuType", "gpuDisplayName", "gpuTypeId", "cpuTypeId", "location", "dataCenterId"] as const;

/** The machine by the first thing that is known of it. */
export function machineText(pod: Pod): string {
  const machine = pod.machine as Record<string, unknown> | null;
  if (machine === null) return "";
  for (const name of MACHINE) {
    const value = machine[name];
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "object" && value !== null && "displayName" in value) return String(value.displayName);
  }
  return "";
}

/** Who may enter. */
export function accessText(pod: Pick<Pod, "is_public" | "allowed_users">): string {
  if (pod.is_public) return "All members";
  return pod.allowed_users.length === 0 ? "Officers only" : `${pod.allowed_users.length} listed`;
}

/** How many are on the pod; `?` when it is not known, empty while nobody can be. */
export function onText(pod: Pod, connected: Reading<Connected> | null): string {
  if (pod.status !== "RUNNING") return "";
  const value = connected?.value;
  if (value === undefined) return connected !== null && connected.problem !== null ? "?" : "…";
  return value.state === "unknown" ? "?" : String(onNow(connected!).length || (value.connections ?? 0));
}

/** The next session, or when a running one ends. */
export function nextText(pod: Pod, zone: string, now: number): string {
  if (pod.stops_at !== null) return `stops ${localTime(pod.stops_at, zone, now)}`;
  return pod.next_session === null ? "" : localTime(pod.next_session.start_at, zone, now);
}

/** What is wrong with a pod, in a few words for a column. */
export function troubleText(pod: Pod, now: number): string {
  if (pod.trouble !== null) return pod.trouble.code.replaceAll("_", " ");
  if (noAddressHint(pod, now) !== null) return "no public address?";
  return pod.reachable === false ? "unreachable" : "";
}

/** A pod that has been running for some minutes without an SSH address; null: it has one, or is still young. */
export function noAddressHint(pod: Pod, now: number): string | null {
  const up = pod.up_since === null ? 0 : now - Date.parse(pod.up_since);
  if (pod.status !== "RUNNING" || pod.reachable !== null || up < 3 * MINUTE) return null;
  return `It has been running for ${duration(up)} without an answer by SSH. Community machines may have no public ` +
    "address; SECURE ones always have one.";
}

/** What a stop does to the files. */
export function filesAtStop(pod: Pod): { text: string; isWarning: true } | string {
  return pod.keeps_files
    ? "Files on the volume stay. Everything outside of it is lost."
    : { text: "This pod has no volume: EVERY file on it is lost.", isWarning: true };
}

/** Who is on the pod, in one sentence; tunnels count, too: an editor or a notebook may be behind one. */
export function whoIsOn(pod: Pod, connected: Reading<Connected>): string {
  if (pod.status !== "RUNNING") return "Nobody can be on it, because it is not running.";
  const { value, problem } = connected;
  if (value === undefined) {
    return problem === null ? "Looking who is on it …" : `Who is on it is not known: ${problem.sentence}`;
  }
  if (value.state === "unknown") return `Who is on it is not known: ${value.reason}.`;
  const names = onNow(connected).map((one) =>
    `${one.name ?? one.username}${one.isRoot ? " (Root)" : ""}${one.isTunnel ? " (a tunnel)" : ""}`
  );
  if (names.length > 0) return `On it now: ${[...new Set(names)].join(", ")}. They are disconnected.`;
  const connections = value.connections ?? 0;
  if (connections === 0) return "Nobody is on it now.";
  const open = connections === 1 ? "1 SSH connection is open" : `${connections} SSH connections are open`;
  return `Nobody has a shell on it, but ${open}. They are disconnected.`;
}

/** Offered only where it makes sense: a pod can hang while it starts, so a stop is offered in every other state. */
export const canStop = (pod: Pod) => !["EXITED", "STOPPED", "GONE", "TERMINATED"].includes(pod.status ?? "");
export const canStart = (pod: Pod) => pod.status !== "RUNNING" && pod.status !== "GONE";
export const canRestart = (pod: Pod) => pod.status === "RUNNING";
