/** Revoked tokens take what was got with them. */
import assert from "node:assert/strict";
import { HOUR } from "../../server/clock.ts";
import { RECREATE } from "../../server/removal/tell.ts";
import { ORG, refused } from "../pods/support.ts";
import { createRunningPod, PEOPLE, type Person } from "../support/world.ts";
import { inWard, type Ward, wardOf } from "./support.ts";

const tokenIdOf = ({ world }: Ward, person: Person): number =>
  world.db.get<{ id: number }>(
    "select id from machine_tokens where discord_id = ? and kind = 'cli' and revoked_at is null",
    PEOPLE[person],
  )!.id;

const revoke = (ward: Ward, id: number) => ward.world.call("DELETE", `${ORG}/tokens/${id}`, { as: "officer" });

Deno.test("a CLI token that an officer revokes takes its owner's certificates on each pod it was used for", () =>
  inWard([PEOPLE.member], async (ward) => {
    const other = wardOf(ward.world, await createRunningPod(ward.world, { name: "other" }));
    await createRunningPod(ward.world, { name: "never used" });
    await ward.connect("member", "officer");
    await other.connect("member");
    const id = tokenIdOf(ward, "member");
    const answer = await revoke(ward, id);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      [answer.json.revoked, answer.json.removals.map((one: Record<string, unknown>) => [one.discord_id, one.todo])],
      [id, [[PEOPLE.member, null], [PEOPLE.member, null]]],
    );
    const reason = "The CLI token they got it with was revoked";
    assert.deepEqual(ward.events(), Array(2).fill({ discord_id: PEOPLE.member, reason }));
    assert.deepEqual(ward.certificates().map((one) => [one.discord_id, one.revoked_at === null]), [
      [PEOPLE.member, false],
      [PEOPLE.officer, true],
      [PEOPLE.member, false],
    ]);
    refused(await revoke(ward, id), 404, "token_not_found");
    assert.equal(ward.events().length, 2);
  }));

Deno.test("an officer's revoked CLI token takes root, and what is to be done is said", () =>
  inWard([], async (ward) => {
    await ward.connect("officer");
    const { removals } = (await revoke(ward, tokenIdOf(ward, "officer"))).json;
    assert.deepEqual(removals.map((one: Record<string, unknown>) => [one.discord_id, one.certificates, one.todo]), [
      [PEOPLE.officer, 1, RECREATE],
    ]);
    assert.deepEqual(ward.rows().map((row) => [row.which, row.had_root]), [["all", 1]]);
  }));

Deno.test("a member who revokes their own token is told what ended, without what officers are told", () =>
  inWard([PEOPLE.member], async (ward) => {
    await ward.connect("member");
    const id = tokenIdOf(ward, "member");
    const answer = await ward.world.call("DELETE", `${ORG}/me/token`, { as: "member" });
    assert.equal(answer.status, 200, answer.text);
    const [ended, ...more] = answer.json.ended;
    assert.deepEqual([answer.json.revoked, Object.keys(ended), more], [id, ["state", "report", "left"], []]);
    assert.equal(ward.rows()[0]!.asked_by, PEOPLE.member);
  }));

Deno.test("a token takes what is open by a certificate that ran out, and nothing from before the pod came up", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { world } = ward;
    const other = wardOf(world, await createRunningPod(world, { name: "other" }));
    await ward.connect("member");
    await other.connect("member");
    world.clock.advance(13 * HOUR);
    world.db.run("update compute_pods set up_since = ? where runpod_id = ?", world.clock.now(), other.podId);
    const { removals } = (await revoke(ward, tokenIdOf(ward, "member"))).json;
    assert.deepEqual(removals.length, 1);
    assert.deepEqual(ward.rows().map((row) => row.pod_id), [ward.pod().id]);
  }));
