import { z } from "zod";
import type { Org } from "../../db/stores/organizations.ts";

const usd = (name: string) =>
  z.union([z.number(), z.null()], `${name} must be an amount in USD or null`)
    .refine(
      (value) => value === null || value >= 0.01 && value <= 1_000_000,
      `${name} must be from 0.01 to 1000000, or null`,
    );
const wholeOrNull = (name: string, min: number, max: number) =>
  z.union([z.number(), z.null()], `${name} must be a whole number from ${min} to ${max}, or null`)
    .refine(
      (value) => value === null || Number.isInteger(value) && value >= min && value <= max,
      `${name} must be a whole number from ${min} to ${max}, or null`,
    );
const percent = (name: string) =>
  z.number(`${name} must be a number from 0 to 100`).min(0, `${name} must be a number from 0 to 100`)
    .max(100, `${name} must be a number from 0 to 100`);

/** The longest a pod may be told to run or to stand idle. */
export const MAX_RUN_HOURS = 24 * 31;
export const MAX_IDLE_MINUTES = 7 * 24 * 60;

export const maxRunHoursSchema = wholeOrNull("max_run_hours", 1, MAX_RUN_HOURS);
export const autoStopSchema = wholeOrNull("auto_stop_after_minutes", 5, MAX_IDLE_MINUTES);

/** What officers may set about money and time; `null` switches a rule off. USD, hours, minutes, per cent. */
export const orgSettingsShape = {
  /** What the org's pods may cost in a calendar month (UTC). */
  monthly_budget_usd: usd("monthly_budget_usd"),
  /** At 100 % of the budget running pods are stopped too, not only new starts refused. */
  stop_at_budget: z.boolean("stop_at_budget must be true or false"),
  /** The longest a start may last (decision 35); a pod's own setting wins. */
  max_run_hours: maxRunHoursSchema,
  /** Idle pods are stopped after this; a pod's own setting wins. */
  auto_stop_after_minutes: autoStopSchema,
  /** Below both, a pod counts as idle. */
  idle_gpu_percent: percent("idle_gpu_percent"),
  idle_cpu_percent: percent("idle_cpu_percent"),
  /** Below this balance of the RunPod account an event is raised. */
  balance_low_usd: usd("balance_low_usd"),
} as const;

const DEFAULTS: OrgSettings = {
  monthly_budget_usd: null,
  stop_at_budget: false,
  max_run_hours: 24,
  auto_stop_after_minutes: null,
  idle_gpu_percent: 5,
  idle_cpu_percent: 10,
  balance_low_usd: 5,
};

const storedSchema = z.object(orgSettingsShape).partial();

export type OrgSettings = z.infer<z.ZodObject<typeof orgSettingsShape>>;

const parsed = new Map<string, OrgSettings>();

/** An org's settings with the defaults for what it has not set. */
export function settingsOf(org: Pick<Org, "settings">): OrgSettings {
  let settings = parsed.get(org.settings);
  if (settings === undefined) {
    if (parsed.size > 1_000) parsed.clear();
    settings = Object.freeze({ ...DEFAULTS, ...storedSchema.parse(JSON.parse(org.settings)) } as OrgSettings);
    parsed.set(org.settings, settings);
  }
  return settings;
}
