import assert from "node:assert/strict";
import type { Membership } from "../../server/discord/directory.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { standingOf } from "../../server/identity/standing.ts";

const SUPER = "999999";

const org = (change: Partial<Org> = {}): Org => ({
  id: 1,
  prefix: "org",
  name: "Org",
  guildId: "1",
  officerRoleIds: ["officer", "board"],
  memberRoleIds: [],
  isActive: true,
  computeEnabled: true,
  podImage: null,
  minCudaVersion: null,
  settings: "{}",
  createdAt: 0,
  ...change,
});

const member = (change: Partial<Extract<Membership, { kind: "member" }>> = {}): Membership => ({
  kind: "member",
  userId: "12345",
  username: "bob",
  name: "Bob",
  roles: [],
  pending: false,
  guest: false,
  bot: false,
  avatar: null,
  ...change,
});

interface Case {
  readonly what: string;
  readonly org?: Partial<Org>;
  readonly id?: string;
  readonly membership: Membership;
  readonly member: boolean;
  readonly officer: boolean;
}

const MEMBERS_ONLY = { memberRoleIds: ["paid", "guest-list"] };

const CASES: Case[] = [
  { what: "a plain member", membership: member(), member: true, officer: false },
  { what: "an officer", membership: member({ roles: ["x", "board"] }), member: true, officer: true },
  { what: "another role", membership: member({ roles: ["officers"] }), member: true, officer: false },
  {
    what: "an org without officer roles",
    org: { officerRoleIds: [] },
    membership: member({ roles: ["officer"] }),
    member: true,
    officer: false,
  },
  {
    what: "without the member role",
    org: MEMBERS_ONLY,
    membership: member({ roles: ["x"] }),
    member: false,
    officer: false,
  },
  {
    what: "with a member role",
    org: MEMBERS_ONLY,
    membership: member({ roles: ["paid"] }),
    member: true,
    officer: false,
  },
  {
    what: "an officer without the member role",
    org: MEMBERS_ONLY,
    membership: member({ roles: ["officer"] }),
    member: true,
    officer: true,
  },
  { what: "a pending member", membership: member({ pending: true }), member: false, officer: false },
  {
    what: "a pending officer",
    membership: member({ pending: true, roles: ["officer"] }),
    member: false,
    officer: false,
  },
  { what: "a guest", membership: member({ guest: true, roles: ["officer"] }), member: false, officer: false },
  { what: "a bot", membership: member({ bot: true, roles: ["officer"] }), member: false, officer: false },
  { what: "not on the server", membership: { kind: "not_member" }, member: false, officer: false },
  {
    what: "a superadmin not on the server",
    id: SUPER,
    membership: { kind: "not_member" },
    member: false,
    officer: true,
  },
  { what: "a superadmin on the server", id: SUPER, membership: member(), member: true, officer: true },
  {
    what: "a superadmin without the member role",
    org: MEMBERS_ONLY,
    id: SUPER,
    membership: member(),
    member: true,
    officer: true,
  },
  { what: "a pending superadmin", id: SUPER, membership: member({ pending: true }), member: false, officer: true },
];

Deno.test("standingOf makes member and officer of one answer of Discord", () => {
  for (const one of CASES) {
    const standing = standingOf(org(one.org), new Set([SUPER]), one.id ?? "12345", one.membership);
    assert.deepEqual(
      { member: standing.isMember, officer: standing.isOfficer, unknown: standing.unknown },
      { member: one.member, officer: one.officer, unknown: null },
      one.what,
    );
  }
});

Deno.test("standingOf says when Discord could not tell, and then decides nothing, not even about a superadmin", () => {
  for (const id of ["12345", SUPER]) {
    const membership = { kind: "unknown", reason: "down", hint: "Discord answered 500" } as const;
    const standing = standingOf(org(), new Set([SUPER]), id, membership);
    assert.deepEqual(standing, {
      isMember: false,
      isOfficer: false,
      username: "",
      name: id,
      unknown: "Discord answered 500",
    });
  }
});

Deno.test("standingOf passes the names on", () => {
  const known = standingOf(org(), new Set(), "12345", member());
  assert.deepEqual([known.username, known.name], ["bob", "Bob"]);
  const stranger = standingOf(org(), new Set(), "12345", { kind: "not_member" });
  assert.deepEqual([stranger.username, stranger.name], ["", "12345"]);
});
