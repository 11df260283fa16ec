import { AppError, shown } from "../../server/errors.ts";
import { type Api, createApi, read } from "../client/api.ts";
import { connect, type Target } from "../client/connect.ts";
import { officerFolder, officerTokenPath, readKeptToken } from "../client/officer_token.ts";
import { namesProxy, originOf } from "../client/remote.ts";
import { officerToken } from "../client/token.ts";
import { refuseRemote } from "./refuse_remote.ts";
import type { Shell } from "./shell.ts";

/** Calls the API as the operator on this machine. */
export async function asOperator(shell: Shell, command: string, work: (api: Api) => Promise<void>): Promise<void> {
  refuseRemote(shell, command);
  await connected(shell, targetOf(shell), work);
}

/** Calls the API about one org: as the operator, or with an officer token on the server that `--server` names. */
export async function withOrg(shell: Shell, work: (api: Api, org: string) => Promise<void>): Promise<void> {
  const { server, org } = shell.options;
  if (server !== undefined && org === undefined) {
    throw new AppError("usage", "Name the organization: --org, together with --server");
  }
  if (org !== undefined) pathPart(org, "--org");
  await connected(shell, targetOf(shell), async (api) => await work(api, org ?? await onlyOrg(api)));
}

/** A word of the command line that becomes part of a path. Throws `AppError("usage")` for what no id looks like. */
export function pathPart(word: string, what: string): string {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(word)) {
    throw new AppError("usage", `${what} must be 1 to 64 of a-z, A-Z, 0-9, _ and -: ${shown(word)}`);
  }
  return word;
}

function targetOf(shell: Shell): Target {
  const { dataDir, envFile, server, allowTestUpstreams } = shell.options;
  if (server !== undefined) {
    const token = tokenFor(shell, server);
    return { kind: "remote", url: server, token, isProxied: namesProxy(originOf(server), shell.env) };
  }
  return {
    kind: "local",
    dataDir,
    ...(envFile === undefined ? {} : { envFile }),
    ...(allowTestUpstreams === undefined ? {} : { allowTestUpstreams }),
  };
}

/** The officer token that is given, else the one that a sign-in of the admin kept for this org. */
function tokenFor(shell: Shell, server: string): string {
  const { tokenFile, org } = shell.options;
  const given = shell.env("ORGPODS_TOKEN") ?? "";
  if (tokenFile === undefined && given === "" && org !== undefined) {
    const kept = readKeptToken(officerTokenPath(officerFolder(shell.env), originOf(server), org));
    if (kept !== null) return kept.token;
  }
  return officerToken(tokenFile, given);
}

async function connected(shell: Shell, target: Target, work: (api: Api) => Promise<void>): Promise<void> {
  if (shell.options.tokenFile !== undefined && target.kind === "local") {
    throw new AppError("usage", "--token-file is for another server: name it with --server");
  }
  const connection = await connect(target);
  try {
    await work(createApi(connection));
  } finally {
    await connection.close();
  }
}

/** The only org of the server. Throws `AppError` where there is none or more than one. */
export async function onlyOrg(api: Api): Promise<string> {
  const { orgs } = (await read(api.operator.orgs.$get())).value;
  if (orgs.length > 1) {
    throw new AppError("usage", `Name the organization with --org: ${orgs.map((org) => org.prefix).join(", ")}`);
  }
  if (orgs.length === 0) throw new AppError("org_not_found", "There is no organization yet; add one: orgpods org add");
  return orgs[0]!.prefix;
}
