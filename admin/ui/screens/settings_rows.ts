/** The lines of the settings: what is set now, what it does, and what can be done about it. */
import type { Ui } from "../core/screen.ts";
import type { Reading } from "../core/cache.ts";
import {
  rolesResource,
  runpodKeyResource,
  type Settings,
  settingsResource,
  standingResource,
  tokensResource,
  webhooksResource,
} from "../data/settings.ts";
import { type Span, span } from "../text/line.ts";
import { ago, money } from "../text/units.ts";
import { auditScreen } from "./audit.ts";
import { confirmComputeOff, confirmComputeOn } from "./compute_switch.ts";
import { orgsScreen } from "./orgs.ts";
import { rolesScreen } from "./roles.ts";
import { confirmRemoveKey, openKeyForm, testKey } from "./runpod_key.ts";
import {
  confirmClearImage,
  confirmStopAtBudget,
  type NumberSetting,
  openCudaForm,
  openImageForm,
  openNumberForm,
} from "./settings_forms.ts";
import { tokensScreen } from "./tokens.ts";
import { webhooksScreen } from "./webhooks.ts";

export interface Setting {
  readonly id: string;
  readonly title: string;
  readonly value: Span | string;
  /** What it does, for the line below the list. */
  readonly about: string;
  /** What enter does, in a word or two. */
  readonly verb: string;
  change(ui: Ui): void;
  readonly test?: (ui: Ui) => unknown;
  readonly remove?: (ui: Ui) => void;
}

/** True while compute is off: then the server tells nothing but that. */
export function isComputeOff(ui: Ui): boolean {
  return ui.read(settingsResource).problem?.code === "module_off";
}

/** All settings as they are known now. */
export function settingRows(ui: Ui): Setting[] {
  if (isComputeOff(ui)) return [computeRow(false)];
  const settings = ui.read(settingsResource).value;
  if (settings === undefined) return [];
  return [
    computeRow(true),
    keyRow(ui),
    ...imageRows(settings),
    ...moneyRows(ui, settings),
    ...timeRows(settings),
    rolesRow(ui),
    tokensRow(ui),
    webhooksRow(ui),
    {
      id: "audit",
      title: "Audit",
      value: "who did what",
      about: "Who did what, and what was refused to whom.",
      verb: "open",
      change: (at) => at.open(auditScreen, null),
    },
    {
      id: "orgs",
      title: "Organizations",
      value: ui.org,
      about: "Go to another organization. One is added from the shell of the server: orgpods org add --help",
      verb: "open",
      change: (at) => at.open(orgsScreen, null),
    },
  ];
}

function computeRow(isOn: boolean): Setting {
  return {
    id: "compute",
    title: "Compute",
    value: isOn ? "● on" : span("○ off", "warn"),
    about: isOn
      ? "Whether people can sign in, connect and start pods. Off, pods that run go on and cost money."
      : "Compute is off: nobody signs in, connects or starts pods, and the rest is not shown. Pods that run go on.",
    verb: isOn ? "switch off" : "switch on",
    change: isOn ? confirmComputeOff : confirmComputeOn,
  };
}

function keyRow(ui: Ui): Setting {
  const reading = ui.read(runpodKeyResource);
  const isSet = reading.value?.configured === true;
  const since = reading.value?.updated_at ?? null;
  return {
    id: "runpod-key",
    title: "RunPod key",
    value: valueOf(
      reading,
      ({ configured, last4 }) =>
        configured ? `…${last4}${since === null ? "" : `, set ${ago(since, ui.now)}`}` : span("! none", "bad"),
    ),
    about: "The key of the organization's RunPod account. It is stored encrypted and never shown again.",
    verb: "set",
    change: (at) => openKeyForm(at, { isSet }),
    ...(isSet ? { test: testKey, remove: confirmRemoveKey } : {}),
  };
}

function imageRows(settings: Settings): Setting[] {
  const { pod_image, deployment_pod_image, min_cuda_version } = settings;
  return [
    {
      id: "image",
      title: "Default image",
      value: pod_image ?? `${deployment_pod_image} (the server's)`,
      about: `What a new pod runs when its form names nothing. The server's own is ${deployment_pod_image}.`,
      verb: "change",
      change: (ui) => openImageForm(ui, settings),
      ...(pod_image === null ? {} : { remove: (ui: Ui) => confirmClearImage(ui, settings) }),
    },
    {
      id: "cuda",
      title: "Oldest CUDA",
      value: min_cuda_version ?? "any",
      about: "The oldest CUDA version that the image works with; RunPod places pods accordingly.",
      verb: "change",
      change: (ui) => openCudaForm(ui, settings),
    },
  ];
}

