import type { Database } from "../../db/database.ts";
import { queueDeliveries } from "../../db/stores/deliveries.ts";
import { insertEvent, type NewEvent } from "../../db/stores/events.ts";
import type { EventKind } from "./kinds.ts";

/**
 * Writes an event down and queues it for every webhook that wants it. Call it in the transaction of the change it tells
 * of, so that both are kept or none is. Nothing leaves the server here. Returns false when an event with the same
 * `onceKey` was raised before.
 */
export function raise(db: Database, event: NewEvent & { readonly kind: EventKind }, now: number): boolean {
  return db.tx(() => {
    const id = insertEvent(db, event, now);
    if (id !== null) queueDeliveries(db, event.orgId, id, event.kind, now);
    return id !== null;
  });
}
