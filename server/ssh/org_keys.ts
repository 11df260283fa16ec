import type { Database } from "../../db/database.ts";
import { currentKey, insertKey, type KeyRow, retireKey } from "../../db/stores/secrets.ts";
import { type LivePod, podById } from "../../db/stores/pods.ts";
import type { Clock } from "../clock.ts";
import { AppError } from "../errors.ts";
import type { SecretBox, SecretPlace } from "../identity/secret_box.ts";
import { backendOrder, signingCa } from "../key_rotation/choose.ts";
import { factsOf, trustedKeys } from "../key_rotation/facts.ts";
import { lazily } from "../lazily.ts";
import type { NewKeyPair } from "./key_pair.ts";
import type { Signer } from "./signer.ts";

/** The two ed25519 pairs of an org: `backend` logs in as root on its pods, `user_ca` signs certificates. */
export interface OrgKeys {
  /** Makes the pairs that are missing and returns both public lines. Throws `secrets_key_missing`. */
  ensure(orgId: number): Promise<{ readonly backend: string; readonly userCa: string }>;
  /** The present backend private key as OpenSSH text. Throws `backend_key_unreadable`, `secrets_key_…`. */
  backendPrivateKey(orgId: number): string;
  /**
   * The private keys that a pod may take in its present start, as OpenSSH text; two while one replaces the other. Throws
   * as above, and `secrets_key_wrong` when the pod takes only one that cannot be decrypted any more.
   */
  backendKeysFor(pod: LivePod): BackendKeys;
  /**
   * The CA as a signer, made once: the present one, or, for a pod, one that the pod trusts in its present start. Throws
   * `backend_key_unreadable`, `secrets_key_missing`, `secrets_key_wrong`.
   */
  caSigner(orgId: number, podId?: string): Promise<CaSigner>;
  /** Whether the private half of a key can be decrypted. */
  isReadable(key: KeyRow): boolean;
  /**
   * Makes a new pair, which takes the place of `old`. `inTransaction` runs in the transaction that stores it. Throws
   * `secrets_key_missing`, and what `inTransaction` throws; nothing is stored then.
   */
  replace(
    orgId: number,
    kind: KeyRow["kind"],
    inTransaction: (old: KeyRow, fingerprint: string) => void,
  ): Promise<void>;
  /** Lets go of a private half that was wiped. */
  forget(keyId: number): void;
}

export interface BackendKeys {
  readonly first: string;
  /** Tried when the first is refused. */
  readonly other: string | null;
  /** Which key of the org a private half is: its fingerprint. */
  fingerprintOf(privateKey: string): string | null;
}

export interface CaSigner {
  readonly signer: Signer;
  readonly fingerprint: string;
}

type Kind = KeyRow["kind"];

/** Keys are made and read by a library that takes a while to load and is not needed to start. */
const loadKeys = lazily(() => import("./key_pair.ts"));

const placeOf = (row: Pick<KeyRow, "org_id" | "kind" | "fingerprint">): SecretPlace => (
  { orgId: row.org_id, kind: "key", name: `${row.kind}/${row.fingerprint}` }
);

