import type { Database } from "../../db/database.ts";
import { currentKey, insertKey, type KeyRow } from "../../db/stores/secrets.ts";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { SecretBox } from "../identity/secret_box.ts";
import { lazily } from "../lazily.ts";
import type { NewKeyPair } from "./key_pair.ts";
import type { Signer } from "./signer.ts";

/** The two ed25519 pairs of an org: `backend` logs in as root on its pods, `user_ca` signs certificates. */
export interface OrgKeys {
  /** Makes the pairs that are missing and returns both public lines. Throws `secrets_key_missing`. */
  ensure(orgId: number): Promise<{ readonly backend: string; readonly userCa: string }>;
  /** The CA's public line, or null before the first pod. */
  caLine(orgId: number): string | null;
  /** The backend's private key as OpenSSH text. Throws `backend_key_unreadable`, `secrets_key_missing`, `…_wrong`. */
  backendPrivateKey(orgId: number): string;
  /** The CA as a signer, made once. Throws `secrets_key_missing`, `secrets_key_wrong`. */
  caSigner(orgId: number): Promise<CaSigner>;
}

export interface CaSigner {
  readonly signer: Signer;
  readonly fingerprint: string;
}

type Kind = KeyRow["kind"];

/** Keys are made and read by a library that takes a while to load and is not needed to start. */
const loadKeys = lazily(() => import("./key_pair.ts"));

export function createOrgKeys(db: Database, box: SecretBox, clock: Clock): OrgKeys {
  const opened = new Map<string, { ciphertext: string; pem: string; signer: Signer | null }>();
  const placeOf = (row: Pick<KeyRow, "org_id" | "kind" | "fingerprint">) =>
    ({ orgId: row.org_id, kind: "key", name: `${row.kind}/${row.fingerprint}` }) as const;

  const make = (orgId: number, kind: Kind, pair: NewKeyPair): string => {
    const { line, print, pem } = pair;
    const sealed = box.seal(placeOf({ org_id: orgId, kind, fingerprint: print }), pem);
    insertKey(db, { org_id: orgId, kind, public_key: line, private_key: sealed, fingerprint: print }, clock.now());
    return line;
  };

  const open = (orgId: number, kind: Kind) => {
    const row = currentKey(db, orgId, kind);
    if (row === undefined) throw new AppError("backend_key_unreadable", "The backend key cannot be read");
    const cacheKey = `${orgId}/${kind}`;
    let known = opened.get(cacheKey);
    if (known?.ciphertext !== row.private_key) {
      known = { ciphertext: row.private_key, pem: box.open(placeOf(row), row.private_key), signer: null };
      opened.set(cacheKey, known);
    }
    return { row, known };
  };

  return {
    async ensure(orgId) {
      const found = { backend: currentKey(db, orgId, "backend"), userCa: currentKey(db, orgId, "user_ca") };
      if (found.backend !== undefined && found.userCa !== undefined) {
        return { backend: found.backend.public_key, userCa: found.userCa.public_key };
      }
      const { newKeyPair } = await loadKeys();
      const lineOf = (kind: Kind) =>
        currentKey(db, orgId, kind)?.public_key ?? make(orgId, kind, newKeyPair(`platform-${kind}-${orgId}`));
      return db.tx(() => ({ backend: lineOf("backend"), userCa: lineOf("user_ca") }));
    },
    caLine: (orgId) => currentKey(db, orgId, "user_ca")?.public_key ?? null,
    backendPrivateKey: (orgId) => open(orgId, "backend").known.pem,
    async caSigner(orgId) {
      const { row, known } = open(orgId, "user_ca");
      known.signer ??= (await loadKeys()).signerOfPem(known.pem);
      return { signer: known.signer, fingerprint: row.fingerprint };
    },
  };
}
