import assert from "node:assert/strict";
import { RECREATE } from "../../server/removal/tell.ts";
import { act, ORG, refused } from "../pods/support.ts";
import { createRunningPod, GUILD, PEOPLE, type Person } from "../support/world.ts";
import { inWard, type Ward, wardOf } from "./support.ts";

const send = ({ world }: Ward, method: string, path: string, body?: unknown, as: Person | "operator" = "officer") =>
  world.call(method, ORG + path, { as, ...(body === undefined ? {} : { body }) });

const disconnect = (ward: Ward, who: string, body: unknown = {}) =>
  send(ward, "POST", `/pods/${ward.podId}/members/${who}/disconnect`, body);

const blocked = async (ward: Ward) =>
  (await send(ward, "GET", "/blocked")).json.blocked.filter((one: { discord_id: string }) =>
    one.discord_id !== PEOPLE.blocked
  );

Deno.test("disconnect takes a member's certificates, tells it in audit and event, and lets them come back", () =>
  inWard([PEOPLE.member], async (ward) => {
    await ward.connect("member");
    const serial = ward.certificates()[0]!.serial;
    const answer = await disconnect(ward, PEOPLE.member);
    assert.equal(answer.status, 200, answer.text);
    const { removal, ...rest } = answer.json;
    assert.deepEqual(rest, { pod_id: ward.podId, discord_id: PEOPLE.member, blocked: false, warnings: [] });
    assert.deepEqual([removal.state, removal.certificates, removal.todo], ["open", 1, null]);
    assert.match(removal.left, /^The pod has not the revocation list: /);
    assert.deepEqual(ward.audit(), [
      { access_ended: PEOPLE.member, reason: "An officer disconnected them", certificates: 1 },
    ]);
    const event = { discord_id: PEOPLE.member, reason: "An officer disconnected them" };
    assert.deepEqual(ward.events(), [event]);
    assert.deepEqual(ward.rows().map((row) => [row.which, row.asked_by]), [["all", PEOPLE.officer]]);
    assert.deepEqual(await blocked(ward), []);
    await ward.connect("member");
    assert.deepEqual(ward.certificates().map((one) => one.revoked_at === null), [false, true]);
    assert.notEqual(ward.certificates()[1]!.serial, serial);
  }));

Deno.test("disconnect of somebody who never was there is written down, and takes nothing", () =>
  inWard([], async (ward) => {
    const answer = await disconnect(ward, PEOPLE.stranger);
    assert.deepEqual([answer.status, answer.json.removal], [200, null]);
    assert.deepEqual(ward.audit(), [{ disconnected: PEOPLE.stranger, certificates: 0 }]);
    assert.deepEqual([ward.rows(), ward.events()], [[], []]);
  }));

Deno.test("disconnect with a block keeps them off that pod alone, until it is lifted", () =>
  inWard([PEOPLE.member], async (ward) => {
    const other = await createRunningPod(ward.world, { name: "other" });
    await ward.connect("member");
    const answer = await disconnect(ward, PEOPLE.member, { block: true });
    assert.deepEqual([answer.status, answer.json.blocked, answer.json.removal.certificates], [200, true, 1]);
    await assert.rejects(ward.connect("member"), /pod_not_accessible/);
    await wardOf(ward.world, other).connect("member");
    const [one, ...more] = await blocked(ward);
    assert.deepEqual([one.discord_id, one.pod_id, one.blocked_by, one.reason, more], [
      PEOPLE.member,
      ward.podId,
      PEOPLE.officer,
      null,
      [],
    ]);
    refused(
      await send(ward, "DELETE", `/blocked/${PEOPLE.member}`),
      400,
      "invalid_request",
      `${PEOPLE.member} is not blocked in the organization`,
    );
    const lifted = await send(ward, "DELETE", `/blocked/${PEOPLE.member}?pod_id=${ward.podId}`);
    assert.deepEqual([lifted.status, lifted.json], [200, { unblocked: PEOPLE.member }]);
    await ward.connect("member");
    assert.deepEqual(ward.audit().map((row) => Object.keys(row)[0]), ["blocked", "access_ended", "unblocked"]);
    refused(
      await send(ward, "DELETE", `/blocked/${PEOPLE.member}?pod_id=${ward.podId}`),
      400,
      "invalid_request",
      `${PEOPLE.member} is not blocked on this pod`,
    );
  }));

