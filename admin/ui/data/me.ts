import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";

/** Who is signed in, in which org, and the orgs within reach. */
export const meResource = {
  key: "me",
  everyMs: null,
  load: async (api: Api, org: string) => (await read(api.org.me.$get({ param: { org } }))).value,
} satisfies Resource<unknown>;

export type Me = Awaited<ReturnType<typeof meResource.load>>;
