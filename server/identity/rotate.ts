import type { Database } from "../../db/database.ts";
import { allKeys, allSecrets, replaceKeyCiphertext, replaceSecretCiphertext } from "../../db/stores/secrets.ts";
import { sealedWebhooks, updateWebhook } from "../../db/stores/webhooks.ts";
import { AppError } from "../errors.ts";
import { type SecretBox, type SecretPlace, webhookPlaces } from "./secret_box.ts";

/** A stored ciphertext: where it belongs, and how another one takes its place. */
interface Sealed {
  readonly place: SecretPlace;
  readonly text: string;
  store(ciphertext: string): void;
}

/** Everything that is encrypted at rest: org secrets, SSH private keys, webhook addresses and signing secrets. */
function* sealedTexts(db: Database): Generator<Sealed> {
  for (const row of allSecrets(db)) {
    yield {
      place: { orgId: row.org_id, kind: "secret", name: row.name },
      text: row.ciphertext,
      store: (text) => replaceSecretCiphertext(db, row.org_id, row.name, text),
    };
  }
  for (const row of allKeys(db)) {
    yield {
      place: { orgId: row.org_id, kind: "key", name: `${row.kind}/${row.fingerprint}` },
      text: row.private_key,
      store: (text) => replaceKeyCiphertext(db, row.id, text),
    };
  }
  for (const row of sealedWebhooks(db)) {
    const places = webhookPlaces(row.org_id, row.id);
    yield {
      place: places.url,
      text: row.url_ciphertext,
      store: (text) => updateWebhook(db, row.id, { url_ciphertext: text }),
    };
    if (row.secret_ciphertext === null) continue;
    yield {
      place: places.secret,
      text: row.secret_ciphertext,
      store: (text) => updateWebhook(db, row.id, { secret_ciphertext: text }),
    };
  }
}

/**
 * Encrypts everything that is encrypted anew with the first key of `SECRETS_KEY`, in one transaction; afterwards the
 * other keys can be dropped. Returns how many texts were changed.
 */
export function rotateSecrets(db: Database, box: SecretBox): { rotated: number; total: number } {
  return db.tx(() => {
    let rotated = 0;
    let total = 0;
    for (const { place, text, store } of sealedTexts(db)) {
      total++;
      const opened = box.open(place, text);
      if (box.isCurrent(text)) continue;
      store(box.seal(place, opened));
      rotated++;
    }
    return { rotated, total };
  });
}

/** How many of the stored secrets and keys none of the keys of `SECRETS_KEY` can decrypt. */
export function countUnreadable(db: Database, box: SecretBox): number {
  let unreadable = 0;
  for (const { place, text } of sealedTexts(db)) if (!canOpen(box, place, text)) unreadable++;
  return unreadable;
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
