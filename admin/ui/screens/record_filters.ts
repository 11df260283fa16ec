/** What events and audit share: a pod to look at, and how details are written. */
import { detailParts } from "../../commands/details.ts";
import type { Ui } from "../core/screen.ts";
import { podsResource } from "../data/pods.ts";
import { localTime } from "../text/units.ts";
import { pickerScreen, type PickRow } from "../widgets/picker.ts";

/** The pod whose records are shown; `id` is RunPod's. */
export interface PodFilter {
  readonly id: string;
  readonly name: string;
}

/** Lets one choose a pod: those in the list, those that the records name, or an id as it is typed. */
export function pickPod(
  ui: Ui,
  named: (ui: Ui) => ReadonlyMap<string, string | null>,
  onPick: (pod: PodFilter | null) => void,
): void {
  const names = (at: Ui) => {
    const all = new Map(named(at));
    for (const { id, name } of at.read(podsResource).value?.pods ?? []) all.set(id, name);
    return all;
  };
  ui.open(pickerScreen, {
    title: "Pod",
    rows: (at): readonly PickRow[] => [
      { key: "", text: "All pods" },
      ...[...names(at)].map(([id, name]) => ({ key: id, text: name ?? id, note: id })),
    ],
    takesText: (text) => /^[a-z0-9-]{5,64}$/.test(text),
    onPick: (id, at) => onPick(id === "" ? null : { id, name: names(at).get(id) ?? id }),
  });
}

const timeText = (ui: Ui) => (iso: string) => localTime(iso, ui.zone, ui.now);

/** Details in one line. */
export function detailLine(ui: Ui, details: Readonly<Record<string, unknown>>): string {
  return detailParts(details, timeText(ui)).map(([name, value]) => `${name}: ${value}`).join("; ");
}

/** Details as facts, with times in the officer's zone. */
export function detailFacts(ui: Ui, details: Readonly<Record<string, unknown>>) {
  return detailParts(details, timeText(ui));
}

/** A time in the officer's zone, and exactly. */
export function exactTime(ui: Ui, iso: string): string {
  return `${localTime(iso, ui.zone, ui.now)} (${iso})`;
}
