import type { FoundMembers } from "../../server/discord/routes.ts";
import { AppError, shown } from "../../server/errors.ts";
import { MOST_ALLOWED } from "../../server/pods/create_request.ts";
import { type Answer, type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { shortTime, table } from "./text.ts";

export interface MemberFlags {
  /** The start of a name. */
  readonly name?: string;
  /** A role's id. */
  readonly role?: string;
  readonly limit: number;
}

/** Members whose name begins with a text and who have a role. Throws `AppError("usage")` for what is no role's id. */
async function found(api: Api, org: string, { name, role, limit }: MemberFlags): Promise<Answer<FoundMembers>> {
  // The route takes what is no id for no role at all.
  if (role !== undefined && !/^\d{5,25}$/.test(role)) {
    throw new AppError("usage", `The role must be a Discord role id: ${shown(role)}`);
  }
  const query = {
    limit: String(limit),
    ...(name === undefined ? {} : { q: name }),
    ...(role === undefined ? {} : { role }),
  };
  const { value, text } = await read(api.org.members.$get({ param: { org }, query }));
  // Without `ids` the route answers with the longer of its two shapes.
  return { value: value as FoundMembers, text };
}

/** `orgpods org members`: people of the Discord server, by name. */
export async function listMembers(shell: Shell, flags: MemberFlags): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await found(api, org, flags);
    const { members, total } = answer.value;
    if (total === 0) await shell.say("Nobody is found.");
    if (members.length < total) await shell.say(`The first ${members.length} of ${total}; --limit shows more.`);
    await shell.result(answer, () =>
      members.length === 0 ? "" : table(
        ["DISCORD ID", "NAME", "USERNAME", "ROLES"],
        members.map(({ id, name, username, roles }) => [id, name, username, roles.join(" ")]),
      ));
  });
}

/** The ids of all who have a role now. Throws `AppError("usage")` where nobody has it, or too many for a pod's list. */
export async function membersWithRole(api: Api, org: string, role: string): Promise<string[]> {
  const { members, total } = (await found(api, org, { role, limit: MOST_ALLOWED })).value;
  if (total === 0) throw new AppError("usage", `Nobody has the role ${role}; see: orgpods org discord-roles`);
  if (total > MOST_ALLOWED) {
    throw new AppError("usage", `${total} people have the role ${role}, and a list takes ${MOST_ALLOWED}`);
  }
  return members.map(({ id }) => id);
}

/** `orgpods org discord-roles`: the roles of the Discord server, highest first, without those of bots. */
export async function listDiscordRoles(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.members.roles.$get({ param: { org } }));
    if (answer.value.roles.length === 0) await shell.say("The Discord server has no roles.");
    await shell.result(
      answer,
      ({ roles }) => roles.length === 0 ? "" : table(["ROLE ID", "NAME"], roles.map(({ id, name }) => [id, name])),
    );
  });
}

/** `orgpods pod members`: who may use a pod, and the last 100 certificates that were given for it. */
export async function listPodMembers(shell: Shell, id: string): Promise<void> {
  pathPart(id, "The pod's id");
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods[":id"].members.$get({ param: { org, id } }));
    const { access, recent } = answer.value;
    await shell.say(
      access.is_public
        ? "All members may use it."
        : access.allowed.length === 0
        ? "Only officers may use it."
        : `${access.allowed.length} listed people may use it.`,
    );
    if (recent.length === 0) await shell.say("No certificate was given for it.");
    const tables = [
      access.allowed.length === 0
        ? ""
        : table(["LISTED", "NAME"], access.allowed.map((one) => [one.discord_id, one.name])),
      recent.length === 0 ? "" : table(
        ["CERTIFICATE OF", "NAME", "ROLE", "GIVEN", "UNTIL", "TAKEN BACK", "SERIAL"],
        recent.map((one) => [
          one.discord_id,
          one.name,
          one.is_admin ? "officer" : "member",
          shortTime(one.created_at),
          shortTime(one.valid_before),
          shortTime(one.revoked_at),
          one.serial,
        ]),
      ),
    ];
    await shell.result(answer, () => tables.filter((text) => text !== "").join("\n\n"));
  });
}
