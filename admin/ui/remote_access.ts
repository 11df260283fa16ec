import { AppError } from "../../server/errors.ts";
import { createApi, read } from "../client/api.ts";
import type { Connection } from "../client/connection.ts";
import { keepToken, type KeptToken, officerFolder, officerTokenPath, readKeptToken } from "../client/officer_token.ts";
import { Refusal } from "../client/refusal.ts";
import { connectRemote, namesProxy, originOf } from "../client/remote.ts";
import { officerToken, TOKEN_FORM } from "../client/token.ts";
import type { Shell } from "../commands/shell.ts";
import { Problem, problemOf } from "./client/problem.ts";
import { firstAnswer } from "./first_wait.ts";

/** Officer tokens for one server elsewhere: given, kept, or asked for. */
export interface RemoteAccess {
  readonly origin: string;
  pageOf(org: string): string;
  /** A connection by the token that was given for an org or is kept for it, or null. */
  kept(org: string): Connection | null;
  /** Checks a new token and keeps it; `notKept` says why it could not be kept. Throws `Problem`. */
  check(org: string, token: string): Promise<Checked>;
  /** The first connection: by `--token-file` or ORGPODS_TOKEN, by the kept token, or by one that is pasted now. */
  first(org: string): Promise<{ readonly connection: Connection; readonly expiresAt: string | null }>;
}

export interface Checked {
  readonly connection: Connection;
  readonly expiresAt: string | null;
  readonly notKept: string | null;
}

const MOST_TRIES = 3;

export function createRemoteAccess(shell: Shell, server: string): RemoteAccess {
  const origin = originOf(server);
  const folder = officerFolder(shell.env);
  const connect = (token: string) => connectRemote({ url: origin, token, isProxied: namesProxy(origin, shell.env) });
  const path = (org: string) => officerTokenPath(folder, origin, org);
  /** Tokens that were given for this run, by org; they are not kept. */
  const given = new Map<string, string>();
  const pageOf = (org: string) => `${origin}/api/compute/${org}/officer/login`;

  const check: RemoteAccess["check"] = async (org, token) => {
    if (!TOKEN_FORM.test(token)) {
      throw new Problem("signed_out", "A token is one line of 8 to 200 characters, such as plat_…");
    }
    const connection = connect(token);
    const expiresAt = await expiryOf(connection, org, token);
    const notKept = await kept(path(org), { token, expires_at: expiresAt });
    // What no file keeps is remembered while the admin runs.
    if (notKept === null) given.delete(org);
    else given.set(org, token);
    return { connection, expiresAt, notKept };
  };

  /** Waits for a check of the first connection; nothing is on the screen yet. */
  const waited = <T>(work: Promise<T>) => firstAnswer(shell, origin, work);

  const asked: RemoteAccess["first"] = async (org) => {
    // Before somebody signs in for nothing.
    await waited(requireOrg(connect(""), org));
    const page = pageOf(org);
    await shell.say("Sign in with Discord on this page, and paste the officer token that it shows:");
    await shell.say(`  ${page}`);
    await openBrowser(page);
    for (let tries = 1;; tries++) {
      // What is typed as soon as the question stands there must not be drawn either.
      const typed = shell.stdio.readLine(true);
      await shell.stdio.err("Token (it is not shown): ");
      const token = await typed;
      await shell.stdio.err("\n");
      if (token === null) throw new Problem("stopped", "Nobody signed in");
      try {
        const checked = await waited(check(org, token.trim()));
        if (checked.notKept !== null) await shell.say(`warning: ${checked.notKept}`);
        return checked;
      } catch (error) {
        const problem = problemOf(error);
        if (problem?.kind !== "signed_out" || tries === MOST_TRIES) throw error;
        await shell.say([problem.sentence, ...problem.notes].join("\n"));
      }
    }
  };

  return {
    origin,
    pageOf,
    check,
    kept(org) {
      const token = given.get(org) ?? readKeptToken(path(org))?.token;
      return token === undefined ? null : connect(token);
    },
    async first(org) {
      const { tokenFile } = shell.options;
      if (tokenFile !== undefined || (shell.env("ORGPODS_TOKEN") ?? "") !== "") {
        const token = officerToken(tokenFile, shell.env("ORGPODS_TOKEN"));
        given.set(org, token);
        try {
          return { connection: connect(token), expiresAt: await waited(expiryOf(connect(token), org, token)) };
        } catch (error) {
          if (!(error instanceof Problem) || error.kind !== "signed_out") throw error;
          const from = tokenFile === undefined ? "ORGPODS_TOKEN" : "--token-file";
          const hint = `hint: It is the token of ${from}; without one the admin asks for a new one`;
          throw new Problem(error.kind, error.sentence, { ...error.facts, notes: [...error.notes, hint] });
        }
      }
      const kept = readKeptToken(path(org));
      if (kept === null) return await asked(org);
      try {
        await waited(expiryOf(connect(kept.token), org, kept.token));
        return { connection: connect(kept.token), expiresAt: kept.expires_at };
      } catch (error) {
        if (problemOf(error)?.kind !== "signed_out") throw error;
        await shell.say("The kept token does not work any more.");
        return await asked(org);
      }
    },
  };
}

/**
 * Asks, without a token, whether an orgpods server is there and has the org. Throws `Refusal` with 3 for an org that it
 * does not know, with 6 for anything that is no orgpods server.
 */
async function requireOrg(connection: Connection, org: string): Promise<void> {
  await read(createApi(connection).health.$get());
  const page = await connection.fetch(new Request(`${connection.baseUrl}/${org}`));
  await page.body?.cancel();
  if (page.status === 404) throw new Refusal(`There is no organization ${org} at ${connection.baseUrl}`, 3);
}

/** Keeps a token; gives why that did not work, because one can go on without. */
async function kept(path: string, token: KeptToken): Promise<string | null> {
  try {
    await keepToken(path, token);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return `The token works, but it cannot be kept, and is asked for again the next time: ${error.message}`;
  }
}

/** When a token runs out, as the list of tokens says; null when it is not in it. Throws `Problem` when it does not work. */
async function expiryOf(connection: Connection, org: string, token: string): Promise<KeptToken["expires_at"]> {
  try {
    const { tokens } = (await read(createApi(connection).org.tokens.$get({ param: { org } }))).value;
    const own = tokens.find(({ kind, display }) => kind === "officer" && token.startsWith(display));
    return own?.expires_at ?? null;
  } catch (error) {
    throw problemOf(error) ?? error;
  }
}

/** Opens a page in the browser where there is one. The address has been printed, so it does not matter whether it works. */
async function openBrowser(page: string): Promise<void> {
  const command = Deno.build.os === "darwin" ? "open" : "xdg-open";
  try {
    const child = new Deno.Command(command, { args: [page], stdin: "null", stdout: "null", stderr: "null" }).spawn();
    child.unref();
    await Promise.race([child.status, new Promise((resolve) => setTimeout(resolve, 500))]);
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied;
    if (!isMissing) throw error;
  }
}
