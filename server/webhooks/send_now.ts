import type { Database } from "../../db/database.ts";
import {
  deliveryOf,
  type DeliveryRow,
  insertTest,
  type ListedDelivery,
  testsSince,
  updateDelivery,
} from "../../db/stores/deliveries.ts";
import { eventById } from "../../db/stores/events.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { updateWebhook, type WebhookRow } from "../../db/stores/webhooks.ts";
import { actorOf, type Audit } from "../audit/write.ts";
import { type Clock, HOUR, MINUTE } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import { actorName, type Asker } from "../identity/callers.ts";
import type { Deliverer } from "./deliver.ts";
import { findWebhook } from "./manage.ts";
import { testNotice } from "../events/notice.ts";
import { Stopped } from "./post.ts";
import { MAX_PER_HOUR } from "./settle.ts";
import { isOn } from "./view.ts";

export interface SendNowDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly deliverer: Deliverer;
}

/**
 * Sends a test to a webhook, switched off or not, and waits for what comes of it: one try, which neither counts as a
 * refusal nor goes through the queue. Throws `rate_limited` past 30 tests an hour.
 */
export async function testWebhook(deps: SendNowDeps, org: Org, asker: Asker, id: string): Promise<ListedDelivery> {
  const { db, clock } = deps;
  const now = clock.now();
  const notice = testNotice(actorName(asker.caller), now);
  const { hook, delivery } = db.tx(() => {
    const hook = findWebhook(db, org, id);
    if (testsSince(db, hook.id, now - HOUR) >= MAX_PER_HOUR) {
      throw new AppError("rate_limited", `At most ${MAX_PER_HOUR} tests an hour; wait a little`, {
        retryAfter: MINUTE / 1_000,
      });
    }
    const delivery = insertTest(db, hook.id, now);
    note(deps, org, asker, hook, delivery);
    return { hook, delivery };
  });
  try {
    const verdict = await deps.deliverer.attempt(hook, delivery, notice);
    const at = clock.now();
    db.tx(() => {
      updateDelivery(db, delivery.id, {
        state: verdict.kind === "sent" ? "sent" : "failed",
        attempts: 1,
        last_at: at,
        last_status: verdict.status,
        last_error: verdict.error,
        settled_at: at,
      });
      if (verdict.kind === "sent") updateWebhook(db, hook.id, { last_sent_at: at });
      else updateWebhook(db, hook.id, { last_error: verdict.error, last_error_at: at });
    });
  } catch (error) {
    if (error instanceof Stopped) throw new AppError("conflict", "The server stops; test again in a moment");
    throw error;
  }
  const done = deliveryOf(db, hook.id, delivery.id);
  if (done === undefined) throw new AppError("webhook_not_found", "Webhook not found");
  return { ...done, kind: null };
}

/**
 * Queues a delivery again that was sent, failed or dropped, under the same delivery id. Throws `delivery_not_found`, and
 * `conflict` for a test, one that waits anyway, or a webhook that is off.
 */
export function resendDelivery(
  deps: SendNowDeps,
  org: Org,
  asker: Asker,
  id: string,
  delivery: string,
): ListedDelivery {
  const { db, clock } = deps;
  const queued = db.tx(() => {
    const hook = findWebhook(db, org, id);
    const row = /^\d{1,15}$/.test(delivery) ? deliveryOf(db, hook.id, Number(delivery)) : undefined;
    if (row === undefined) {
      const hint = `There is no delivery ${shown(delivery)} of webhook ${hook.id}; numbers are in webhook deliveries`;
      throw new AppError("delivery_not_found", "Delivery not found", { hint });
    }
    if (row.event_id === null) throw new AppError("conflict", "A test is not sent again; send a new one");
    if (row.state === "waiting") throw new AppError("conflict", "The delivery is waiting to be sent already");
    if (!isOn(hook)) throw new AppError("conflict", "The webhook is switched off; switch it on first");
    updateDelivery(db, row.id, { state: "waiting", attempts: 0, next_at: clock.now(), settled_at: null });
    note(deps, org, asker, hook, row);
    return { ...deliveryOf(db, hook.id, row.id)!, kind: eventById(db, row.event_id)?.kind ?? null };
  });
  deps.deliverer.turn();
  return queued;
}

function note(deps: SendNowDeps, org: Org, asker: Asker, hook: WebhookRow, delivery: DeliveryRow): void {
  deps.audit.write({
    ...actorOf(asker.caller),
    address: asker.address,
    action: asker.action,
    orgPrefix: org.prefix,
    status: 200,
    outcome: "ok",
    details: { webhook_id: hook.id, name: hook.name, delivery: delivery.id },
  });
}
