import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { Buffer } from "node:buffer";
import { AppError } from "../errors.ts";

/** One AES-256 key of `SECRETS_KEY`, with the id that stands in front of what it encrypted. */
export interface SecretKey {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** What a ciphertext belongs to. It is the additional data of the encryption, so rows cannot be swapped. */
export interface SecretPlace {
  readonly orgId: number;
  readonly kind: "secret" | "key" | "webhook";
  readonly name: string;
}

/** Where a webhook's address and its signing secret belong: two places, so that the two cannot be swapped either. */
export function webhookPlaces(orgId: number, id: number): { readonly url: SecretPlace; readonly secret: SecretPlace } {
  return {
    url: { orgId, kind: "webhook", name: String(id) },
    secret: { orgId, kind: "webhook", name: `${id}/secret` },
  };
}

/** Encrypts and decrypts secrets at rest: AES-256-GCM, text form `v1.<key id>.<base64url of nonce, text, tag>`. */
export interface SecretBox {
  readonly ready: boolean;
  /** Throws `secrets_key_missing` without a key. */
  seal(place: SecretPlace, text: string): string;
  /** Throws `secrets_key_missing` without a key, `secrets_key_wrong` when none of the keys fits. */
  open(place: SecretPlace, sealed: string): string;
  /** True when the text was encrypted with the first key, so that rotation can skip it. */
  isCurrent(sealed: string): boolean;
}

const KEY_FORM = /^[A-Za-z0-9_-]{43}=?$/;

/** A new key as `SECRETS_KEY` takes it: 32 random bytes in URL-safe base64. */
export function generateSecretKey(): string {
  return randomBytes(32).toString("base64url");
}

/** Parses the comma list of `SECRETS_KEY`. Throws `AppError("usage")` without ever showing a value. */
export function parseSecretKeys(text: string): SecretKey[] {
  return text.split(",").map((part, index) => {
    const value = part.trim();
    const bytes = KEY_FORM.test(value) ? Buffer.from(value, "base64url") : null;
    if (bytes === null || bytes.length !== 32) {
      throw new AppError(
        "usage",
        `SECRETS_KEY entry ${index + 1} must be 32 bytes in URL-safe base64 (43 characters); ` +
          "make one with: orgpods secrets keygen",
      );
    }
    return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
  });
}

const placeBytes = (place: SecretPlace) => Buffer.from(JSON.stringify([place.orgId, place.kind, place.name]));

export function createSecretBox(keys: readonly SecretKey[]): SecretBox {
  const first = keys[0];
  const missing = () => new AppError("secrets_key_missing", "SECRETS_KEY is not configured on this server");
  return {
    ready: first !== undefined,
    seal(place, text) {
      if (first === undefined) throw missing();
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", first.bytes, nonce);
      cipher.setAAD(placeBytes(place));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return `v1.${first.id}.${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString("base64url")}`;
    },
    open(place, sealed) {
      if (first === undefined) throw missing();
      const wrong = (cause?: unknown) =>
        new AppError(
          "secrets_key_wrong",
          `SECRETS_KEY cannot decrypt this organization's ${place.kind === "key" ? "SSH keys" : "secrets"}`,
          { cause },
        );
      const [version, id, body] = sealed.split(".");
      const key = keys.find((candidate) => candidate.id === id);
      if (version !== "v1" || key === undefined || body === undefined) throw wrong();
      const bytes = Buffer.from(body, "base64url");
      if (bytes.length < 28) throw wrong();
      try {
        const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, 12));
        decipher.setAAD(placeBytes(place));
        decipher.setAuthTag(bytes.subarray(-16));
        return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString("utf8");
      } catch (error) {
        throw wrong(error);
      }
    },
    isCurrent: (sealed) => sealed.split(".")[1] === first?.id,
  };
}
