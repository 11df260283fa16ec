import assert from "node:assert/strict";
import { liveConnections, pruneConnections } from "../../db/stores/connections.ts";
import { currentRevocations, pruneRevocations, revokeSerials } from "../../db/stores/revocations.ts";
import { AppError } from "../../server/errors.ts";
import { DAY, HOUR } from "../../server/clock.ts";
import { given, newCa, NOW, twoOrgs } from "./support.ts";

/** Certificates live 12 hours, and a pod's clock may be a day behind. */
const OVER = 12 * HOUR + DAY;

Deno.test("revokeSerials takes certificates of its org back once, with the first reason", () => {
  const db = twoOrgs();
  const [ca, otherCa] = [newCa(db, 1), newCa(db, 2)];
  for (const serial of ["5", "6", "7"]) given(db, 1, serial, ca);
  given(db, 2, "8", otherCa);
  assert.deepEqual(revokeSerials(db, 1, ["5", "7", "5"], "removed from the pod", "777", NOW + 1), ["5", "7"]);
  assert.deepEqual(revokeSerials(db, 1, ["7", "6"], "left the server", null, NOW + 2), ["6"]);
  const rows = currentRevocations(db, 1, NOW + 3);
  assert.deepEqual(rows.map((row) => [row.serial, row.reason, row.revoked_by, row.revoked_at]), [
    ["5", "removed from the pod", "777", NOW + 1],
    ["6", "left the server", null, NOW + 2],
    ["7", "removed from the pod", "777", NOW + 1],
  ]);
  assert.ok(rows.every((row) => row.ca_fingerprint === ca.key.fingerprint && row.valid_before === NOW + 12 * HOUR));
  assert.deepEqual(liveConnections(db, "pod-1", NOW + 3), []);
  assert.deepEqual(currentRevocations(db, 2, NOW + 3), []);
  db.close();
});

Deno.test("revokeSerials leaves another org's certificate alone, even by its serial", () => {
  const db = twoOrgs();
  given(db, 2, "8", newCa(db, 2));
  newCa(db, 1);
  assert.deepEqual(revokeSerials(db, 1, ["8"], "x", null, NOW), ["8"]);
  assert.equal(liveConnections(db, "pod-2", NOW).length, 1);
  assert.deepEqual(currentRevocations(db, 2, NOW), []);
  assert.equal(currentRevocations(db, 1, NOW)[0]?.ca_fingerprint, null, "the record of another org tells nothing");
  db.close();
});

Deno.test("revokeSerials stores nothing when one of the texts is no serial", () => {
  const db = twoOrgs();
  for (
    const wrong of ["", "0", "05", "-1", "+1", "1.0", " 1", "1\n", "1e3", "0x5", "18446744073709551616", "9".repeat(30)]
  ) {
    assert.throws(() => revokeSerials(db, 1, ["5", wrong], "x", null, NOW), (error) => {
      return error instanceof AppError && error.code === "internal_error";
    }, JSON.stringify(wrong));
  }
  assert.deepEqual(currentRevocations(db, 1, NOW), []);
  assert.deepEqual(revokeSerials(db, 1, ["18446744073709551615", "1"], "x", null, NOW).length, 2);
  assert.deepEqual(currentRevocations(db, 1, NOW).map((row) => row.serial), ["1", "18446744073709551615"]);
  db.close();
});

Deno.test("a revocation ends a day after its certificate, for pods whose clock is behind, and is then removed", () => {
  const db = twoOrgs();
  const ca = newCa(db, 1);
  given(db, 1, "5", ca, NOW);
  given(db, 1, "6", ca, NOW + 6 * HOUR);
  revokeSerials(db, 1, ["5", "6", "7"], "x", null, NOW + 7 * HOUR);
  const serials = (at: number) => currentRevocations(db, 1, at).map((row) => row.serial);
  assert.deepEqual(serials(NOW + OVER - 1), ["5", "6", "7"]);
  assert.deepEqual(serials(NOW + OVER), ["6", "7"]);
  assert.deepEqual(serials(NOW + OVER + 6 * HOUR), ["7"]);
  assert.deepEqual(serials(NOW + OVER + 7 * HOUR), [], "without a record it counts from when it was revoked");
  assert.equal(pruneRevocations(db, NOW + OVER - 1), 0);
  assert.equal(pruneRevocations(db, NOW + OVER + 6 * HOUR), 2);
  assert.deepEqual(serials(NOW + OVER), ["7"]);
  assert.equal(pruneRevocations(db, NOW + OVER + 7 * HOUR), 1);
  const records = db.all<{ revoked_at: number }>("select revoked_at from compute_connections");
  assert.deepEqual(records.map((row) => row.revoked_at), [NOW + 7 * HOUR, NOW + 7 * HOUR], "the evidence stays");
  db.close();
});

Deno.test("a revocation outlives the record of its certificate", () => {
  const db = twoOrgs();
  given(db, 1, "5", newCa(db, 1));
  revokeSerials(db, 1, ["5"], "x", null, NOW + HOUR);
  db.run("update compute_pods set status = 'EXITED'");
  assert.equal(pruneConnections(db, NOW + 1), 1);
  const [left] = currentRevocations(db, 1, NOW + 13 * HOUR);
  assert.equal(left?.serial, "5");
  assert.equal(left?.valid_before, null);
  db.close();
});
