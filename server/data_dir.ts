import { AppError, shown } from "./errors.ts";

/** The files of a data directory. Nothing is written anywhere else. */
export interface DataDir {
  readonly path: string;
  readonly database: string;
  readonly socket: string;
  readonly envFile: string;
}

export function dataDirAt(path: string): DataDir {
  return {
    path,
    database: `${path}/orgpods.sqlite`,
    socket: `${path}/operator.sock`,
    envFile: `${path}/orgpods.env`,
  };
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

export function isInitialized(dir: DataDir): boolean {
  return exists(dir.database);
}

const ENV_TEMPLATE = `# Settings of orgpods. This file must stay private (chmod 600).
# SECRETS_KEY encrypts the RunPod keys and the SSH keys. Keep a copy apart from every backup of this folder.
SECRETS_KEY={key}

# The Discord application: https://discord.com/developers/applications
#CLIENT_ID=
#CLIENT_SECRET=
#BOT_TOKEN=
# The public address of this server, https, without a path. Register <address>/api/compute/cli/callback as a redirect.
#ACCOUNTS_BASE_URL=https://pods.example.org
# Discord ids that are officers of every organization.
#SYS_ADMIN=
# The address of the reverse proxy whose X-Forwarded-For is believed.
#ORGPODS_TRUSTED_PROXY=127.0.0.1
`;

/** Makes a data directory, closed to everybody else, with an env file that holds a new SECRETS_KEY. A folder that exists
 * may hold an env file and nothing else: closing somebody's home to its readers would be a bad surprise. */
export function initDataDir(dir: DataDir, secretsKey: string): { envFileMade: boolean } {
  if (isInitialized(dir)) throw new AppError("conflict", `${shown(dir.path)} is a data directory already`);
  if (exists(dir.path) && [...Deno.readDirSync(dir.path)].some(({ name }) => `${dir.path}/${name}` !== dir.envFile)) {
    throw new AppError("usage", `The folder ${shown(dir.path)} is not empty; name a new or an empty one`);
  }
  try {
    Deno.mkdirSync(dir.path, { recursive: true, mode: 0o700 });
    Deno.chmodSync(dir.path, 0o700);
  } catch (error) {
    throw new AppError("usage", `The data directory ${shown(dir.path)} cannot be made: ${(error as Error).message}`);
  }
  const envFileMade = !exists(dir.envFile);
  if (envFileMade) {
    Deno.writeTextFileSync(dir.envFile, ENV_TEMPLATE.replace("{key}", secretsKey), { mode: 0o600, createNew: true });
  }
  return { envFileMade };
}

/** Refuses a folder that is no data directory, and one that others can look into. */
export function requireDataDir(dir: DataDir): void {
  if (!isInitialized(dir)) {
    throw new AppError("usage", `${shown(dir.path)} is no data directory of orgpods. Make one with: orgpods init`, {
      hint: "The one of a server is named by --data-dir or ORGPODS_DATA; a server elsewhere by --server and --org",
    });
  }
  const info = Deno.statSync(dir.path);
  if (((info.mode ?? 0) & 0o077) !== 0) {
    throw new AppError("usage", `The data directory ${shown(dir.path)} is open to others; run: chmod 700 ${dir.path}`);
  }
}
