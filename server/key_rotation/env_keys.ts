import type { KeyKind } from "../../db/stores/key_rotations.ts";
import type { KeyWords } from "../../db/stores/pod_keys.ts";

/** The names by which a pod's env carries the org's public keys. */
export const ENV_NAMES: Readonly<Record<KeyKind, string>> = {
  backend: "GODFATHER_SSH_PUBLIC_KEY",
  user_ca: "GODFATHER_SSH_CA_PUBLIC_KEY",
};

/** A public key of an org: its line for OpenSSH and its fingerprint. */
export interface PublicKey {
  readonly public_key: string;
  readonly fingerprint: string;
}

/** Every key that an org has or had. */
export type OrgPublicKeys = Readonly<Record<KeyKind, readonly PublicKey[]>>;

/** Type and base64 of a key line: its comment says nothing about which key it is. */
const bare = (line: string): string => line.trim().split(/\s+/).slice(0, 2).join(" ");

/** The fingerprint of a line among the org's keys; undefined for a key that the org never had. */
export function fingerprintOf(keys: readonly PublicKey[], line: string): string | undefined {
  // Nearly always it is the line as it was made.
  const same = keys.find((key) => key.public_key === line);
  if (same !== undefined) return same.fingerprint;
  const wanted = bare(line);
  return keys.find((key) => bare(key.public_key) === wanted)?.fingerprint;
}

/** Which keys an env holds, by fingerprint, `other` or `none`. An image takes the first line of a value. */
export function keysInEnv(env: Readonly<Record<string, string>>, keys: OrgPublicKeys): KeyWords {
  const word = (kind: KeyKind): string => {
    const line = env[ENV_NAMES[kind]]?.split("\n")[0] ?? "";
    return line.trim() === "" ? "none" : fingerprintOf(keys[kind], line) ?? "other";
  };
  return { backend: word("backend"), user_ca: word("user_ca") };
}

/** The same env with these keys; null when it has them already. */
export function withKeys(
  env: Readonly<Record<string, string>>,
  lines: Readonly<Record<KeyKind, string>>,
): Record<string, string> | null {
  const same = (kind: KeyKind) => bare(env[ENV_NAMES[kind]] ?? "") === bare(lines[kind]);
  if (same("backend") && same("user_ca")) return null;
  return { ...env, [ENV_NAMES.backend]: lines.backend, [ENV_NAMES.user_ca]: lines.user_ca };
}

/** The fingerprints of the org's keys that stand in a file's lines, options in front of a key or not. */
export function keysInLines(lines: readonly string[], keys: readonly PublicKey[]): string[] {
  const found = new Set<string>();
  for (const line of lines) {
    const words = line.trim().split(/\s+/);
    if (words[0]?.startsWith("#")) continue;
    for (let at = 0; at + 1 < words.length; at++) {
      const print = fingerprintOf(keys, `${words[at]} ${words[at + 1]}`);
      if (print !== undefined) found.add(print);
    }
  }
  return [...found];
}
