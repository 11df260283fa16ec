import type { Database } from "../../db/database.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { deleteSecret, putSecret, secretOf } from "../../db/stores/secrets.ts";
import type { Clock } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import type { SecretBox } from "./secret_box.ts";

/** The secrets an org may have. Values are never returned to anybody. */
export const SECRET_NAMES = ["runpod_api_key"] as const;
export type SecretName = (typeof SECRET_NAMES)[number];

export function secretName(name: string): SecretName {
  const found = SECRET_NAMES.find((known) => known === name);
  if (found === undefined) {
    throw new AppError("invalid_request", `The secret name must be one of ${SECRET_NAMES.join(", ")}: ${shown(name)}`);
  }
  return found;
}

export interface OrgSecrets {
  /** The value, decrypted; null when the org has none. Throws `secrets_key_missing` or `secrets_key_wrong`. */
  read(org: Org, name: SecretName): string | null;
  /** Whether there is one, and its last four characters. */
  describe(org: Org, name: SecretName): { configured: boolean; last4: string | null; updatedAt: number | null };
  write(org: Org, name: SecretName, value: string, by: string): void;
  remove(org: Org, name: SecretName): boolean;
}

export function createOrgSecrets(db: Database, box: SecretBox, clock: Clock): OrgSecrets {
  const place = (org: Org, name: string) => ({ orgId: org.id, kind: "secret", name }) as const;
  const opened = new Map<string, { ciphertext: string; value: string }>();
  return {
    read(org, name) {
      const row = secretOf(db, org.id, name);
      if (row === undefined) return null;
      const key = `${org.id}/${name}`;
      const known = opened.get(key);
      if (known?.ciphertext === row.ciphertext) return known.value;
      const value = box.open(place(org, name), row.ciphertext);
      opened.set(key, { ciphertext: row.ciphertext, value });
      return value;
    },
    describe(org, name) {
      const row = secretOf(db, org.id, name);
      return { configured: row !== undefined, last4: row?.hint ?? null, updatedAt: row?.updated_at ?? null };
    },
    write(org, name, value, by) {
      const ciphertext = box.seal(place(org, name), value);
      putSecret(db, { orgId: org.id, name, ciphertext, hint: value.slice(-4), by }, clock.now());
    },
    remove: (org, name) => deleteSecret(db, org.id, name),
  };
}
