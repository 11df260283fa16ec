/** The forms of single settings: each changes one, so that two officers do not undo each other's. */
import { settingsSchema } from "../../../server/identity/settings_request.ts";
import { type Api, read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import type { Settings } from "../data/settings.ts";
import { settingsResource, standingResource } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { type Line, line, span } from "../text/line.ts";
import { money } from "../text/units.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import type { Field, Values } from "../widgets/form/fields.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { changedLines } from "./meanwhile.ts";

/** Settings that a number sets; empty is `null`, or the field must be filled in. */
type NumberName = {
  [Name in keyof Settings]: Settings[Name] extends number | null ? Name : never;
}[keyof Settings];

const save = (change: Partial<Settings>) => async (api: Api, org: string) =>
  (await read(api.org.settings.$put({ param: { org } }, {
    headers: { "content-type": "application/json" },
    init: { body: JSON.stringify(change) },
  }))).value;

interface FormOf {
  readonly title: string;
  /** As they were when the form was opened. */
  readonly settings: Settings;
  readonly field: Field & { readonly name: keyof Settings };
  notes?(values: Values, ui: Ui, width: number): Line[];
  readonly said: string;
}

function openForm(ui: Ui, { title, settings, field, notes, said }: FormOf): void {
  const changed = (at: Ui, width: number) =>
    changedLines(
      settings[field.name],
      at.read(settingsResource).value?.[field.name],
      (now) => now === null ? "nothing" : String(now),
      width,
    );
  ui.open(formScreen, {
    title,
    fields: [field],
    schema: settingsSchema,
    // What is empty is switched off or cleared.
    body: (values) => ({ [field.name]: values[field.name] ?? null }),
    notes: (values, at, width) => [...changed(at, width), ...(notes?.(values, at, width) ?? [])],
    send: "Save",
    work: (body) => save(body as Partial<Settings>),
    done: (_, at) => at.say(said),
  });
}

export function openImageForm(ui: Ui, settings: Settings): void {
  openForm(ui, {
    title: "Default image",
    settings,
    field: {
      name: "pod_image",
      label: "Image",
      kind: "text",
      initial: settings.pod_image ?? "",
      example: settings.deployment_pod_image,
      hint: `Empty (ctrl-u): the server's own, ${settings.deployment_pod_image}. For pods made from now on.`,
    },
    said: "The default image is saved",
  });
}

export function confirmClearImage(ui: Ui, settings: Settings): void {
  ui.open(confirmScreen, {
    title: "Clear the default image",
    lines:
      () => [`New pods then get the server's own image, ${settings.deployment_pod_image}. Others stay as they are.`],
    yes: "clear it",
    onYes: async (at) => {
      if (await at.call("Clear the default image", save({ pod_image: null })) !== null) {
        at.say("New pods get the server's own image");
      }
    },
  });
}

export function openCudaForm(ui: Ui, settings: Settings): void {
  openForm(ui, {
    title: "Oldest CUDA",
    settings,
    field: {
      name: "min_cuda_version",
      label: "CUDA version",
      kind: "text",
      initial: settings.min_cuda_version ?? "",
      hint: "What the image needs, such as 12.4; RunPod then places pods on hosts that have it. Empty: any.",
    },
    said: "The oldest CUDA version is saved",
  });
}

export interface NumberSetting {
  readonly name: NumberName;
  readonly title: string;
  readonly unit: string;
  readonly hint: string;
}

export function openNumberForm(ui: Ui, settings: Settings, setting: NumberSetting): void {
  const initial = settings[setting.name];
  openForm(ui, {
    title: setting.title,
    settings,
    field: {
      name: setting.name,
      label: setting.title,
      kind: "number",
      unit: setting.unit,
      hint: setting.hint,
      ...(initial === null ? {} : { initial }),
    },
    ...(setting.name === "monthly_budget_usd"
      ? { notes: (values, at, width) => budgetNotes(settings, values, at, width) }
      : {}),
    said: `${setting.title}: saved`,
  });
}

/** What a budget would mean at once, beside what is spent already. */
function budgetNotes(settings: Settings, values: Values, ui: Ui, width: number): Line[] {
  const budget = ui.read(standingResource).value?.budget;
  if (budget === undefined) return [];
  const spent = [` Spent this month (UTC): ${money(budget.spent_usd)}`];
  const limit = values.monthly_budget_usd;
  const isReached = typeof limit === "number" && limit > 0 && limit <= budget.spent_usd;
  const then = settings.stop_at_budget ? "starts are refused and running pods are stopped" : "starts are refused";
  return [
    ...spent.map((text) => line(span(text, "dim"))),
    ...(isReached ? wrap(`! That is spent already: ${then} at once.`, width - 2) : []).map((text) =>
      line(span(` ${text}`, "warn"))
    ),
  ];
}

/** Turns round what happens at 100 % of the budget. */
export function confirmStopAtBudget(ui: Ui, { stop_at_budget: isOn }: Settings): void {
  const title = isOn ? "Let pods go on at 100 %" : "Stop pods at 100 %";
  ui.open(confirmScreen, {
    title,
    lines: (at) => {
      if (isOn) return ["At 100 % of the budget pods that run go on and cost more; only starts are refused."];
      const reached = at.read(standingResource).value?.budget.state === "reached";
      return [
        "At 100 % of the budget all running pods are stopped: people on them are told before, and files outside of " +
        "volumes are lost.",
        ...(reached ? [{ text: "The budget is spent already, so that is soon.", isWarning: true } as const] : []),
      ];
    },
    yes: isOn ? "let them go on" : "have them stopped",
    onYes: async (at) => {
      if (await at.call(title, save({ stop_at_budget: !isOn })) === null) return;
      at.say(isOn ? "Pods go on at 100 % of the budget" : "Pods are stopped at 100 % of the budget");
    },
  });
}
