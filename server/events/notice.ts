import type { EventRow } from "../../db/stores/events.ts";
import { isoTime } from "../clock.ts";

/** What a webhook tells of: an event as `GET /events` shows it, or a test, which has no id. */
export interface Notice {
  readonly id: number | null;
  readonly kind: string;
  readonly created_at: string;
  /** RunPod's id of the pod. */
  readonly pod_id: string | null;
  /** The name of what it is about. */
  readonly subject: string | null;
  /** Who did it, by the name people see. */
  readonly actor: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export function noticeOf(event: EventRow): Notice & { readonly id: number } {
  return {
    id: event.id,
    kind: event.kind,
    created_at: isoTime(event.created_at),
    pod_id: event.runpod_id,
    subject: event.subject,
    actor: event.actor,
    details: JSON.parse(event.details) as Record<string, unknown>,
  };
}

/** What a test of a webhook says. */
export function testNotice(actor: string, now: number): Notice {
  return {
    id: null,
    kind: "test",
    created_at: isoTime(now),
    pod_id: null,
    subject: null,
    actor,
    details: { note: "A test of this webhook: nothing has happened" },
  };
}
