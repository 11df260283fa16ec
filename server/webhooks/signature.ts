import { createHmac } from "node:crypto";
import { randomText } from "../identity/tokens.ts";

/** A new signing secret. Receivers use the whole text, `whsec_` included, as the key. */
export function newSigningSecret(): string {
  return `whsec_${randomText()}`;
}

/**
 * The headers that let a receiver check who sent a message. A receiver:
 *
 * 1. reads the body as bytes, before any parsing, and the headers `x-orgpods-timestamp` (seconds since 1970) and
 *    `x-orgpods-signature` (64 hex digits);
 * 2. computes HMAC-SHA256 with the secret (the whole text as UTF-8) over `<timestamp>.<body>` in hex, and compares it with
 *    the signature in constant time;
 * 3. refuses a timestamp that is more than five minutes off;
 * 4. drops a message whose `x-orgpods-delivery` it has handled: a message is sent at least once, and keeps its delivery
 *    id over all tries, while timestamp and signature are of the try.
 *
 * In Python: `hmac.compare_digest(signature, hmac.new(secret.encode(), timestamp.encode() + b"." + body,
 * "sha256").hexdigest())`.
 */
export function signatureHeaders(secret: string, body: string, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1_000));
  return {
    "x-orgpods-timestamp": timestamp,
    "x-orgpods-signature": createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex"),
  };
}
