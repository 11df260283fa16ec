import assert from "node:assert/strict";
import { setMeta } from "../../db/stores/meta.ts";
import { revokeSerials } from "../../db/stores/revocations.ts";
import { HOUR, MINUTE, SECOND } from "../../server/clock.ts";
import { krlOfOrg } from "../../server/revocation/krl_of_org.ts";
import { parseCertificate } from "../../server/ssh/certificate.ts";
import { parseKrl, revokesCertificate } from "../../server/ssh/krl.ts";
import { certificateOf } from "../ssh/krl_support.ts";
import { given, newCa, NOW, twoOrgs } from "./support.ts";

const ORG = { id: 1, prefix: "one" };

Deno.test("krlOfOrg refuses what its own org revoked, during a rotation by the CA that signed it", () => {
  const db = twoOrgs();
  const old = newCa(db, 1);
  given(db, 1, 5n, old);
  given(db, 1, 6n, old);
  const current = newCa(db, 1);
  given(db, 1, 7n, current);
  const foreign = newCa(db, 2);
  given(db, 2, 9n, foreign);
  revokeSerials(db, 1, ["5", "7"], "x", null, NOW);
  revokeSerials(db, 2, ["9"], "x", null, NOW);
  const { bytes, count } = krlOfOrg(db, ORG, NOW);
  assert.equal(count, 2);
  const krl = parseKrl(bytes);
  assert.equal(krl.comment, "orgpods one");
  assert.equal(krl.certificates.length, 2);
  const refuses = (serial: bigint, ca: typeof old) =>
    revokesCertificate(krl, parseCertificate(certificateOf(serial, ca.signer)));
  assert.deepEqual([refuses(5n, old), refuses(6n, old), refuses(7n, old)], [true, false, false]);
  assert.deepEqual([refuses(5n, current), refuses(7n, current)], [false, true]);
  assert.equal(refuses(9n, foreign), false);
  db.close();
});

Deno.test("krlOfOrg puts a serial without a record under every CA of the org", () => {
  const db = twoOrgs();
  const cas = [newCa(db, 1), newCa(db, 1)];
  revokeSerials(db, 1, ["77"], "seen on a pod", null, NOW);
  const krl = parseKrl(krlOfOrg(db, ORG, NOW).bytes);
  for (const ca of cas) assert.ok(revokesCertificate(krl, parseCertificate(certificateOf(77n, ca.signer))));
  db.close();
});

Deno.test("krlOfOrg keeps version and bytes while nothing changes, and raises the version with each change", () => {
  const db = twoOrgs();
  const ca = newCa(db, 1);
  for (const serial of [5n, 6n, 7n]) given(db, 1, serial, ca);
  const empty = krlOfOrg(db, ORG, NOW);
  assert.equal(empty.count, 0);
  assert.equal(empty.version, NOW / SECOND);
  assert.deepEqual(krlOfOrg(db, ORG, NOW + HOUR), empty);
  const versions = [empty.version];
  const note = (at: number) => {
    const krl = krlOfOrg(db, ORG, at);
    assert.deepEqual(krlOfOrg(db, ORG, at), krl, "asked again");
    assert.equal(parseKrl(krl.bytes).version, BigInt(krl.version));
    versions.push(krl.version);
    return krl;
  };
  revokeSerials(db, 1, ["5"], "x", null, NOW);
  note(NOW);
  revokeSerials(db, 1, ["6"], "x", null, NOW);
  const both = note(NOW);
  revokeSerials(db, 1, ["6"], "again", null, NOW);
  assert.deepEqual(krlOfOrg(db, ORG, NOW), both, "revoked already");
  revokeSerials(db, 1, ["7"], "x", null, NOW);
  note(NOW - HOUR);
  newCa(db, 1);
  assert.equal(krlOfOrg(db, ORG, NOW).version, versions.at(-1), "a new CA alone changes nothing");
  const over = note(NOW + 40 * HOUR);
  assert.equal(over.count, 0, "nothing takes them any more");
  const growing = versions.every((version, at) => at === 0 || version > versions[at - 1]!);
  assert.ok(growing, versions.join(" "));
  const other = krlOfOrg(db, { id: 2, prefix: "two" }, NOW);
  assert.equal(other.version, NOW / SECOND, "each org has versions of its own");
  db.close();
});

Deno.test("krlOfOrg goes on with a greater version after an older backup was put back", () => {
  const db = twoOrgs();
  const ca = newCa(db, 1);
  for (const serial of [5n, 6n]) given(db, 1, serial, ca);
  const backup = krlOfOrg(db, ORG, NOW).version;
  revokeSerials(db, 1, ["5"], "x", null, NOW);
  const last = krlOfOrg(db, ORG, NOW + MINUTE).version;
  // The backup knows neither the revocation nor its version.
  db.run("delete from compute_revocations");
  setMeta(db, "krl/1", `${backup} ${backup} ${"0".repeat(64)}`);
  revokeSerials(db, 1, ["6"], "x", null, NOW);
  assert.ok(krlOfOrg(db, ORG, NOW + 2 * MINUTE).version > last);
  db.close();
});

Deno.test("krlOfOrg is an empty list before the org has a CA, and goes by the clock when its stored version is damaged", () => {
  const db = twoOrgs();
  const { bytes, version } = krlOfOrg(db, ORG, NOW);
  assert.deepEqual(parseKrl(bytes).certificates, []);
  setMeta(db, "krl/1", "7");
  assert.ok(krlOfOrg(db, ORG, NOW + MINUTE).version > version);
  db.close();
});
