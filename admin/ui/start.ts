import { DAY, systemClock } from "../../server/clock.ts";
import { AppError, exitCodeOf, isErrorCode } from "../../server/errors.ts";
import { type Api, createApi, read } from "../client/api.ts";
import type { Connection } from "../client/connection.ts";
import { connectLocalForLong } from "../client/local.ts";
import { exitCodeOfStatus, Refusal } from "../client/refusal.ts";
import { pathPart } from "../commands/connected.ts";
import type { Shell } from "../commands/shell.ts";
import { Problem } from "./client/problem.ts";
import { createSession, type Renewal, type Session } from "./client/session.ts";
import type { AnyScreen, Ui } from "./core/screen.ts";
import { firstAnswer } from "./first_wait.ts";
import { createRemoteAccess } from "./remote_access.ts";
import { SCREENS } from "./screens/list.ts";
import { orgsScreen } from "./screens/orgs.ts";
import { podsScreen } from "./screens/pods.ts";
import { createSignIn } from "./screens/sign_in.ts";
import { openOnTerminal } from "./terminal/run.ts";
import { localTime } from "./text/units.ts";

/** A way in: the session, and what the admin needs to change it. */
interface Way {
  readonly session: Session;
  /** Until a server takes the data directory over. */
  isOwnProcess(): boolean;
  /** A warning to begin with. */
  readonly notice?: string | undefined;
  readonly signIn: AnyScreen;
  /** More than one org is in reach and none was named. */
  readonly asksOrg: boolean;
  switchOrg(ui: Ui, org: string, how: Renewal): Promise<void>;
}

/** Connects, shows the admin until it is left, and gives the exit code. What broke is thrown once the terminal is whole. */
export async function startAdmin(shell: Shell): Promise<number> {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const way = await asRefusal(
    shell.options.server === undefined
      ? firstAnswer(shell, "the server", local(shell))
      : remote(shell, shell.options.server, zone),
  );
  try {
    const { exitCode, error } = await openOnTerminal({
      session: way.session,
      clock: systemClock,
      zone,
      env: shell.env,
      isOwnProcess: way.isOwnProcess,
      notice: way.notice,
      screens: SCREENS,
      first: { screen: (way.asksOrg ? orgsScreen : podsScreen) as AnyScreen, params: null },
      home: { screen: podsScreen as AnyScreen, params: null },
      signIn: way.signIn,
      switchOrg: way.switchOrg,
    }).ended;
    if (error !== undefined) throw error;
    return exitCode;
  } finally {
    await way.session.close();
  }
}

async function local(shell: Shell): Promise<Way> {
  const { dataDir, envFile, org, tokenFile, allowTestUpstreams } = shell.options;
  if (tokenFile !== undefined) throw new AppError("usage", "--token-file is for another server: name it with --server");
  if (org !== undefined) pathPart(org, "--org");
  const connection = await connectLocalForLong({
    dataDir,
    ...(envFile === undefined ? {} : { envFile }),
    ...(allowTestUpstreams === undefined ? {} : { allowTestUpstreams }),
  });
  try {
    const prefixes = await activeOrgs(createApi(connection));
    const first = org ?? prefixes[0];
    if (first === undefined) {
      throw new AppError("org_not_found", "There is no organization yet; add one: orgpods org add");
    }
    if (!prefixes.includes(first)) {
      throw new AppError("org_not_found", `There is no organization ${first} that is active`);
    }
    const session = createSession({ connection, org: first, address: null, now: systemClock.now });
    return {
      session,
      isOwnProcess: () => connection.isOwnProcess === true,
      // The operator's socket asks for no token.
      signIn: createSignIn({ pageOf: () => "", accept: () => Promise.resolve(null) }),
      asksOrg: org === undefined && prefixes.length > 1,
      switchOrg: (_, next, how) => session.renew(connection, next, how),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function activeOrgs(api: Api): Promise<string[]> {
  const { orgs } = (await read(api.operator.orgs.$get())).value;
  return orgs.filter(({ is_active }) => is_active).map(({ prefix }) => prefix);
}

async function remote(shell: Shell, server: string, zone: string): Promise<Way> {
  const { org } = shell.options;
  if (org === undefined) throw new AppError("usage", "Name the organization: --org, together with --server");
  pathPart(org, "--org");
  const access = createRemoteAccess(shell, server);
  const { connection, expiresAt } = await access.first(org);
  const expiry = expiresAt === null ? null : expiryOf(expiresAt, systemClock.now(), zone);
  // It is read after the admin was left, and before the first frame.
  if (expiry !== null) await shell.say(`${expiry.isSoon ? "warning: " : ""}${expiry.text}`);
  const session = createSession({ connection, org, address: access.origin, now: systemClock.now });
  const accept = async (next: string, token: string, isWanted: () => boolean) => {
    const checked = await access.check(next, token.trim());
    await session.renew(checked.connection, next, { isWanted: () => next === session.org || isWanted() });
    return checked.notKept;
  };
  const signIn = createSignIn({ pageOf: access.pageOf, accept });
  return {
    session,
    isOwnProcess: () => false,
    notice: expiry?.isSoon === true ? expiry.text : undefined,
    signIn,
    asksOrg: false,
    async switchOrg(ui, next, how) {
      const kept: Connection | null = access.kept(next);
      if (kept === null) return void ui.open(signIn, { org: next });
      try {
        await session.renew(kept, next, how);
      } catch (error) {
        if (!(error instanceof Problem) || error.kind !== "signed_out") throw error;
        ui.open(signIn, { org: next });
      }
    },
  };
}

/** When a token runs out; in its last week with a warning. */
export function expiryOf(iso: string, now: number, zone: string): { readonly text: string; readonly isSoon: boolean } {
  const until = localTime(iso, zone, now);
  const isSoon = Date.parse(iso) - now < 7 * DAY;
  return {
    text: isSoon
      ? `Your officer token runs out on ${until}; sign in again before then`
      : `Your officer token works until ${until}`,
    isSoon,
  };
}

/** A problem before the screen opened ends the command as any other refusal does. */
async function asRefusal<T>(way: Promise<T>): Promise<T> {
  try {
    return await way;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Refusal(error.sentence, exitCodeOfProblem(error), error.notes, error.code);
  }
}

/** The same code by which a shell command ends with it. */
function exitCodeOfProblem({ kind, code, facts: { status } }: Problem): number {
  if (kind === "stopped") return 4;
  if (code !== undefined && isErrorCode(code)) return exitCodeOf(code);
  return status === undefined ? 6 : exitCodeOfStatus(status);
}
