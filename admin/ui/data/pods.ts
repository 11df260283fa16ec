import { SECOND } from "../../../server/clock.ts";
import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";

/** All pods of the org. A refusal with `runpod_key_missing` means that there is no RunPod key yet. */
export const podsResource = {
  key: "pods",
  everyMs: 5 * SECOND,
  load: async (api: Api, org: string) => (await read(api.org.pods.$get({ param: { org } }))).value,
} satisfies Resource<unknown>;

export type Pod = Awaited<ReturnType<typeof podsResource.load>>["pods"][number];

/** What is not settled, or not as it should be. */
export const attentionResource = {
  key: "attention",
  everyMs: 10 * SECOND,
  load: async (api: Api, org: string) => (await read(api.org.attention.$get({ param: { org } }))).value.attention,
} satisfies Resource<unknown>;

export type Attention = Awaited<ReturnType<typeof attentionResource.load>>[number];

/** Who is on a pod now. */
export const connectedResource = (id: string) => ({
  key: `connected ${id}`,
  everyMs: 30 * SECOND,
  delayMs: SECOND / 2,
  load: async (api: Api, org: string) =>
    (await read(api.org.pods[":id"].members.connected.$get({ param: { org, id } }))).value,
} satisfies Resource<unknown>);

/**
 * Who is on a pod, for a question that was opened at that moment: what was known before would be the answer of up to half a
 * minute ago, and it changes while the question stands there.
 */
export const connectedSince = (id: string, openedAt: number) => ({
  ...connectedResource(id),
  key: `connected ${id} since ${openedAt}`,
  everyMs: 5 * SECOND,
  delayMs: 0,
} satisfies Resource<unknown>);

export type Connected = Awaited<ReturnType<ReturnType<typeof connectedResource>["load"]>>;

/** The sessions of one pod. */
export const podSessionsResource = (id: string) => ({
  key: `sessions ${id}`,
  everyMs: 30 * SECOND,
  load: async (api: Api, org: string) =>
    (await read(api.org.pods[":id"].sessions.$get({ param: { org, id }, query: {} }))).value.sessions,
} satisfies Resource<unknown>);

export type Session = Awaited<ReturnType<ReturnType<typeof podSessionsResource>["load"]>>[number];

/** The newest events of the org. */
export const eventsResource = {
  key: "events",
  everyMs: 15 * SECOND,
  load: async (api: Api, org: string) =>
    (await read(api.org.events.$get({ param: { org }, query: { limit: "500" } }))).value.events,
} satisfies Resource<unknown>;

export type Event = Awaited<ReturnType<typeof eventsResource.load>>[number];
