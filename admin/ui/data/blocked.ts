import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";

/** Who is kept off a pod of the org, or off all of them, whatever list they are on. */
export const blockedResource = {
  key: "blocked",
  everyMs: 30_000,
  load: async (api: Api, org: string) => (await read(api.org.blocked.$get({ param: { org } }))).value.blocked,
} satisfies Resource<unknown>;

export type Block = Awaited<ReturnType<typeof blockedResource.load>>[number];
