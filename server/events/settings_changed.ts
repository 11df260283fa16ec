import type { Database } from "../../db/database.ts";
import { raise } from "./raise.ts";

/** What was changed, by the names the API has for it; never a value of a secret. */
export interface SettingsChange {
  readonly changed: readonly string[];
  readonly [detail: string]: unknown;
}

/**
 * Tells that settings of an org were changed (decision 6), by whom as people read it. Nothing is told when nothing
 * changed. Call it in the transaction of the change.
 */
export function raiseSettingsChanged(
  db: Database,
  orgId: number,
  actor: string,
  change: SettingsChange,
  now: number,
): void {
  if (change.changed.length === 0) return;
  raise(db, { orgId, kind: "settings.changed", actor, details: change }, now);
}