Deno.test("a block in the org takes them off every pod; asked for again it keeps who blocked them first, and why", () =>
  inWard([PEOPLE.member], async (ward) => {
    const other = await createRunningPod(ward.world, { name: "other" });
    await createRunningPod(ward.world, { name: "never used" });
    await ward.connect("member");
    await wardOf(ward.world, other).connect("member");
    const first = await send(ward, "POST", "/blocked", { discord_id: PEOPLE.member, reason: " spam " });
    assert.equal(first.status, 201, first.text);
    assert.deepEqual([first.json.discord_id, first.json.removals.length], [PEOPLE.member, 2]);
    const again = await send(ward, "POST", "/blocked", { discord_id: PEOPLE.member, reason: "other" }, "superadmin");
    assert.deepEqual(again.json.removals.map((one: { certificates: number }) => one.certificates), [0, 0]);
    assert.equal(ward.rows().length, 2, "open ones are gone on with");
    const [one, ...more] = await blocked(ward);
    assert.deepEqual([one.pod_id, one.blocked_by, one.reason, more], [null, PEOPLE.officer, "spam", []]);
    for (const id of [ward.podId, other]) {
      await assert.rejects(wardOf(ward.world, id).connect("member"), /pod_not_accessible/);
    }
    assert.equal((await send(ward, "DELETE", `/blocked/${PEOPLE.member}`)).status, 200);
    await ward.connect("member");
  }));

Deno.test("an officer who is disconnected loses root as well, and what is to be done about it is said", () =>
  inWard([], async (ward) => {
    await ward.connect("officer");
    const { removal } = (await disconnect(ward, PEOPLE.officer)).json;
    assert.deepEqual([removal.certificates, removal.todo], [1, RECREATE]);
    assert.equal(ward.events()[0]!.todo, RECREATE);
    assert.equal(ward.rows()[0]!.had_root, 1);
  }));

Deno.test("a block of an officer or a superadmin is refused, by what Discord says now, and ends nothing", () =>
  inWard([], async (ward) => {
    const { discord } = ward.world;
    await ward.connect("officer");
    const sentence = "They are an officer: take the role in Discord first";
    refused(
      await send(ward, "POST", "/blocked", { discord_id: PEOPLE.officer }, "superadmin"),
      409,
      "conflict",
      sentence,
    );
    refused(await disconnect(ward, PEOPLE.officer, { block: true }), 409, "conflict", sentence);
    refused(
      await send(ward, "POST", "/blocked", { discord_id: PEOPLE.superadmin }),
      409,
      "conflict",
      /^They are a superadmin/,
    );
    assert.deepEqual([ward.rows(), await blocked(ward)], [[], []]);
    // What Discord said a moment ago is kept, and is not what counts.
    discord.world.setRoles(GUILD, PEOPLE.officer, []);
    const answer = await send(ward, "POST", "/blocked", { discord_id: PEOPLE.officer }, "superadmin");
    assert.deepEqual([answer.status, answer.json.removals.length, answer.json.warnings], [201, 1, []]);
  }));

