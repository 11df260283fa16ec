import assert from "node:assert/strict";
import { lostAccess } from "../../server/removal/decide.ts";

type Row = readonly [
  unknown: boolean,
  isOfficer: boolean,
  isMember: boolean,
  mayUse: boolean,
  hasRoot: boolean,
  taken: "all" | "root" | null,
];

/** Every column once with each value; `any` stands for both. */
const any = [false, true] as const;
const RULES: readonly Row[] = [
  // Who is not known keeps what they have, whatever else holds.
  ...any.flatMap((officer) =>
    any.flatMap((member) => any.flatMap((use) => any.map((root): Row => [true, officer, member, use, root, null])))
  ),
  // Officers too, also a superadmin who is on no server and on no list.
  ...any.flatMap((member) => any.flatMap((use) => any.map((root): Row => [false, true, member, use, root, null]))),
  ...any.flatMap((use) => any.map((root): Row => [false, false, false, use, root, "all"])),
  [false, false, true, false, false, "all"],
  [false, false, true, false, true, "all"],
  [false, false, true, true, true, "root"],
  [false, false, true, true, false, null],
];

Deno.test("lostAccess decides for every combination of what is known about somebody", () => {
  assert.equal(new Set(RULES.map((row) => row.slice(0, 5).join())).size, 32, "all combinations");
  for (const [unknown, isOfficer, isMember, mayUse, hasRoot, taken] of RULES) {
    const standing = { unknown: unknown ? "Discord is away" : null, isOfficer, isMember };
    const verdict = lostAccess({ standing, mayUse, hasRoot });
    assert.equal(verdict?.which ?? null, taken, JSON.stringify({ standing, mayUse, hasRoot }));
  }
});

Deno.test("lostAccess says why: the server, the list, or the role", () => {
  const facts = { standing: { unknown: null, isOfficer: false, isMember: true }, mayUse: true, hasRoot: true };
  assert.equal(lostAccess(facts)?.reason, "They are no officer any more");
  assert.equal(lostAccess({ ...facts, mayUse: false })?.reason, "They may not use the pod any more");
  assert.equal(
    lostAccess({ ...facts, standing: { ...facts.standing, isMember: false } })?.reason,
    "They left the Discord server or lost the member role",
  );
});
