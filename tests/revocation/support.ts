/** An org with pods, CAs and certificates given out, as rows. */
import type { Database } from "../../db/database.ts";
import { openDatabase } from "../../db/open.ts";
import { insertConnection } from "../../db/stores/connections.ts";
import { insertOrg } from "../../db/stores/organizations.ts";
import { insertKey } from "../../db/stores/secrets.ts";
import { HOUR } from "../../server/clock.ts";
import { generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { parsePublicKey, type SubjectKey } from "../../server/ssh/public_key.ts";
import { type Signer, signerOf } from "../../server/ssh/signer.ts";

export const NOW = 1_800_000_000_000;

export interface Ca {
  readonly signer: Signer;
  readonly key: SubjectKey;
}

/** Two orgs, 1 and 2, with a pod each, `pod-1` and `pod-2`. */
export function twoOrgs(): Database {
  const db = openDatabase(":memory:");
  for (const [prefix, guildId] of [["one", "1"], ["two", "2"]] as const) {
    const { id } = insertOrg(
      db,
      { prefix, name: prefix, guildId, officerRoleIds: [], memberRoleIds: [], podImage: null },
      0,
    );
    db.run(
      "insert into compute_pods (id, org_id, name, runpod_name, runpod_id, state, config, created_at) " +
        "values (?, ?, 'gpu', ?, ?, 'live', '{}', 0)",
      `pod-${id}`,
      id,
      `${prefix}-gpu`,
      `rp${id}`,
    );
  }
  return db;
}

/** Makes a CA the org's current one; the one before is retired, as in a rotation. */
export function newCa(db: Database, orgId: number): Ca {
  const pair = generateKeyPair();
  const line = publicLine(pair.publicKey, "user_ca");
  const key = parsePublicKey(line);
  db.run("update compute_keys set retired_at = 1 where org_id = ? and kind = 'user_ca'", orgId);
  const rest = { private_key: "sealed", fingerprint: key.fingerprint };
  insertKey(db, { org_id: orgId, kind: "user_ca", public_key: line, ...rest }, NOW);
  return { signer: signerOf(pair), key };
}

/** The record of a certificate given out at `at` for 12 hours. */
export function given(db: Database, orgId: number, serial: bigint | string, ca: Ca, at = NOW): void {
  insertConnection(db, {
    ...{ orgId, podId: `pod-${orgId}`, runpodId: `rp${orgId}`, discordId: "12345", username: "ann", isAdmin: false },
    ...{ serial: String(serial), keyFingerprint: "SHA256:x", caFingerprint: ca.key.fingerprint },
    ...{ validAfter: at, validBefore: at + 12 * HOUR, portForwarding: false, address: null, tokenId: null },
  }, at);
}
