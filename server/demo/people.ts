/** The stand-in Discord server of the demo: one officer, one member, one person who is not in it. */
import type { FakeDiscord } from "./discord/mod.ts";

export const GUILD = "900000000000000001";
export const OFFICER_ROLE = "900000000000000010";
export const OFFICER = { id: "200000000000000001", username: "olivia", global_name: "Olivia Officer" } as const;
export const MEMBER = { id: "200000000000000002", username: "mo.member", global_name: "Mo Member" } as const;
export const STRANGER = { id: "200000000000000003", username: "sam", global_name: "Sam Stranger" } as const;
/** Also the id of the bot's own account. */
export const CLIENT_ID = "900000000000000099";

export function fillDiscord({ world }: FakeDiscord): void {
  for (const person of [OFFICER, MEMBER, STRANGER]) world.addUser(person);
  world.addGuild({ id: GUILD, name: "Demo Society", owner_id: OFFICER.id });
  world.addRole({ guild_id: GUILD, id: OFFICER_ROLE, name: "Officers", position: 2 });
  world.setRoles(GUILD, OFFICER.id, [OFFICER_ROLE]);
  world.addMember({ guild_id: GUILD, user_id: MEMBER.id });
  world.setIntent(true);
}
