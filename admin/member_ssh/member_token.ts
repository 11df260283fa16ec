import { AppError } from "../../server/errors.ts";
import { objectIn } from "../client/refusal.ts";
import { readTokenFile } from "../client/token.ts";
import { readIfThere } from "./private_file.ts";

/** Where the member's CLI token is kept: by the godfather client, or in a file. */
export type TokenSource = { readonly from: "godfather" } | { readonly from: "file"; readonly path: string };

/** What the godfather client keeps in `~/.godfather/config.json`. */
export interface GodfatherConfig {
  readonly token: string | null;
  /** An origin, as `--server` takes it. */
  readonly server: string | null;
  readonly org: string | null;
}

/** The client's file; all null when there is none, or a broken one, as the client itself takes it. */
export async function godfatherConfig(home: string): Promise<GodfatherConfig> {
  const kept = objectIn(await readIfThere(`${home}/.godfather/config.json`) ?? "") ?? {};
  const text = (value: unknown) => typeof value === "string" && value !== "" ? value : null;
  return {
    token: text(kept.token),
    server: URL.parse(text(kept.api_url) ?? "")?.origin ?? null,
    org: text(kept.org),
  };
}

/**
 * The token for one org on one server. Throws `token_invalid` when the godfather client is not signed in there, and
 * `usage` for a file that cannot be read or that others can read.
 */
export async function memberToken(
  source: TokenSource,
  { home, server, org }: { readonly home: string; readonly server: string; readonly org: string },
): Promise<string> {
  const kept = source.from === "file" ? null : await godfatherConfig(home);
  if (kept !== null && (kept.token === null || kept.server !== server || kept.org !== org)) {
    throw notSignedIn(server, org);
  }
  const text = (source.from === "file" ? readTokenFile(source.path) : kept?.token ?? "").trim();
  if (!/^plat_[\x21-\x7e]{8,200}$/.test(text)) {
    throw new AppError("token_invalid", "The CLI token must be one line that begins with plat_", {
      hint: `Members get one from ${server}/api/compute/${org}/cli/login`,
    });
  }
  return text;
}

function notSignedIn(server: string, org: string): AppError {
  return new AppError("token_invalid", `You are not signed in to ${org} at ${server}`, {
    hint: `Run: godfather auth --api-url ${server} --org ${org}`,
  });
}
