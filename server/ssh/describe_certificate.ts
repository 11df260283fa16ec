import type { Options, ParsedCertificate } from "./parse_certificate.ts";

const FOR_EVER = 2n ** 64n - 1n;
/** The last second a JavaScript date can show. */
const LAST_DATE = 8_640_000_000_000n;

/** A certificate for people to read: the lines of `ssh-keygen -L` with times in UTC, ending in a newline. */
export function describeCertificate(certificate: ParsedCertificate): string {
  const { keyType, key } = certificate;
  return [
    `Type: ${certificate.type} user certificate`,
    `Public key: ${keyType.label}-CERT ${key.fingerprint}`,
    `Signing CA: ED25519 ${certificate.caFingerprint} (using ssh-ed25519)`,
    `Key ID: "${certificate.keyId}"`,
    `Serial: ${certificate.serial}`,
    `Valid: ${validity(certificate.validAfter, certificate.validBefore)}`,
    `Principals: ${list(certificate.principals)}`,
    `Critical Options: ${list(optionLines(certificate.criticalOptions))}`,
    `Extensions: ${list(optionLines(certificate.extensions))}`,
  ].map((line) => `        ${line}\n`).join("");
}

function optionLines(options: Options): string[] {
  return [...options].map(([name, value]) => value === "" ? name : `${name} ${value}`);
}

function list(items: readonly string[]): string {
  return items.length === 0 ? "(none)" : items.map((item) => `\n                ${item}`).join("");
}

function validity(after: bigint, before: bigint): string {
  if (after === 0n && before === FOR_EVER) return "forever";
  if (after === 0n) return `before ${time(before)}`;
  if (before === FOR_EVER) return `after ${time(after)}`;
  return `from ${time(after)} to ${time(before)}`;
}

function time(seconds: bigint): string {
  if (seconds > LAST_DATE) return `second ${seconds}`;
  return new Date(Number(seconds) * 1_000).toISOString().replace(".000Z", "Z");
}
