import { createHash } from "node:crypto";
import type { Database } from "../../db/database.ts";
import { getMeta, setMeta } from "../../db/stores/meta.ts";
import { caLinesOf, currentRevocations } from "../../db/stores/revocations.ts";
import { SECOND } from "../clock.ts";
import { type RevokedCertificates, writeKrl } from "../ssh/krl.ts";
import { parsePublicKey } from "../ssh/public_key.ts";

/** The key revocation list of an org, as each of its pods is to have it. */
export interface OrgKrl {
  /** Grows whenever the list changes, and only then: the same version is always the same bytes. */
  readonly version: number;
  readonly bytes: Uint8Array;
  /** SHA-256 of `bytes` in hex, to compare with the file on a pod. */
  readonly sha256: string;
  /** How many certificates it takes back. */
  readonly count: number;
}

/**
 * The list that the org's pods need at `now`. A version is in step with the clock where it can be, so that it grows
 * even over a backup that was put back. What was issued by a CA that is being replaced stands under that CA; a serial of
 * which that is not known stands under all.
 */
export function krlOfOrg(db: Database, org: { readonly id: number; readonly prefix: string }, now: number): OrgKrl {
  return db.tx(() => {
    const { revoked, count } = revokedOf(db, org.id, now);
    const write = (version: number, generatedAt: number) =>
      writeKrl({ version: BigInt(version), generatedAt, comment: `orgpods ${org.prefix}`, revoked });
    const digest = sha256(write(0, 0));
    const seconds = Math.floor(now / SECOND);
    let last = storedVersion(db, org.id);
    if (last?.digest !== digest) {
      last = { version: Math.max((last?.version ?? 0) + 1, seconds), generatedAt: seconds, digest };
      setMeta(db, `krl/${org.id}`, `${last.version} ${last.generatedAt} ${digest}`);
    }
    const bytes = write(last.version, last.generatedAt);
    return { version: last.version, bytes, sha256: sha256(bytes), count };
  });
}

function revokedOf(db: Database, orgId: number, now: number): { revoked: RevokedCertificates[]; count: number } {
  const revocations = currentRevocations(db, orgId, now);
  const cas = caLinesOf(db, orgId);
  const known = new Set(cas.map((ca) => ca.fingerprint));
  const revoked = cas.map(({ fingerprint, line }) => ({
    ca: parsePublicKey(line),
    serials: revocations
      .filter(({ ca_fingerprint: by }) => by === fingerprint || !known.has(by ?? ""))
      .map((one) => BigInt(one.serial)),
  }));
  return { revoked, count: revocations.length };
}

interface Version {
  readonly version: number;
  readonly generatedAt: number;
  /** Of the list without version and time. */
  readonly digest: string;
}

/** The last version; null before the first, and for one that is damaged: the clock makes the next one greater anyway. */
function storedVersion(db: Database, orgId: number): Version | null {
  const stored = getMeta(db, `krl/${orgId}`) ?? "";
  const [, version, generatedAt, digest] = /^(\d{1,15}) (\d{1,15}) ([0-9a-f]{64})$/.exec(stored) ?? [];
  return digest === undefined ? null : { version: Number(version), generatedAt: Number(generatedAt), digest };
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