Deno.test("a block holds while Discord does not say whether somebody is an officer, and the answer says so", () =>
  inWard([PEOPLE.member], async (ward) => {
    await ward.connect("member");
    await ward.world.token("officer", "officer");
    ward.world.discord.faults.set({ fault: "D20", variant: "503" });
    const answer = await send(ward, "POST", "/blocked", { discord_id: PEOPLE.member }, "operator");
    assert.deepEqual([answer.status, answer.json.removals.length], [201, 1], answer.text);
    assert.match(answer.json.warnings.join(), /^Discord does not say whether they are an officer: should they be one/);
    ward.world.discord.faults.clear();
    await assert.rejects(ward.connect("member"), /pod_not_accessible/);
  }));

Deno.test("blocks and disconnects that break a rule are refused, and change and tell nothing", () =>
  inWard([PEOPLE.member], async (ward) => {
    await ward.connect("member");
    const bodies: [unknown, RegExp][] = [
      [{}, /discord_id must be a Discord id/],
      [{ discord_id: "123" }, /discord_id must be a Discord id/],
      [{ discord_id: 200000000000000002 }, /discord_id must be a Discord id/],
      [{ discord_id: PEOPLE.member, pod: ward.podId }, /Unknown field: pod/],
      [{ discord_id: PEOPLE.member, reason: "" }, /reason must not be empty/],
      [{ discord_id: PEOPLE.member, reason: "x".repeat(201) }, /reason must be at most 200 characters/],
    ];
    for (const [body, sentence] of bodies) {
      refused(await send(ward, "POST", "/blocked", body), 400, "invalid_request", sentence);
    }
    refused(
      await send(ward, "POST", "/blocked", { discord_id: PEOPLE.member, pod_id: "nosuch" }),
      404,
      "pod_not_found",
    );
    refused(await disconnect(ward, "abc"), 400, "invalid_request", /discord_id must be a Discord id/);
    refused(await disconnect(ward, PEOPLE.member, { block: "yes" }), 400, "invalid_request", /block must be true or/);
    refused(
      await send(ward, "POST", `/pods/nosuch/members/${PEOPLE.member}/disconnect`, {}),
      404,
      "pod_not_found",
    );
    refused(await send(ward, "DELETE", "/blocked/x"), 400, "invalid_request");
    refused(await send(ward, "GET", "/removals?limit=0"), 400, "invalid_request", /limit must be a whole number/);
    assert.deepEqual([ward.rows(), ward.events(), ward.audit(), await blocked(ward)], [[], [], [], []]);
    assert.equal(ward.certificates()[0]!.revoked_at, null);
  }));

Deno.test("removals of a pod that is terminated, gone or stopped meanwhile come to their end, and blocks of it are not shown", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { world } = ward;
    await ward.connect("member");
    assert.equal((await disconnect(ward, PEOPLE.member, { block: true })).json.removal.state, "open");
    const turn = async () => {
      world.clock.advance(31_000);
      await world.app.jobs.access.removals.turn();
      const { removals } = (await send(ward, "GET", "/removals")).json;
      return removals[0];
    };
    assert.equal((await turn()).state, "open");
    assert.equal((await act(world, ward.podId, "stop")).status, 200);
    const stopped = await turn();
    assert.deepEqual([stopped.state, stopped.left], ["done", null]);
    assert.match(stopped.report, /^The pod is stopped/);

    const other = await createRunningPod(world, { name: "other" });
    const second = wardOf(world, other);
    await second.connect("exOfficer");
    await disconnect(second, PEOPLE.exOfficer, { block: true });
    world.db.run("update compute_pods set status = 'GONE', host = null, port = null where runpod_id = ?", other);
    const gone = await turn();
    assert.deepEqual([gone.state, gone.report], ["open", "RunPod does not show the pod any more."]);
    assert.match(gone.left, /Should it come back/);
    assert.equal((await blocked(ward)).length, 2);
    assert.equal((await act(world, other, "terminate")).status, 200);
    const terminated = await turn();
    assert.deepEqual([terminated.state, terminated.left], ["done", null]);
    assert.deepEqual((await blocked(ward)).map((one: { pod_id: string }) => one.pod_id), [ward.podId]);
  }));