function moneyRows(ui: Ui, settings: Settings): Setting[] {
  const { monthly_budget_usd, stop_at_budget, balance_low_usd } = settings;
  const budget = ui.read(standingResource).value?.budget;
  const spent = budget === undefined || budget.percent === null ? "" : `, ${Math.round(budget.percent)} % spent`;
  const isTight = budget?.state === "reached" || budget?.state === "warning";
  const text = monthly_budget_usd === null
    ? "none"
    : `${isTight ? "! " : ""}${money(monthly_budget_usd)} a month${spent}`;
  return [
    {
      ...numberRow(settings, {
        name: "monthly_budget_usd",
        title: "Budget",
        unit: "USD a month",
        hint: "What all pods may cost in a calendar month (UTC). Empty (ctrl-u): no budget.",
      }, "An event warns at 80 % of it; at 100 % starts are refused."),
      value: span(text, isTight ? "warn" : undefined),
    },
    {
      id: "stop_at_budget",
      title: "At 100 % of it",
      value: stop_at_budget ? "pods are stopped" : "pods go on",
      about: "Whether pods that run are stopped when the budget is spent, or only starts are refused.",
      verb: stop_at_budget ? "let go on" : "have stopped",
      change: (at) => confirmStopAtBudget(at, settings),
    },
    {
      ...numberRow(settings, {
        name: "balance_low_usd",
        title: "Low balance",
        unit: "USD",
        hint: "Below this balance of the RunPod account an event warns. Empty (ctrl-u): never.",
      }, "At a balance of 0 RunPod deletes the account's pods and their files."),
      value: balance_low_usd === null ? "no warning" : `warns below ${money(balance_low_usd)}`,
    },
  ];
}

function timeRows(settings: Settings): Setting[] {
  const { max_run_hours, auto_stop_after_minutes, idle_gpu_percent, idle_cpu_percent } = settings;
  return [
    {
      ...numberRow(settings, {
        name: "max_run_hours",
        title: "Longest run",
        unit: "hours",
        hint: "A pod is stopped so long after its start; its own setting wins. Empty (ctrl-u): no limit.",
      }, "The longest that one start of a pod lasts; a pod's own setting wins. People on it are told before."),
      value: max_run_hours === null ? "no limit" : `${max_run_hours} hours`,
    },
    {
      ...numberRow(settings, {
        name: "auto_stop_after_minutes",
        title: "Idle stop",
        unit: "minutes",
        hint: "A pod that stands idle so long is stopped; its own setting wins. From 5; empty (ctrl-u): never.",
      }, "A pod on which nobody is and nothing works is stopped after this; a pod's own setting wins."),
      value: auto_stop_after_minutes === null ? "never" : `after ${auto_stop_after_minutes} minutes`,
    },
    {
      ...numberRow(settings, {
        name: "idle_gpu_percent",
        title: "Idle GPU",
        unit: "%",
        hint: "Below this use of the GPU a pod counts as idle.",
      }, "Below this use of GPU and CPU a pod counts as idle."),
      value: `below ${idle_gpu_percent} %`,
    },
    {
      ...numberRow(settings, {
        name: "idle_cpu_percent",
        title: "Idle CPU",
        unit: "%",
        hint: "Below this use of the CPU a pod counts as idle.",
      }, "Below this use of GPU and CPU a pod counts as idle."),
      value: `below ${idle_cpu_percent} %`,
    },
  ];
}

function numberRow(settings: Settings, setting: NumberSetting, about: string): Omit<Setting, "value"> {
  return {
    id: setting.name,
    title: setting.title,
    about,
    verb: "change",
    change: (ui) => openNumberForm(ui, settings, setting),
  };
}

function rolesRow(ui: Ui): Setting {
  return {
    id: "roles",
    title: "Roles",
    value: valueOf(ui.read(rolesResource), ({ officer_role_ids: officers, member_role_ids: members }) => {
      const member = members.length === 0 ? "all are members" : `${members.length} for members`;
      return `${officers.length} for officers, ${member}`;
    }),
    about: "Which roles of the Discord server make officers, and which make members.",
    verb: "open",
    change: (at) => at.open(rolesScreen, null),
  };
}

function tokensRow(ui: Ui): Setting {
  return {
    id: "tokens",
    title: "Tokens",
    value: valueOf(ui.read(tokensResource), (tokens) => `${tokens.length} work${tokens.length === 1 ? "s" : ""}`),
    about: "Tokens of members' command lines and of officers: who has one, and taking it back.",
    verb: "open",
    change: (at) => at.open(tokensScreen, null),
  };
}

function webhooksRow(ui: Ui): Setting {
  return {
    id: "webhooks",
    title: "Webhooks",
    value: valueOf(ui.read(webhooksResource), (hooks) => {
      const off = hooks.filter(({ disabled_at }) => disabled_at !== null).length;
      return off === 0 ? `${hooks.length}` : span(`${hooks.length}, ! ${off} switched off by refusals`, "warn");
    }),
    about: "Where events are sent to: Discord channels and programs of your own.",
    verb: "open",
    change: (at) => at.open(webhooksScreen, null),
  };
}

/** A value once it is known; `?` where it could not be read. */
function valueOf<T>({ value, problem }: Reading<T>, text: (value: T) => Span | string): Span | string {
  if (value !== undefined) return text(value);
  return problem === null ? span("…", "dim") : span("? not known", "warn");
}
