import { SECOND } from "../../../server/clock.ts";
import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";

/** Who is signed in, in which org, and the orgs within reach. */
export const meResource = {
  key: "me",
  everyMs: null,
  load: async (api: Api, org: string) => (await read(api.org.me.$get({ param: { org } }))).value,
} satisfies Resource<unknown>;

/** The same for the list of orgs: one may have been added from a shell since the admin began. */
export const orgsResource = { ...meResource, key: "orgs", everyMs: 10 * SECOND } satisfies Resource<unknown>;

export type Me = Awaited<ReturnType<typeof meResource.load>>;
