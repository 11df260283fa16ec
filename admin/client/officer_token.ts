import { homedir } from "node:os";
import { AppError } from "../../server/errors.ts";
import { makePrivateFolder, removeIfThere, replaceFile } from "../member_ssh/private_file.ts";
import { localFailure } from "./local_file.ts";
import { objectIn } from "./refusal.ts";
import { readTokenFile, TOKEN_FORM } from "./token.ts";

/** An officer token as the admin keeps it, for one org of one server. */
export interface KeptToken {
  readonly token: string;
  /** When it runs out, ISO 8601; null where the server did not say. */
  readonly expires_at: string | null;
}

/** The folder of officer tokens: `orgpods/officer` in the user's folder for settings. */
export function officerFolder(env: (name: string) => string | undefined): string {
  const settings = env("XDG_CONFIG_HOME") || `${env("HOME") || homedir()}/.config`;
  return `${settings.replace(/\/+$/, "")}/orgpods/officer`;
}

/** The file of one org's token. Throws `AppError("usage")` for what is no prefix: it becomes part of a file's name. */
export function officerTokenPath(folder: string, origin: string, org: string): string {
  if (!/^[a-z0-9_][a-z0-9_-]{1,19}$/.test(org)) {
    throw new AppError("usage", "The organization must be 2 to 20 of a-z, 0-9, _ and -");
  }
  const host = new URL(origin).host.replace(/[^A-Za-z0-9.-]/g, "_");
  return `${folder}/${org}@${host}.json`;
}

/** The kept token, or null. Throws `AppError` for a file that others can read, or that this user cannot. */
export function readKeptToken(path: string): KeptToken | null {
  try {
    Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw localFailure(error, path);
  }
  const { token, expires_at } = objectIn(readTokenFile(path)) ?? {};
  if (typeof token !== "string" || !TOKEN_FORM.test(token)) return null;
  return { token, expires_at: typeof expires_at === "string" ? expires_at : null };
}

/** Keeps a token in a file that only its owner can read. Throws `AppError` where nothing can be written. */
export async function keepToken(path: string, kept: KeptToken): Promise<void> {
  try {
    await makePrivateFolder(path.replace(/\/[^/]+$/, ""));
    await replaceFile(path, `${JSON.stringify(kept)}\n`);
  } catch (error) {
    throw localFailure(error, path);
  }
}

/** Forgets a token; true when there was one. */
export async function forgetToken(path: string): Promise<boolean> {
  const wasThere = readKeptTokenFile(path);
  await removeIfThere(path);
  return wasThere;
}

function readKeptTokenFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
