import assert from "node:assert/strict";
import { type ConnectionRow, holdersOf, mayAnybodyBeOn, pruneConnections } from "../../db/stores/connections.ts";
import { currentRevocations } from "../../db/stores/revocations.ts";
import {
  openRemovals,
  pruneRemovals,
  removalById,
  reopenAfterSetup,
  reopenInSameStart,
  settleRemoval,
  storeRemovalTry,
} from "../../db/stores/removals.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../server/clock.ts";
import { reckon, takeAccess, type Which } from "../../server/removal/take.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { ORG, refused } from "../pods/support.ts";
import { PEOPLE } from "../support/world.ts";
import { inWard, type Ward } from "./support.ts";

const take = ({ world, pod }: Ward, which: Which = "all", discordId: string = PEOPLE.member) =>
  takeAccess(
    world.db,
    { pod: pod(), discordId, which, reason: "A test", by: null },
    world.clock.now(),
  );

Deno.test("takeAccess takes back what works and what ran out, and nothing of who never had a certificate", () =>
  inWard([PEOPLE.member, PEOPLE.exOfficer], async (ward) => {
    assert.equal(take(ward), null);
    await ward.connect("member", "exOfficer");
    ward.world.clock.advance(13 * HOUR);
    await ward.connect("member");
    const taken = take(ward)!;
    assert.deepEqual([taken.certificates, taken.hadRoot], [1, false], "one of the two still worked");
    assert.deepEqual(ward.certificates().map((one) => one.revoked_at !== null), [true, false, true]);
    const { db, clock } = ward.world;
    assert.equal(currentRevocations(db, 1, clock.now()).length, 2, "a pod's clock may be behind");
    assert.equal(take(ward)!.certificates, 0);
    assert.equal(ward.rows().length, 1, "asked for again while it is open");
  }));

Deno.test("takeAccess of root takes nothing that a member has, and 'all' is never made less", () =>
  inWard([PEOPLE.member], async (ward) => {
    await ward.connect("member", "officer");
    assert.equal(take(ward, "root"), null);
    const id = take(ward, "root", PEOPLE.officer)!.id;
    const [row] = ward.rows();
    assert.deepEqual([row!.which, row!.had_root, row!.discord_id], ["root", 1, PEOPLE.officer]);
    take(ward, "all", PEOPLE.officer);
    take(ward, "root", PEOPLE.officer);
    assert.equal(removalById(ward.world.db, id)!.which, "all");
  }));

Deno.test("a removal that is asked for again is not settled by a try that began before, and keeps what that try ended", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { db, clock } = ward.world;
    await ward.connect("member");
    const id = take(ward)!.id;
    const before = removalById(db, id)!;
    const tried = { error: "Something is left.", report: "1 connection.", hasEndedAll: true };
    storeRemovalTry(db, before, tried, clock.now());
    assert.notEqual(removalById(db, id)!.ended_at, null);
    // In the same millisecond.
    take(ward);
    const anew = removalById(db, id)!;
    assert.ok(anew.asked_at > before.asked_at);
    assert.deepEqual([anew.tried_at, anew.error, anew.report, anew.ended_at], [null, null, "1 connection.", null]);
    assert.equal(settleRemoval(db, before, "All of it.", null, clock.now()), false);
    storeRemovalTry(db, before, { error: "Old.", report: "2 connections.", hasEndedAll: true }, clock.now());
    const kept = removalById(db, id)!;
    assert.deepEqual([kept.state, kept.tried_at, kept.error, kept.report], ["open", null, null, "2 connections."]);
    assert.equal(kept.ended_at, null);
    assert.equal(settleRemoval(db, kept, "All of it.", null, clock.now()), true);
    assert.deepEqual(openRemovals(db, 1), []);
    storeRemovalTry(db, kept, { error: "Late.", report: "Late.", hasEndedAll: false }, clock.now());
    assert.equal(removalById(db, id)!.report, "All of it.", "what is done stays so");
  }));

