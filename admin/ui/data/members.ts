/** People of the org's Discord server, and their names. */
import type { FoundMembers } from "../../../server/discord/routes.ts";
import { type Api, read } from "../../client/api.ts";
import type { Resource } from "../core/cache.ts";
import type { Ui } from "../core/screen.ts";

/** Somebody by their Discord id; the name is null where it is not known. */
export interface Person {
  readonly id: string;
  readonly name: string | null;
}

/** How many are shown of a list of members; the rest is found by the start of a name. */
export const MOST_SHOWN = 100;
/** The most that the server names at once by their ids. */
const MOST_NAMED = 50;

/** Members whose name begins with a text, and who have a role; all of them for "" and null. Sorted by name. */
export const membersResource = (search: string, role: string | null, limit: number) => ({
  key: `members ${limit} ${role ?? ""} ${search}`,
  everyMs: null,
  // While somebody types, each letter would be a question to Discord.
  delayMs: search === "" ? 0 : 300,
  load: async (api: Api, org: string) => {
    const query = {
      limit: String(limit),
      ...(search === "" ? {} : { q: search }),
      ...(role === null ? {} : { role }),
    };
    const { value } = await read(api.org.members.$get({ param: { org }, query }));
    // Without `ids` the route answers with the longer of its two shapes.
    return value as FoundMembers;
  },
} satisfies Resource<unknown>);

export type Member = Awaited<ReturnType<ReturnType<typeof membersResource>["load"]>>["members"][number];

/** Names of at most 50 ids; who is not in the server has none. */
const namesResource = (ids: readonly string[]) => ({
  key: `names ${ids.join(",")}`,
  everyMs: null,
  load: async (api: Api, org: string) =>
    (await read(api.org.members.$get({ param: { org }, query: { ids: ids.join(",") } }))).value.members,
} satisfies Resource<unknown>);

/**
 * The people of a list with their names. Beside what is `known` they are read from the server: for a long list all members
 * at once, and then 50 by 50, one after the other, because each of those may be a question to Discord.
 */
export function peopleOf(
  read: Ui["read"],
  ids: readonly string[],
  known: ReadonlyMap<string, string> = new Map(),
): Person[] {
  const names = new Map(known);
  const unnamed = () => ids.filter((id) => !names.has(id));
  const take = (members: readonly { readonly id: string; readonly name: string }[]) => {
    for (const { id, name } of members) names.set(id, name);
  };
  if (unnamed().length > MOST_NAMED) take(read(membersResource("", null, 500)).value?.members ?? []);
  const left = unnamed();
  for (let from = 0; from < left.length; from += MOST_NAMED) {
    const { value } = read(namesResource(left.slice(from, from + MOST_NAMED)));
    if (value === undefined) break;
    take(value);
  }
  return ids.map((id) => ({ id, name: names.get(id) ?? null }));
}

/** A person by name, else by the id. */
export function nameOf({ id, name }: Person): string {
  return name ?? id;
}

/** Who made or changed something, from the id that the server keeps: by name as far as Discord tells it. */
export function personText({ read }: Pick<Ui, "read">, id: string): string {
  if (id.startsWith("local:")) return "the server's operator";
  const [person] = /^\d+$/.test(id) ? peopleOf(read, [id]) : [];
  return person === undefined ? id : nameOf(person);
}

/** The ids in a text that was typed or pasted, parted by spaces, commas or lines; mentions (`<@123>`) count as ids. */
export function idsIn(text: string): string[] {
  const words = text.split(/[\s,;]+/).filter((word) => word !== "");
  return [...new Set(words.map((word) => /^<@!?(\d+)>$/.exec(word)?.[1] ?? word))];
}

/** Who may use a pod, with names, and the last 100 certificates given for it. */
export const podMembersResource = (id: string) => ({
  key: `pod members ${id}`,
  everyMs: 30_000,
  load: async (api: Api, org: string) => (await read(api.org.pods[":id"].members.$get({ param: { org, id } }))).value,
} satisfies Resource<unknown>);

export type PodMembers = Awaited<ReturnType<ReturnType<typeof podMembersResource>["load"]>>;
export type Certificate = PodMembers["recent"][number];
