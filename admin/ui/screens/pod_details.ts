import { withWallTimes } from "../../commands/session_times.ts";
import type { Ui } from "../core/screen.ts";
import { accessText, machineText, noAddressHint, statusSpan, statusWord, whoIsOn } from "../data/pod_words.ts";
import { attentionResource, connectedResource, type Pod } from "../data/pods.ts";
import { personText } from "../data/members.ts";
import { settingsResource } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, type Line, line, span } from "../text/line.ts";
import { ago, duration, localTime, money, rate } from "../text/units.ts";
import { type Fact, factLines } from "../widgets/facts.ts";

/** What is known of a pod: what is wrong with it first, then its facts. */
export function podDetails(ui: Ui, pod: Pod, width: number): Line[] {
  const troubles = podTroubles(ui, pod, width);
  return [...troubles, ...(troubles.length > 0 ? [BLANK] : []), ...factLines(factsOf(ui, pod), width)];
}

function factsOf(ui: Ui, pod: Pod): Fact[] {
  const { now, zone } = ui;
  const time = (iso: string | null) => iso === null ? null : localTime(iso, zone, now);
  const settings = ui.read(settingsResource).value;
  const own = (value: number | null | undefined, unit: string) =>
    value === null || value === 0 ? "never" : value === undefined ? "…" : `${value} ${unit}`;
  const rule = (value: number | null, orgs: number | null | undefined, unit: string) =>
    value === null ? `${own(orgs, unit)} (the organization's setting)` : own(value, unit);
  const next = pod.next_session;
  return [
    ["Status", { ...statusSpan(pod, now), text: `${statusSpan(pod, now).text.slice(0, 2)}${statusWord(pod.status)}` }],
    [
      "As of",
      pod.stale && pod.as_of !== null
        ? span(`${duration(now - Date.parse(pod.as_of))} ago: RunPod was not heard since`, "warn")
        : null,
    ],
    ["Since", time(pod.status === "RUNNING" ? pod.up_since : pod.status_since)],
    ["Why", pod.status_why],
    ["Machine", machineText(pod)],
    ["Cost", `${rate(pod.cost_per_hour)}, ${money(pod.cost_this_month)} this month`],
    ["Access", accessText(pod)],
    [
      "On it",
      pod.status === "RUNNING"
        ? whoIsOn(pod, ui.read(connectedResource(pod.id))).replace(" They are disconnected.", "")
        : null,
    ],
    [
      "Next session",
      next === null
        ? null
        : `${localTime(next.start_at, zone, now)} to ${localTime(next.stop_at, zone, now)}${
          next.title === null ? "" : ` (${next.title})`
        }`,
    ],
    [
      "Stops",
      pod.stops_at === null
        ? null
        : `${localTime(pod.stops_at, zone, now)}${
          pod.stops_why === null ? "" : `: ${withWallTimes(pod.stops_why, zone)}`
        }`,
    ],
    ["Stays up", pod.stays_why === null ? null : withWallTimes(pod.stays_why, zone)],
    ["Kept until", time(pod.keep_until)],
    ["Idle stop", rule(pod.auto_stop_after_minutes, settings?.auto_stop_after_minutes, "minutes")],
    ["Longest run", rule(pod.max_run_hours, settings?.max_run_hours, "hours")],
    ["Files", pod.keeps_files ? "the volume is kept at a stop" : span("no volume: all are lost at a stop", "warn")],
    [
      "Forwarding",
      pod.port_forwarding === null
        ? null
        : pod.port_forwarding
        ? "members may forward ports"
        : span("! Unix sockets can be forwarded: members get no port forwarding", "warn"),
    ],
    ["Created", `${ago(pod.created_at, now)}${pod.created_by === null ? "" : ` by ${personText(ui, pod.created_by)}`}`],
    ["Pod id", pod.id],
    ["Provider", pod.provider === "runpod" ? "RunPod" : pod.provider],
  ];
}

/** What is wrong with a pod, and what to do about it. */
export function podTroubles(ui: Ui, pod: Pod, width: number): Line[] {
  const entries = (ui.read(attentionResource).value ?? []).filter(({ pod_id }) => pod_id === pod.id);
  const troubles = entries.map(({ what, todo }) => ({ what, todo }));
  if (pod.trouble !== null && !entries.some(({ kind }) => kind === pod.trouble!.code)) troubles.push(pod.trouble);
  if (pod.unreachable_reason !== null && !entries.some(({ kind }) => kind === "unreachable")) {
    troubles.push({ what: pod.unreachable_reason, todo: "" });
  }
  const hint = noAddressHint(pod, ui.now);
  if (hint !== null && pod.trouble === null) troubles.push({ what: hint, todo: "" });
  return troubles.flatMap(({ what, todo }) => [
    ...wrap(`! ${what}`, width).map((text) => line(span(text, "bad"))),
    ...(todo === "" ? [] : wrap(`What to do: ${todo}`, width).map((text) => line(text))),
  ]);
}