/** The same certificate again and again, under other serials. */
const copies = ({ world: { db } }: Ward, discordId: string, count: number) => {
  const columns = "org_id, pod_id, runpod_id, discord_id, username, is_admin, key_fingerprint, ca_fingerprint, " +
    "valid_after, valid_before, port_forwarding, address, token_id, created_at";
  db.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?) insert into compute_connections ` +
      `(serial, ${columns}) select 1000000 + i, ${columns} from n, (select * from compute_connections ` +
      "where discord_id = ? order by id limit 1)",
    count,
    discordId,
  );
};

const row = (change: Partial<ConnectionRow>): ConnectionRow => ({
  discord_id: "1",
  username: "mo",
  is_admin: 0,
  serial: "1",
  valid_before: 20_000,
  created_at: 0,
  runpod_id: "p",
  revoked_at: null,
  ca_fingerprint: "SHA256:ca",
  ...change,
});

Deno.test("reckon means the certificates from before the removal, and leaves those alone that were given since", () => {
  const rows = [
    row({ serial: "7", created_at: 9_000, is_admin: 1 }),
    row({ serial: "6", created_at: 8_000 }),
    row({ serial: "5", created_at: 6_000, valid_before: 9_500 }),
    row({ serial: "4", created_at: 5_000, revoked_at: 5_000 }),
    row({ serial: "3", created_at: 3_000, revoked_at: 5_000 }),
    row({ serial: "2", created_at: 2_000, valid_before: 4_000 }),
    row({ serial: "1", created_at: 1_000, is_admin: 1, revoked_at: 5_000 }),
  ];
  assert.deepEqual(reckon(rows, { which: "all", asked_at: 5_000 }, 10_000), {
    spared: ["7", "6", "5"],
    letInAt: 6_000,
  });
  assert.deepEqual(reckon(rows.slice(3), { which: "all", asked_at: 5_000 }, 10_000), { spared: [], letInAt: null });
  const member = [
    row({ serial: "9", created_at: 2_000 }),
    row({ serial: "8", created_at: 1_000, valid_before: 3_000 }),
  ];
  assert.deepEqual(reckon([...rows, ...member], { which: "root", asked_at: 5_000 }, 10_000), {
    spared: ["7", "6", "5", "2", "9", "8"],
    letInAt: 1_000,
  });
  // One that works and was not taken back, as when a removal of root joined one of everything.
  assert.deepEqual(reckon([row({ created_at: 4_000 })], { which: "all", asked_at: 5_000 }, 10_000), {
    spared: ["1"],
    letInAt: 4_000,
  });
});

Deno.test("reckon means what was taken back also when it was given while the server's clock was ahead", () => {
  const ahead = row({ created_at: 9_000, revoked_at: 5_000 });
  for (const which of ["all", "root"] as const) {
    assert.deepEqual(reckon([ahead], { which, asked_at: 5_000 }, 5_100), { spared: [], letInAt: null });
  }
});

Deno.test("takeAccess takes back every certificate, however many there are", () =>
  inWard([PEOPLE.member, PEOPLE.exOfficer], async (ward) => {
    const { db, clock } = ward.world;
    await ward.connect("member", "exOfficer");
    copies(ward, PEOPLE.member, 2_500);
    assert.equal(take(ward)!.certificates, 2_501);
    const left = ward.certificates().filter((one) => one.revoked_at === null);
    assert.deepEqual(left.map((one) => one.discord_id), [PEOPLE.exOfficer]);
    assert.equal(currentRevocations(db, 1, clock.now()).length, 2_501);
  }));

Deno.test("connect gives one person 50 certificates that work for one pod, and more once they ended or were taken back", () =>
  inWard([PEOPLE.member, PEOPLE.exOfficer], async (ward) => {
    const { world } = ward;
    await ward.connect("member");
    copies(ward, PEOPLE.member, 48);
    await ward.connect("member");
    world.clock.advance(HOUR);
    const body = { public_key: publicLine(generateKeyPair().publicKey, "laptop") };
    const answer = await world.call("POST", `${ORG}/me/pods/${ward.podId}/connect`, { as: "member", body });
    refused(
      answer,
      429,
      "rate_limited",
      /^You have 50 certificates for the pod that work, and no more are given\. Use/,
    );
    assert.equal(answer.headers.get("retry-after"), String(11 * HOUR / SECOND));
    await ward.connect("exOfficer");
    world.db.run("update compute_connections set revoked_at = 1 where serial = '1000001'");
    await ward.connect("member");
    await assert.rejects(ward.connect("member"), /rate_limited/);
    world.clock.advance(11 * HOUR);
    await ward.connect("member");
  }));

Deno.test("connect gives nobody a certificate between the removal of what they had and its first try", () =>
  inWard([PEOPLE.member, PEOPLE.exOfficer], async (ward) => {
    const { world } = ward;
    await ward.connect("member", "exOfficer");
    take(ward);
    const body = { public_key: publicLine(generateKeyPair().publicKey, "laptop") };
    const connect = () => world.call("POST", `${ORG}/me/pods/${ward.podId}/connect`, { as: "member", body });
    const answer = await connect();
    refused(answer, 409, "conflict", /^What you had on the pod is being ended, .*Try again in a few seconds/);
    assert.equal(answer.headers.get("retry-after"), "2");
    await ward.connect("exOfficer");
    await world.app.jobs.access.removals.turn();
    assert.equal(ward.rows()[0]!.state, "open");
    assert.equal((await connect()).status, 200, "a pod that does not answer keeps nobody out for longer");
  }));

Deno.test("reopenInSameStart opens what was settled while the pod did not run, where it runs in the start from before", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { db, clock } = ward.world;
    await ward.connect("member");
    const shows = (status: string, startedAt: number | null) =>
      db.run("update compute_pods set status = ?, started_at = ?", status, startedAt);
    const settle = (offStart: string | null) => {
      const id = take(ward)!.id;
      settleRemoval(db, removalById(db, id)!, "Done.", offStart, clock.now());
      return removalById(db, id)!;
    };
    const reopened = () => reopenInSameStart(db, 1);
    settle("7000");
    shows("EXITED", 7_000);
    assert.equal(reopened(), 0, "it does not run");
    shows("RUNNING", 8_000);
    assert.equal(reopened(), 0, "a later start");
    shows("RUNNING", 7_000);
    assert.deepEqual([reopened(), reopened()], [1, 0]);
    const [open] = ward.rows();
    assert.deepEqual([open!.state, open!.tried_at, open!.settled_at, open!.off_start], ["open", null, null, null]);
    settle(null);
    assert.equal(reopened(), 0, "it was settled on the running pod");
    settle("");
    assert.equal(reopened(), 1, "its start was not known");
    settle("7000");
    shows("RUNNING", null);
    assert.equal(reopened(), 0);
    db.run("update compute_pods set state = 'terminated', status = 'RUNNING', started_at = 7000");
    assert.equal(reopened(), 0, "it is terminated");
  }));

Deno.test("reopenAfterSetup opens again what was done before another image was set up, once, while a certificate would work", () =>
  inWard([PEOPLE.member, PEOPLE.exOfficer], async (ward) => {
    const { db, clock } = ward.world;
    await ward.connect("member", "exOfficer");
    const id = take(ward)!.id;
    const setUp = (state: string) =>
      db.run(
        "update compute_pods set setup_start = start_key, setup_state = ?, setup_at = ?",
        state,
        clock.now(),
      );
    const reopened = () => reopenAfterSetup(db, 1, clock.now());
    setUp("pushed");
    assert.equal(reopened(), 0, "it is open");
    clock.advance(MINUTE);
    settleRemoval(db, removalById(db, id)!, "Done.", null, clock.now());
    assert.equal(reopened(), 0, "it was set up before");
    clock.advance(MINUTE);
    setUp("image");
    assert.equal(reopened(), 0, "our image lets nobody in before it has the list");
    setUp("pushed");
    db.run("update compute_pods set setup_start = 'earlier'");
    assert.equal(reopened(), 0, "that was in another start");
    setUp("refused");
    assert.deepEqual([reopened(), reopened()], [1, 0]);
    const open = removalById(db, id)!;
    assert.deepEqual([open.state, open.tried_at, open.report, open.settled_at], ["open", null, null, null]);
    settleRemoval(db, open, "Done.", null, clock.now());
    // A newer removal of theirs stands for the older one.
    clock.advance(MINUTE);
    const newer = take(ward)!.id;
    setUp("pushed");
    assert.notEqual(newer, id);
    assert.equal(reopened(), 0);
    settleRemoval(db, removalById(db, newer)!, "Done.", null, clock.now());
    clock.advance(12 * HOUR);
    setUp("pushed");
    assert.equal(reopened(), 0, "no certificate works any more");
  }));

Deno.test("pruneRemovals removes what was done long ago, and nothing that is open", () =>
  inWard([PEOPLE.member, PEOPLE.exOfficer], async (ward) => {
    const { db, clock } = ward.world;
    await ward.connect("member", "exOfficer");
    const done = take(ward)!.id;
    take(ward, "all", PEOPLE.exOfficer);
    settleRemoval(db, removalById(db, done)!, "Done.", null, clock.now());
    const before = clock.now();
    assert.equal(pruneRemovals(db, before), 0);
    assert.equal(pruneRemovals(db, before + 90 * DAY), 1);
    assert.deepEqual(ward.rows().map((one) => one.discord_id), [PEOPLE.exOfficer]);
  }));

Deno.test("who got in long ago is still known while the pod has not stopped since, and is forgotten when it has", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { world: { db, clock }, pod } = ward;
    await ward.connect("member");
    clock.advance(91 * DAY);
    assert.equal(pruneConnections(db, clock.now() - 90 * DAY), 0);
    assert.equal(holdersOf(db, 1, clock.now()).length, 1);
    assert.notEqual(take(ward), null);
    // RunPod does not show it, so nothing is known of its start.
    db.run("update compute_pods set status = 'GONE', up_since = null where id = ?", pod().id);
    assert.equal(pruneConnections(db, clock.now() - 90 * DAY), 0);
    for (const [status, upSince] of [["RUNNING", clock.now()], ["EXITED", null]] as const) {
      db.run("savepoint looked");
      db.run("update compute_pods set status = ?, up_since = ? where id = ?", status, upSince, pod().id);
      assert.equal(pruneConnections(db, clock.now() - 90 * DAY), 1, status);
      db.run("rollback to looked");
    }
    db.run("release looked");
  }));

Deno.test("the server's connection to a pod is kept while anybody may be on it, also who is being removed", () =>
  inWard([PEOPLE.member], async (ward) => {
    const { world: { db, clock }, pod } = ward;
    const isKept = () => mayAnybodyBeOn(db, pod().id, clock.now());
    assert.equal(isKept(), false);
    await ward.connect("member");
    assert.equal(isKept(), true);
    take(ward);
    clock.advance(5 * DAY);
    assert.equal(isKept(), true, "a connection outlives its certificate");
    db.run("update compute_pods set status = 'EXITED'");
    assert.equal(isKept(), false);
    db.run("update compute_pods set status = 'RUNNING', up_since = ?", clock.now());
    assert.equal(isKept(), false);
  }));
