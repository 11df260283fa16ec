import type { Database } from "../../db/database.ts";
import { countDeliveries, type ListedDelivery } from "../../db/stores/deliveries.ts";
import type { WebhookRow } from "../../db/stores/webhooks.ts";
import { DAY, isoTime } from "../clock.ts";
import { deliveryId } from "./message.ts";

const timeOrNull = (ms: number | null) => ms === null ? null : isoTime(ms);

export const isOn = (hook: WebhookRow) => hook.is_enabled === 1 && hook.disabled_at === null;

/** A webhook as officers see it; its address and its secret are never shown again. */
export function webhookView(db: Database, hook: WebhookRow, now: number) {
  const counts = countDeliveries(db, hook.id, now - DAY);
  return {
    id: hook.id,
    name: hook.name,
    format: hook.format,
    url_hint: hook.url_hint,
    kinds: JSON.parse(hook.kinds) as string[],
    is_enabled: isOn(hook),
    /** Set when the server switched it off after repeated refusals. */
    disabled_at: timeOrNull(hook.disabled_at),
    disabled_why: hook.disabled_why,
    waiting: counts.waiting,
    dropped_24h: counts.dropped,
    last_sent_at: timeOrNull(hook.last_sent_at),
    last_error: hook.last_error,
    last_error_at: timeOrNull(hook.last_error_at),
    created_by: hook.created_by,
    created_at: isoTime(hook.created_at),
  };
}

/** A delivery as officers see it. `delivery_id` is what the receiver of the format `signed` got in the header. */
export function deliveryView(row: ListedDelivery) {
  return {
    id: row.id,
    delivery_id: deliveryId(row),
    event_id: row.event_id,
    kind: row.kind ?? "test",
    state: row.state,
    attempts: row.attempts,
    created_at: isoTime(row.created_at),
    next_at: row.state === "waiting" ? isoTime(row.next_at) : null,
    last_at: timeOrNull(row.last_at),
    last_status: row.last_status,
    last_error: row.last_error,
    settled_at: timeOrNull(row.settled_at),
  };
}
