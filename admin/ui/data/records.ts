import { SECOND } from "../../../server/clock.ts";
import type { EventKind } from "../../../server/events/kinds.ts";
import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";
import { PAGE, type PageOf } from "./pages.ts";
import type { Event } from "./pods.ts";

const FIRST_MS = 10 * SECOND;

/** What the query of a page says; the first page begins with the newest. */
const queryOf = (before: number | null) => ({
  limit: String(PAGE),
  ...(before === null ? {} : { before_id: String(before) }),
});

/** Only the first page changes by itself. */
const everyMs = (before: number | null) => before === null ? FIRST_MS : null;

const podQuery = (podId: string | null) => podId === null ? {} : { pod_id: podId };

/** The saved events of the org, of one kind or of all (null), of one pod (RunPod's id) or of all (null). */
export const eventPages = (kind: EventKind | null, podId: string | null): PageOf<Event> => (before) => ({
  key: `events ${kind ?? "all"} ${podId ?? "all"} ${before ?? "newest"}`,
  everyMs: everyMs(before),
  load: async (api: Api, org: string) => {
    const query = { ...queryOf(before), ...podQuery(podId), ...(kind === null ? {} : { kind }) };
    return (await read(api.org.events.$get({ param: { org }, query }))).value.events;
  },
});

const loadAudit = async (api: Api, org: string, podId: string | null, before: number | null) =>
  (await read(api.org.audit.$get({ param: { org }, query: { ...queryOf(before), ...podQuery(podId) } }))).value.audit;

export type AuditEntry = Awaited<ReturnType<typeof loadAudit>>[number];

/** The audit of the org, of one pod (RunPod's id) or of all (null). */
export const auditPages = (podId: string | null): PageOf<AuditEntry> => (before) => ({
  key: `audit ${podId ?? "all"} ${before ?? "newest"}`,
  everyMs: everyMs(before),
  load: (api, org) => loadAudit(api, org, podId, before),
});

const loadDeliveries = async (api: Api, org: string, hook: number, before: number | null) =>
  (await read(
    api.org.webhooks[":id"].deliveries.$get({ param: { org, id: String(hook) }, query: queryOf(before) }),
  )).value.deliveries;

export type Delivery = Awaited<ReturnType<typeof loadDeliveries>>[number];

/** What was sent to a webhook; the newest are looked at often, because one that waits is tried again soon. */
export const deliveryPages = (hook: number): PageOf<Delivery> => (before) =>
  ({
    key: `deliveries ${hook} ${before ?? "newest"}`,
    everyMs: before === null ? 2 * SECOND : null,
    load: (api, org) => loadDeliveries(api, org, hook, before),
  }) satisfies Resource<unknown>;
