import type { Database } from "../../db/database.ts";
import { deliveryOf, type DeliveryRow, dropWaiting, sentBetween, updateDelivery } from "../../db/stores/deliveries.ts";
import { orgById } from "../../db/stores/organizations.ts";
import { updateWebhook, webhookById, type WebhookRow } from "../../db/stores/webhooks.ts";
import type { Audit } from "../audit/write.ts";
import { HOUR, SECOND } from "../clock.ts";
import { raiseSettingsChanged } from "../events/settings_changed.ts";
import { MAX_TRIES, PASSED_AFTER_TRIES, waitAfter } from "./backoff.ts";
import type { Verdict } from "./verdict.ts";

/** So many events of one kind go to a webhook in an hour (contract 14). */
export const MAX_PER_HOUR = 30;
/** So many refusals in a row switch a webhook off. */
export const MAX_REFUSALS = 5;

/** After a crash or a full disk a delivery that was under way is sent again after this. */
const CLAIM_MS = 30 * SECOND;

const SERVER = "the webhook delivery";

export interface SettleDeps {
  readonly db: Database;
  readonly audit: Audit;
  readonly random: () => number;
}

/** True when the webhook had its share of this kind in the last hour; then the delivery is dropped. */
export function dropOverLimit(db: Database, delivery: DeliveryRow, kind: string, now: number): boolean {
  if (sentBetween(db, delivery.webhook_id, kind, now - HOUR, now) < MAX_PER_HOUR) return false;
  updateDelivery(db, delivery.id, {
    state: "dropped",
    settled_at: now,
    last_error: `More than ${MAX_PER_HOUR} events of this kind in an hour`,
  });
  return true;
}

/**
 * Puts the next try off before this one begins. A disk that takes no such note gets no call made, so that a receiver
 * is not sent the same again and again while nothing of it can be stored.
 */
export function claim(db: Database, delivery: DeliveryRow, now: number): void {
  updateDelivery(db, delivery.id, { next_at: now + CLAIM_MS });
}

/**
 * Stores what came of a try, in one transaction. What happened to the delivery meanwhile (dropped, because the webhook
 * was switched off) is kept unless it arrived. Returns whether the next delivery of the webhook may go.
 */
export function settle(deps: SettleDeps, tried: DeliveryRow, verdict: Verdict, now: number): boolean {
  return deps.db.tx(() => {
    const hook = webhookById(deps.db, tried.webhook_id);
    const delivery = deliveryOf(deps.db, tried.webhook_id, tried.id);
    if (hook === undefined || delivery === undefined) return false;
    const attempts = delivery.attempts + 1;
    const result = { attempts, last_at: now, last_status: verdict.status, last_error: verdict.error };
    if (verdict.kind === "sent") {
      updateDelivery(deps.db, delivery.id, { ...result, state: "sent", settled_at: now });
      updateWebhook(deps.db, hook.id, { last_sent_at: now, refusals: 0, last_error: null, last_error_at: null });
      return true;
    }
    updateWebhook(deps.db, hook.id, { last_error: verdict.error, last_error_at: now });
    if (delivery.state !== "waiting") return false;
    const isOver = verdict.kind === "rejected" || attempts >= MAX_TRIES;
    updateDelivery(deps.db, delivery.id, {
      ...result,
      ...(isOver
        ? { state: "failed", settled_at: now }
        : { next_at: now + waitAfter(attempts, verdict.askedMs, deps.random) }),
    });
    if (verdict.kind === "refused") countRefusal(deps, hook, verdict, now);
    return isOver || attempts >= PASSED_AFTER_TRIES;
  });
}

/** Refused too often in a row, a webhook is switched off; what waits for it is dropped. Officers see it and hear of it. */
function countRefusal({ db, audit }: SettleDeps, hook: WebhookRow, verdict: Verdict, now: number): void {
  const refusals = hook.refusals + 1;
  updateWebhook(db, hook.id, { refusals });
  if (refusals < MAX_REFUSALS) return;
  const why = `${verdict.error}, ${refusals} times in a row`;
  updateWebhook(db, hook.id, { disabled_at: now, disabled_why: why });
  const dropped = dropWaiting(db, hook.id, `The webhook was switched off: ${why}`, now);
  audit.write({
    source: "job",
    actorKind: "server",
    actorId: "webhooks",
    actorName: SERVER,
    action: "WEBHOOK",
    orgPrefix: orgById(db, hook.org_id)?.prefix ?? null,
    status: verdict.status ?? 424,
    outcome: "switched_off",
    details: { webhook_id: hook.id, name: hook.name, why, dropped },
  });
  raiseSettingsChanged(
    db,
    hook.org_id,
    SERVER,
    { changed: ["webhooks"], webhook: hook.name, did: "switched off", why },
    now,
  );
}
