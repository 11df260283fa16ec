import { type Api, read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts } from "./text.ts";

/** What is not given stays. USD, hours, minutes, per cent. */
export interface SettingsFlags {
  readonly budget?: number | "off";
  readonly stopAtBudget?: boolean;
  readonly maxRunHours?: number | "off";
  readonly autoStop?: number | "off";
  readonly idleGpu?: number;
  readonly idleCpu?: number;
  readonly balanceLow?: number | "off";
  /** `false` stands for `--no-image`: the server's own. */
  readonly image?: string | false;
  /** `false` stands for `--no-min-cuda`: any. */
  readonly minCuda?: string | false;
}

type Settings = Awaited<ReturnType<Awaited<ReturnType<Api["org"]["settings"]["$get"]>>["json"]>>["settings"];

const NAMES = {
  budget: "monthly_budget_usd",
  stopAtBudget: "stop_at_budget",
  maxRunHours: "max_run_hours",
  autoStop: "auto_stop_after_minutes",
  idleGpu: "idle_gpu_percent",
  idleCpu: "idle_cpu_percent",
  balanceLow: "balance_low_usd",
  image: "pod_image",
  minCuda: "min_cuda_version",
} as const satisfies Record<keyof SettingsFlags, keyof Settings>;

/** `orgpods org settings`: shows the settings of pods, money and time, or changes those that are given. */
export async function orgSettings(shell: Shell, flags: SettingsFlags): Promise<void> {
  const change = Object.fromEntries(
    (Object.keys(NAMES) as (keyof SettingsFlags)[]).filter((flag) => flags[flag] !== undefined)
      .map((flag) => [NAMES[flag], isNothing(flag, flags) ? null : flags[flag]]),
  );
  await withOrg(shell, async (api, org) => {
    const answer = Object.keys(change).length === 0
      ? await read(api.org.settings.$get({ param: { org } }))
      : await read(api.org.settings.$put({ param: { org } }, {
        headers: { "content-type": "application/json" },
        init: { body: JSON.stringify(change) },
      }));
    await shell.result(answer, ({ settings }) => describe(settings));
  });
}

/** Whether a flag takes its setting away. */
function isNothing(flag: keyof SettingsFlags, flags: SettingsFlags): boolean {
  return flags[flag] === "off" || (flag !== "stopAtBudget" && flags[flag] === false);
}

function describe(settings: Settings): string {
  const orOff = (value: number | null, unit: string) => value === null ? "off" : `${value} ${unit}`;
  return facts([
    ["Budget", orOff(settings.monthly_budget_usd, "USD a month")],
    ["Pods at 100 % of it", settings.stop_at_budget ? "are stopped" : "go on; only starts are refused"],
    ["Longest run", orOff(settings.max_run_hours, "hours")],
    ["Idle pods stop after", orOff(settings.auto_stop_after_minutes, "minutes")],
    ["Idle means GPU below", `${settings.idle_gpu_percent} %`],
    ["Idle means CPU below", `${settings.idle_cpu_percent} %`],
    ["Balance is low below", orOff(settings.balance_low_usd, "USD")],
    ["Pod image", settings.pod_image ?? settings.deployment_pod_image],
    ["Oldest CUDA", settings.min_cuda_version ?? "any"],
  ]);
}
