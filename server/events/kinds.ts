/** What may happen, as webhooks subscribe to it. The words are stable. */
export const EVENT_KINDS = [
  "pod.created",
  "pod.started",
  "pod.stopped",
  "pod.failed",
  "pod.forgotten",
  "session.missed",
  "session.failed",
  "budget.warning",
  "budget.reached",
  "balance.low",
  "settings.changed",
  "access.ended",
  "server.paused",
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];
