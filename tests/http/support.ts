/** What the tests of the HTTP surface share. */
import { insertBrowserSession } from "../../db/stores/sign_ins.ts";
import { DAY } from "../../server/clock.ts";
import { hashOf, randomText } from "../../server/identity/tokens.ts";
import {
  type Answer,
  BASE_URL,
  createWorld,
  GUILD,
  OFFICER_ROLE,
  PEOPLE,
  type Person,
  type TestClock,
  testClock,
  type World,
  type WorldOptions,
} from "../support/world.ts";

export type ClockedWorld = World & { readonly clock: TestClock };

/** A world whose clock the test moves, closed at the end whatever happens. */
export async function withWorld(
  work: (world: ClockedWorld) => Promise<void>,
  options: WorldOptions = {},
): Promise<void> {
  const clock = testClock();
  const world = await createWorld({ clock, ...options });
  try {
    await work(Object.assign(world, { clock }));
  } finally {
    await world.close();
  }
}

let addresses = 0;
/** An address no other call of this file uses, so that limits per address do not mix the tests' calls up. */
export function freshAddress(): string {
  addresses++;
  return `198.51.${addresses >> 8 & 255}.${addresses & 255}`;
}

/** `<status>`, or `<status> <code>` for an answer with the error shape. */
export function cellOf(answer: Answer): string {
  return typeof answer.json?.code === "string" ? `${answer.status} ${answer.json.code}` : String(answer.status);
}

/** Opens a browser session of a person; returns the cookie header. */
export function openSession(world: World, person: Person, name = "orgpods_session"): string {
  const cookie = randomText();
  insertBrowserSession(world.db, {
    token_hash: hashOf(cookie),
    discord_id: PEOPLE[person],
    username: person,
    expires_at: world.clock.now() + 7 * DAY,
  }, world.clock.now());
  return `${name}=${cookie}`;
}

/** Headers of a request that a page of the server itself sends with a session. */
export const ownPage = (cookie: string) => ({ cookie, origin: BASE_URL, "sec-fetch-site": "same-origin" });

/** Issues a token in place of the person's older one of that kind. */
export async function freshToken(world: World, person: Person, kind: "cli" | "officer", org = "org"): Promise<string> {
  const made = await world.call("POST", `/api/compute/${org}/tokens`, {
    as: "operator",
    body: { kind, discord_id: PEOPLE[person] },
  });
  if (made.status !== 201) throw new Error(`No token for ${person}: ${made.text}`);
  return made.json.token;
}

/** `removed` was a member and has left; `exOfficer` was an officer and has lost the role. Discord's answers are old. */
export async function letThemLeave(world: ClockedWorld): Promise<void> {
  const there = world.discord.world;
  there.addMember({ guild_id: GUILD, user_id: PEOPLE.removed });
  there.setRoles(GUILD, PEOPLE.exOfficer, [OFFICER_ROLE]);
  const before = [
    await world.call("GET", "/api/compute/org/me/pods", { as: "removed" }),
    await world.call("GET", "/api/compute/org/settings", { as: "exOfficer" }),
  ];
  for (const answer of before) {
    if (answer.status !== 200) throw new Error(`They were not let in before: ${answer.text}`);
  }
  there.change({ action: "leave", guild_id: GUILD, user_id: PEOPLE.removed });
  there.setRoles(GUILD, PEOPLE.exOfficer, []);
  world.clock.advance(61_000);
}

/** A pod that is open to every member, and stopped. */
export async function stoppedPod(world: World): Promise<string> {
  const made = await world.call("POST", "/api/compute/org/pods", {
    as: "operator",
    body: { use_cpu_only: true, is_public: true, name: "matrix" },
  });
  if (made.status !== 201) throw new Error(`No pod: ${made.text}`);
  const id: string = made.json.pod.id;
  const stopped = await world.call("POST", `/api/compute/org/pods/${id}/action`, {
    as: "operator",
    body: { action: "stop" },
  });
  if (stopped.status !== 200) throw new Error(`The pod was not stopped: ${stopped.text}`);
  return id;
}
