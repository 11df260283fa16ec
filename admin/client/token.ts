import { AppError, shown } from "../../server/errors.ts";

/** What a token looks like: anything else cannot stand in a header. */
export const TOKEN_FORM = /^[\x21-\x7e]{8,200}$/;

/**
 * The officer token for a remote server: from a file that only its owner can read, else from the environment. It is
 * never an argument, because those are seen by everybody on the machine. Throws `AppError("usage")`.
 */
export function officerToken(tokenFile: string | undefined, fromEnv: string | undefined): string {
  const text = (tokenFile === undefined ? fromEnv ?? "" : readTokenFile(tokenFile)).trim();
  if (text === "") {
    throw new AppError("usage", "Give the officer token in ORGPODS_TOKEN, or in a file with --token-file", {
      hint: "Officers get one from the server's page /api/compute/<org>/officer/login; orgpods admin keeps the one " +
        "that is pasted there, and other commands take it",
    });
  }
  if (!TOKEN_FORM.test(text)) throw new AppError("usage", "The officer token must be one line of text");
  return text;
}

/** The content of a file that only its owner can read. Throws `AppError("usage")`. */
export function readTokenFile(path: string): string {
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !(error instanceof Deno.errors.PermissionDenied)) throw error;
    throw new AppError("usage", `The token file ${shown(path)} cannot be read: ${error.message}`);
  }
  if (!info.isFile) throw new AppError("usage", `The token file ${shown(path)} is not a file`);
  if (((info.mode ?? 0) & 0o077) !== 0) {
    throw new AppError("usage", `The token file ${shown(path)} can be read by others; run: chmod 600 ${path}`);
  }
  return Deno.readTextFileSync(path);
}
