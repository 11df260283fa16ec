import type { Database } from "../../db/database.ts";
import { type DeliveryRow, sendableDeliveries } from "../../db/stores/deliveries.ts";
import { eventById } from "../../db/stores/events.ts";
import { orgById } from "../../db/stores/organizations.ts";
import { webhookById, type WebhookRow } from "../../db/stores/webhooks.ts";
import type { Audit } from "../audit/write.ts";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { SecretBox } from "../identity/secret_box.ts";
import { describeError, type Log } from "../log.ts";
import { isDue, PASSED_AFTER_TRIES } from "./backoff.ts";
import { requestOf } from "./message.ts";
import { type Notice, noticeOf } from "../events/notice.ts";
import { type Outcome, type Post, Stopped } from "./post.ts";
import { claim, dropOverLimit, settle } from "./settle.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

export interface DeliverDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  readonly box: SecretBox;
  readonly post: Post;
  readonly version: string;
  /** Numbers from 0 to 1, for the jitter of the waits. */
  readonly random: () => number;
}

/** Sends what the outbox holds. */
export interface Deliverer {
  /**
   * Starts to send what is due and returns at once. Webhooks do not wait for each other; each one is sent its
   * deliveries one at a time, in order, and the next only when the one before is settled or has failed
   * `PASSED_AFTER_TRIES` times.
   */
  turn(): void;
  /** Resolves when nothing is being sent any more. */
  idle(): Promise<void>;
  /** One try, now; what came of it is not stored. Throws `Stopped`. */
  attempt(hook: WebhookRow, delivery: DeliveryRow, notice: Notice): Promise<Verdict>;
  /** Gives up what is being sent; it is sent again after the next start. */
  close(): Promise<void>;
}

export function createDeliverer(deps: DeliverDeps): Deliverer {
  const { db, clock, log } = deps;
  const stop = new AbortController();
  /** The webhooks that are being sent something. */
  const busy = new Map<number, Promise<void>>();

  const attempt: Deliverer["attempt"] = async (hook, delivery, notice) => {
    const outcome = await outcomeOf(hook, delivery, notice);
    return verdictOf(outcome, hook.format, clock.now());
  };

  async function outcomeOf(hook: WebhookRow, delivery: DeliveryRow, notice: Notice): Promise<Outcome> {
    try {
      const org = orgById(db, hook.org_id)!;
      const request = requestOf(hook, org, delivery, notice, { ...deps, now: clock.now() });
      return await deps.post(request, stop.signal);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      // Also what nobody foresaw must wait its time, or it would come back at each turn.
      log.error("A webhook could not be called", { webhook_id: hook.id, error: describeError(error) });
      return { failure: error instanceof AppError ? error.message : "The call failed; the server's log says more" };
    }
  }

  const dueDeliveries = (webhookId: number | null) =>
    sendableDeliveries(db, webhookId, PASSED_AFTER_TRIES).filter((one) => isDue(one.next_at, clock.now()));

  /** Sends one delivery if one is due. Returns whether the next one of the webhook may go. */
  async function sendNext(webhookId: number): Promise<boolean> {
    const [delivery] = dueDeliveries(webhookId);
    const hook = webhookById(db, webhookId);
    if (delivery === undefined || hook === undefined || stop.signal.aborted) return false;
    const event = eventById(db, delivery.event_id!)!;
    if (dropOverLimit(db, delivery, event.kind, clock.now())) return true;
    claim(db, delivery, clock.now());
    const verdict = await attempt(hook, delivery, noticeOf(event));
    return settle(deps, delivery, verdict, clock.now());
  }

  async function drain(webhookId: number): Promise<void> {
    try {
      while (await sendNext(webhookId));
    } catch (error) {
      if (error instanceof Stopped) return;
      log.error("A webhook's deliveries could not be handled", { webhook_id: webhookId, error: describeError(error) });
    } finally {
      busy.delete(webhookId);
    }
  }

  return {
    attempt,
    turn() {
      if (stop.signal.aborted) return;
      for (const { webhook_id } of dueDeliveries(null)) {
        if (!busy.has(webhook_id)) busy.set(webhook_id, drain(webhook_id));
      }
    },
    async idle() {
      while (busy.size > 0) await Promise.all(busy.values());
    },
    async close() {
      stop.abort();
      while (busy.size > 0) await Promise.all(busy.values());
    },
  };
}
