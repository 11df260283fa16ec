import { isAbsolute, resolve } from "node:path";
import { AppError, shown } from "../../server/errors.ts";
import { newKeyPair } from "../../server/ssh/key_pair.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { type OrgPlaces, plainPath } from "./places.ts";
import { readIfThere, replaceFile, writeIfAbsent } from "./private_file.ts";

/**
 * The private key to log in with: the named one, or an ed25519 pair of our own that is made at the first use. Throws
 * `AppError("usage")` for a key without its public half beside it.
 */
export async function identityFor(places: OrgPlaces, named: string | undefined, kept: string | null): Promise<string> {
  const path = named === undefined ? kept ?? places.key : isAbsolute(named) ? named : resolve(named);
  plainPath(path, "--identity");
  if (path === places.key) await makeOwnKey(path);
  await publicKeyOf(path);
  return path;
}

/** The public line of a private key. Throws `AppError("usage")`. */
export async function publicKeyOf(identity: string): Promise<string> {
  const line = (await readIfThere(`${identity}.pub`))?.trim();
  if (line === undefined) {
    throw new AppError("usage", `There is no public key ${shown(`${identity}.pub`)}`, {
      hint: `Make it with: ssh-keygen -y -f ${identity} > ${identity}.pub`,
    });
  }
  parsePublicKey(line);
  return line;
}

/** The private half is written last: a pair that was cut off is made again. */
async function makeOwnKey(path: string): Promise<void> {
  if (await readIfThere(path) !== null) return;
  const { line, pem } = newKeyPair("orgpods");
  await replaceFile(`${path}.pub`, `${line}\n`);
  await writeIfAbsent(path, pem);
}
