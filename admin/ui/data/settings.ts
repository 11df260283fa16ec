import { MINUTE, SECOND } from "../../../server/clock.ts";
import { type Api, read } from "../../client/api.ts";
import { Refusal } from "../../client/refusal.ts";
import type { Resource } from "../core/cache.ts";

const OFTEN_MS = 15 * SECOND;

/** Image, limits and budget of the org. A refusal with `module_off` means that compute is off. */
export const settingsResource = {
  key: "settings",
  everyMs: OFTEN_MS,
  load: async (api: Api, org: string) => (await read(api.org.settings.$get({ param: { org } }))).value.settings,
} satisfies Resource<unknown>;

export type Settings = Awaited<ReturnType<typeof settingsResource.load>>;

/** Whether there is a RunPod key, and its last four characters. */
export const runpodKeyResource = {
  key: "runpod key",
  everyMs: OFTEN_MS,
  load: async (api: Api, org: string) => (await read(api.org.integrations.runpod.$get({ param: { org } }))).value,
} satisfies Resource<unknown>;

/** What was spent of the budget this month, and the balance of the RunPod account. */
export const standingResource = {
  key: "standing",
  everyMs: MINUTE,
  load: async (api: Api, org: string) =>
    (await read(api.org.spend.$get({ param: { org }, query: { group: "month" } }))).value,
} satisfies Resource<unknown>;

/** Which Discord roles make officers and members. */
export const rolesResource = {
  key: "roles",
  everyMs: OFTEN_MS,
  load: async (api: Api, org: string) => (await read(api.org.roles.$get({ param: { org } }))).value,
} satisfies Resource<unknown>;

/** The roles of the Discord server, without @everyone and those of bots, highest first. */
export const discordRolesResource = {
  key: "discord roles",
  everyMs: MINUTE,
  load: async (api: Api, org: string) => (await read(api.org.members.roles.$get({ param: { org } }))).value.roles,
} satisfies Resource<unknown>;

/** Names are asked for of so many owners of tokens: as many as one question takes. */
const MOST_NAMES = 50;

/** Tokens that work, newest first, and the names of their owners as far as Discord tells them. */
export const tokensResource = {
  key: "tokens",
  everyMs: OFTEN_MS,
  load: async (api: Api, org: string) => {
    const { tokens } = (await read(api.org.tokens.$get({ param: { org } }))).value;
    const owners = [...new Set(tokens.map(({ discord_id }) => discord_id))].slice(0, MOST_NAMES);
    const names = await namesOf(api, org, owners);
    return tokens.map((token) => ({ ...token, owner: names.get(token.discord_id) ?? null }));
  },
} satisfies Resource<unknown>;

export type Token = Awaited<ReturnType<typeof tokensResource.load>>[number];

/** Names by id; none while Discord cannot be asked, because an id tells enough. */
async function namesOf(api: Api, org: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  try {
    const { members } = (await read(api.org.members.$get({ param: { org }, query: { ids: ids.join(",") } }))).value;
    return new Map(members.map(({ id, name }) => [id, name]));
  } catch (error) {
    if (error instanceof Refusal && error.status === 503) return new Map();
    throw error;
  }
}

/** The webhooks of the org. */
export const webhooksResource = {
  key: "webhooks",
  everyMs: OFTEN_MS,
  load: async (api: Api, org: string) => (await read(api.org.webhooks.$get({ param: { org } }))).value.webhooks,
} satisfies Resource<unknown>;

export type Webhook = Awaited<ReturnType<typeof webhooksResource.load>>[number];
