import type { Database } from "../../db/database.ts";
import {
  allKeys,
  allSecrets,
  allWebhookUrls,
  replaceKeyCiphertext,
  replaceSecretCiphertext,
  replaceWebhookCiphertext,
} from "../../db/stores/secrets.ts";
import { AppError } from "../errors.ts";
import type { SecretBox, SecretPlace } from "./secret_box.ts";

/**
 * Encrypts everything that is encrypted anew with the first key of `SECRETS_KEY`: org secrets, SSH private keys,
 * webhook addresses. All in one transaction; afterwards the other keys can be dropped. Returns how many were changed.
 */
export function rotateSecrets(db: Database, box: SecretBox): { rotated: number; total: number } {
  return db.tx(() => {
    let rotated = 0;
    let total = 0;
    const again = (place: SecretPlace, sealed: string, store: (ciphertext: string) => void) => {
      total++;
      const text = box.open(place, sealed);
      if (box.isCurrent(sealed)) return;
      store(box.seal(place, text));
      rotated++;
    };
    for (const row of allSecrets(db)) {
      again(
        { orgId: row.org_id, kind: "secret", name: row.name },
        row.ciphertext,
        (text) => replaceSecretCiphertext(db, row.org_id, row.name, text),
      );
    }
    for (const row of allKeys(db)) {
      again(
        { orgId: row.org_id, kind: "key", name: `${row.kind}/${row.fingerprint}` },
        row.private_key,
        (text) => replaceKeyCiphertext(db, row.id, text),
      );
    }
    for (const row of allWebhookUrls(db)) {
      again(
        { orgId: row.org_id, kind: "webhook", name: String(row.id) },
        row.url_ciphertext,
        (text) => replaceWebhookCiphertext(db, row.id, text),
      );
    }
    return { rotated, total };
  });
}

/** How many of the stored secrets and keys none of the keys of `SECRETS_KEY` can decrypt. */
export function countUnreadable(db: Database, box: SecretBox): number {
  const places: [SecretPlace, string][] = [
    ...allSecrets(db).map((row): [SecretPlace, string] => [
      { orgId: row.org_id, kind: "secret", name: row.name },
      row.ciphertext,
    ]),
    ...allKeys(db).map((row): [SecretPlace, string] => [
      { orgId: row.org_id, kind: "key", name: `${row.kind}/${row.fingerprint}` },
      row.private_key,
    ]),
  ];
  return places.filter(([place, sealed]) => !canOpen(box, place, sealed)).length;
}

function canOpen(box: SecretBox, place: SecretPlace, sealed: string): boolean {
  try {
    box.open(place, sealed);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
