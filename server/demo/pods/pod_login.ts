/**
 * Who may log in to an in-process pod: the backend with its own key, and holders of a user certificate of the org's CA.
 * The rules are sshd's with the pod image's settings.
 */
import type { Clock } from "../../clock.ts";
import { SECOND } from "../../clock.ts";
import { parseCertificate } from "../../ssh/certificate.ts";
import { keyTypeOfCertificate } from "../../ssh/key_types.ts";
import { parsePublicKey, type SubjectKey } from "../../ssh/public_key.ts";
import { Reader, sameBytes } from "../../ssh/wire.ts";

/** What a pod was created with. A missing key opens nothing. */
export interface PodTrust {
  readonly backendKey: SubjectKey | undefined;
  readonly ca: SubjectKey | undefined;
  readonly principal: string;
}

/** A key that may log in, once it has proved to be there by a signature. */
export interface Grant {
  /** The plain key, also of a certificate. */
  readonly type: string;
  readonly blob: Uint8Array;
  readonly certified: boolean;
  readonly forcedCommand: string | undefined;
  /** For the log: the certificate's key id and serial, or "backend". */
  readonly who: string;
}

/** A refused login; the message says why, for the pod's log. The client learns only that it was refused. */
export class LoginRefused extends Error {
  override readonly name = "LoginRefused";
}

/** Reads the trusted keys from the environment a pod is created with. Throws `invalid_request` for a malformed key. */
export function readTrust(podId: string, env: Readonly<Record<string, string>>): PodTrust {
  const key = (name: string) => env[name]?.trim() ? parsePublicKey(env[name].trim()) : undefined;
  return {
    backendKey: key("GODFATHER_SSH_PUBLIC_KEY"),
    ca: key("GODFATHER_SSH_CA_PUBLIC_KEY"),
    principal: `gf-${podId}`,
  };
}

/** Judges a key or certificate as the client sent it, before any signature. Throws LoginRefused, or `invalid_request`
 * for a certificate that breaks the format or was not signed by the CA it names. */
export function judgeKey(blob: Uint8Array, trust: PodTrust, clock: Clock): Grant {
  const type = new Reader(blob).text("the key's type");
  if (keyTypeOfCertificate(type)) return judgeCertificate(blob, trust, clock);
  if (!trust.backendKey || !sameBytes(trust.backendKey.blob, blob)) throw new LoginRefused("The key is not authorized");
  return { type, blob, certified: false, forcedCommand: undefined, who: "backend" };
}

function judgeCertificate(blob: Uint8Array, trust: PodTrust, clock: Clock): Grant {
  const certificate = parseCertificate(blob);
  const { key, keyId, serial } = certificate;
  const who = `${keyId} (serial ${serial})`;
  if (!trust.ca || certificate.caFingerprint !== trust.ca.fingerprint) {
    throw new LoginRefused(`The CA of the certificate is not trusted: ${who}`);
  }
  if (!certificate.principals.includes(trust.principal)) {
    throw new LoginRefused(`The certificate does not contain an authorized principal: ${who}`);
  }
  const now = BigInt(Math.floor(clock.now() / SECOND));
  if (now < certificate.validAfter) throw new LoginRefused(`The certificate is not yet valid: ${who}`);
  if (now >= certificate.validBefore) throw new LoginRefused(`The certificate has expired: ${who}`);
  for (const option of certificate.criticalOptions.keys()) {
    if (option !== "force-command") throw new LoginRefused(`The critical option ${option} is not known here: ${who}`);
  }
  if (key.type.startsWith("sk-")) throw new LoginRefused(`Security keys are not supported here: ${who}`);
  const forcedCommand = certificate.criticalOptions.get("force-command");
  return { type: key.type, blob: key.blob, certified: true, forcedCommand, who };
}