export function createOrgKeys(db: Database, box: SecretBox, clock: Clock): OrgKeys {
  const opened = new Map<number, { ciphertext: string; pem: string; signer: Signer | null }>();

  const insert = (orgId: number, kind: Kind, pair: NewKeyPair, sealed: string): void =>
    insertKey(
      db,
      { org_id: orgId, kind, public_key: pair.line, private_key: sealed, fingerprint: pair.print },
      clock.now(),
    );
  const newPair = async (orgId: number, kind: Kind) => {
    const { newKeyPair } = await loadKeys();
    const pair = newKeyPair(`platform-${kind}-${orgId}`);
    return { pair, sealed: box.seal(placeOf({ org_id: orgId, kind, fingerprint: pair.print }), pair.pem) };
  };

  const open = (row: KeyRow) => {
    let known = opened.get(row.id);
    if (known?.ciphertext !== row.private_key) {
      known = { ciphertext: row.private_key, pem: box.open(placeOf(row), row.private_key), signer: null };
      opened.set(row.id, known);
    }
    return known;
  };
  const current = (orgId: number, kind: Kind): KeyRow => {
    const row = currentKey(db, orgId, kind);
    if (row === undefined) throw new AppError("backend_key_unreadable", "The backend key cannot be read");
    return row;
  };
  const trusted = (orgId: number, kind: Kind) =>
    trustedKeys(db, orgId, kind) ?? { current: current(orgId, kind), old: null };

  const isReadable = (row: KeyRow): boolean => {
    try {
      open(row);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code.startsWith("secrets_key_")) return false;
      throw error;
    }
  };

  const caFor = (orgId: number, podId: string | undefined): KeyRow => {
    const pod = podId === undefined ? undefined : podById(db, podId);
    const keys = trusted(orgId, "user_ca");
    if (pod === undefined || keys.old === null) return keys.current;
    if (signingCa(factsOf(pod, keys)) === keys.current.fingerprint) return keys.current;
    if (isReadable(keys.old)) return keys.old;
    throw new AppError(
      "secrets_key_wrong",
      "The pod trusts only the organization's earlier CA key, which cannot be decrypted any more. An officer must stop " +
        "the pod once, so that it gets the new key",
    );
  };

  return {
    isReadable,
    async ensure(orgId) {
      const found = { backend: currentKey(db, orgId, "backend"), userCa: currentKey(db, orgId, "user_ca") };
      if (found.backend !== undefined && found.userCa !== undefined) {
        return { backend: found.backend.public_key, userCa: found.userCa.public_key };
      }
      const made = { backend: await newPair(orgId, "backend"), user_ca: await newPair(orgId, "user_ca") };
      const lineOf = (kind: Kind) => {
        const known = currentKey(db, orgId, kind);
        if (known !== undefined) return known.public_key;
        insert(orgId, kind, made[kind].pair, made[kind].sealed);
        return made[kind].pair.line;
      };
      return db.tx(() => ({ backend: lineOf("backend"), userCa: lineOf("user_ca") }));
    },
    backendPrivateKey: (orgId) => open(current(orgId, "backend")).pem,
    backendKeysFor(pod) {
      const keys = trusted(pod.org_id, "backend");
      const pemOf = new Map<string, string>([[keys.current.fingerprint, open(keys.current).pem]]);
      if (keys.old !== null && isReadable(keys.old)) pemOf.set(keys.old.fingerprint, open(keys.old).pem);
      const { first, other } = backendOrder(factsOf(pod, keys));
      const fingerprintOf = (pem: string) => [...pemOf].find(([, one]) => one === pem)?.[0] ?? null;
      const [wanted, spare] = [pemOf.get(first), other === null ? undefined : pemOf.get(other)];
      if (wanted !== undefined) return { first: wanted, other: spare ?? null, fingerprintOf };
      if (isKnownToLack(pod, keys)) {
        throw new AppError(
          "secrets_key_wrong",
          "The pod takes only the organization's earlier backend key, which cannot be decrypted any more. Stop the pod " +
            "once, so that it gets the new key",
        );
      }
      return { first: spare!, other: null, fingerprintOf };
    },
    async caSigner(orgId, podId) {
      const row = caFor(orgId, podId);
      const known = open(row);
      known.signer ??= (await loadKeys()).signerOfPem(known.pem);
      return { signer: known.signer, fingerprint: row.fingerprint };
    },
    async replace(orgId, kind, inTransaction) {
      const { pair, sealed } = await newPair(orgId, kind);
      db.tx(() => {
        const old = current(orgId, kind);
        inTransaction(old, pair.print);
        retireKey(db, old.id, clock.now());
        insert(orgId, kind, pair, sealed);
      });
    },
    forget: (keyId) => void opened.delete(keyId),
  };
}

/** Is it certain that the pod lets the present key not in, in this start? */
function isKnownToLack(pod: LivePod, keys: NonNullable<ReturnType<typeof trustedKeys>>): boolean {
  const { current, old, files, startEnv } = factsOf(pod, keys);
  return files === null ? startEnv === old : !files.includes(current);
}
