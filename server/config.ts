import { parse as parseDotenv } from "dotenv";
import { z } from "zod";
import { AppError, shown } from "./errors.ts";
import { parseSecretKeys, type SecretKey } from "./identity/secret_box.ts";

/**
 * Settings of the program. They come from flags, then the environment, then an env file in the data directory, never
 * from the working directory. Names the original system used are read too. A malformed value stops the start with one
 * sentence that names it; a missing one is a note at the start and the contract's refusal when it is needed.
 */
export interface Config {
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  /** The public address, without a slash at the end; null when sign-in with Discord is not set up. */
  readonly baseUrl: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  readonly botToken: string | null;
  /** The first encrypts, all decrypt. Empty: no secret can be kept. */
  readonly secretKeys: readonly SecretKey[];
  readonly cliName: string;
  readonly podImage: string;
  readonly superadmins: ReadonlySet<string>;
  readonly runpodApiUrl: string;
  readonly discordApiUrl: string;
  readonly discordUrl: string;
  readonly trustedProxies: ReadonlySet<string>;
  readonly auditRetentionDays: number;
  /** Webhooks may lead to private addresses, and to loopback over plain http. */
  readonly webhooksAllowPrivate: boolean;
  /** The most bytes of a text that is edited and of a file that is transferred. */
  readonly fileLimits: { readonly text: number; readonly transfer: number };
}

export const REAL_UPSTREAMS = {
  runpodApiUrl: "https://api.runpod.io/v2",
  discordApiUrl: "https://discord.com/api/v10",
  discordUrl: "https://discord.com",
} as const;

export const DEFAULT_POD_IMAGE = "theaisocietyasu/godfather-base:latest";

/** Flags of `serve` that are settings too; they win over the environment. */
export interface ConfigFlags {
  readonly dataDir: string;
  readonly host?: string;
  readonly port?: number;
  readonly allowTestUpstreams?: boolean;
}

type Source = Readonly<Record<string, string | undefined>>;

const setting = (env: Source, ...names: string[]): { name: string; value: string } | null => {
  for (const name of names) {
    const value = env[name]?.trim();
    if (value) return { name, value };
  }
  return null;
};

/** The value is not shown: a secret put into the wrong line must not end up in a log. */
function refuse(name: string, rule: string): never {
  throw new AppError("usage", `${name} ${rule}`);
}

function address(env: Source, name: string, fallback: string | null, ending: string): string | null {
  const found = setting(env, name);
  if (found === null) return fallback;
  const text = found.value.replace(/\/+$/, "");
  const url = URL.parse(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.search || url.hash) {
    refuse(name, "must be an http or https address without a query");
  }
  if (url.username || url.password) refuse(name, "must not hold a user name or password");
  if (!text.endsWith(ending)) refuse(name, `must end in ${ending}`);
  return text;
}

export function isLoopbackHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || hostname === "::1" || /^127(\.\d{1,3}){3}$/.test(hostname);
}

const idList = (name: string, text: string): string[] => {
  const ids = text.split(",").map((id) => id.trim()).filter((id) => id !== "");
  for (const id of ids) if (!/^\d{5,25}$/.test(id)) refuse(name, "must be a comma list of Discord ids");
  return ids;
};

function onOff(env: Source, name: string): boolean {
  const found = setting(env, name);
  if (found !== null && found.value !== "true" && found.value !== "false") refuse(name, "must be true or false");
  return found?.value === "true";
}

const PORT = z.number().int().min(0).max(65535);

/** Reads the settings out of flags and an environment. Throws `AppError("usage")` naming the first wrong one. */
export function readConfig(flags: ConfigFlags, env: Source): Config {
  const portText = setting(env, "ORGPODS_PORT");
  const port = flags.port ?? (portText === null ? 8787 : Number(portText.value));
  if (!PORT.safeParse(port).success) {
    refuse(
      flags.port === undefined ? "ORGPODS_PORT" : "--port",
      "must be a whole number from 0 to 65535",
    );
  }
  const baseUrl = address(env, "ACCOUNTS_BASE_URL", null, "");
  if (baseUrl !== null) {
    const url = new URL(baseUrl);
    if (url.pathname !== "/") refuse("ACCOUNTS_BASE_URL", "must be an address without a path");
    if (url.protocol !== "https:" && !isLoopbackHost(url.hostname)) {
      refuse("ACCOUNTS_BASE_URL", "must begin with https:// unless it is a loopback address");
    }
  }
  const upstreams = {
    runpodApiUrl: address(env, "RUNPOD_API_URL", REAL_UPSTREAMS.runpodApiUrl, "/v2")!,
    discordApiUrl: address(env, "DISCORD_API_URL", REAL_UPSTREAMS.discordApiUrl, "/api/v10")!,
    discordUrl: address(env, "DISCORD_URL", REAL_UPSTREAMS.discordUrl, "")!,
  };
  const names = {
    runpodApiUrl: "RUNPOD_API_URL",
    discordApiUrl: "DISCORD_API_URL",
    discordUrl: "DISCORD_URL",
  } as const;
  for (const key of Object.keys(names) as (keyof typeof names)[]) {
    if (upstreams[key] !== REAL_UPSTREAMS[key] && !flags.allowTestUpstreams) {
      refuse(names[key], `must be ${REAL_UPSTREAMS[key]} unless --allow-test-upstreams is given`);
    }
  }
  const image = setting(env, "COMPUTE_POD_IMAGE", "GODFATHER_POD_IMAGE");
  if (image !== null && !isImageName(image.value)) {
    refuse(image.name, "must be an image name of at most 200 characters, with no spaces");
  }
  const retention = setting(env, "AUDIT_RETENTION_DAYS");
  const days = retention === null ? 365 : Number(retention.value);
  if (!Number.isInteger(days) || days < 1 || days > 36_500) {
    refuse("AUDIT_RETENTION_DAYS", "must be a whole number of days from 1 to 36500");
  }
  const admins = [setting(env, "SYS_ADMIN"), setting(env, "SUPERADMIN_USER_ID")].filter((found) => found !== null);
  const keys = setting(env, "SECRETS_KEY");
  const clientId = setting(env, "CLIENT_ID");
  if (clientId !== null && !/^\d{5,25}$/.test(clientId.value)) {
    refuse("CLIENT_ID", "must be the number of the Discord application");
  }
  const proxies = setting(env, "ORGPODS_TRUSTED_PROXY")?.value.split(",").map((item) => item.trim()).filter(Boolean) ??
    [];
  for (const proxy of proxies) {
    if (!/^[0-9a-fA-F.:]+$/.test(proxy)) refuse("ORGPODS_TRUSTED_PROXY", "must be a comma list of IP addresses");
  }
  return {
    dataDir: flags.dataDir,
    host: flags.host ?? setting(env, "ORGPODS_HOST")?.value ?? "127.0.0.1",
    port,
    baseUrl,
    clientId: clientId?.value ?? null,
    clientSecret: setting(env, "CLIENT_SECRET")?.value ?? null,
    botToken: setting(env, "BOT_TOKEN")?.value ?? null,
    secretKeys: keys === null ? [] : parseSecretKeys(keys.value),
    cliName: setting(env, "COMPUTE_CLI_NAME", "GODFATHER_CLI_NAME")?.value ?? "the compute CLI",
    podImage: image?.value ?? DEFAULT_POD_IMAGE,
    superadmins: new Set(admins.flatMap(({ name, value }) => idList(name, value))),
    ...upstreams,
    trustedProxies: new Set(proxies),
    auditRetentionDays: days,
    webhooksAllowPrivate: onOff(env, "ORGPODS_WEBHOOKS_ALLOW_PRIVATE"),
    fileLimits: {
      text: byteLimit(env, "ORGPODS_FILE_TEXT_LIMIT", 1_000_000, MOST_TEXT),
      transfer: byteLimit(env, "ORGPODS_FILE_TRANSFER_LIMIT", 100_000_000, MOST_TRANSFER),
    },
  };
}

/** Text is held in memory, several times over; a transfer is not. */
const MOST_TEXT = 50_000_000;
const MOST_TRANSFER = 10_000_000_000;

function byteLimit(env: Source, name: string, fallback: number, most: number): number {
  const found = setting(env, name);
  if (found === null) return fallback;
  const bytes = /^\d{1,15}$/.test(found.value) ? Number(found.value) : 0;
  if (bytes < 1 || bytes > most) refuse(name, `must be a whole number of bytes from 1 to ${most}`);
  return bytes;
}

export function isImageName(text: string): boolean {
  return text.length >= 1 && text.length <= 200 && /^[\x21-\x7e]+$/.test(text);
}

/** What is missing for a full installation, one sentence each, for the log at the start. */
export function missingSettings(config: Config): string[] {
  const missing: string[] = [];
  if (config.secretKeys.length === 0) missing.push("SECRETS_KEY is not set: pods cannot be created or reached");
  if (config.botToken === null) missing.push("BOT_TOKEN is not set: nobody can be recognised as a member or officer");
  if (config.baseUrl === null || config.clientId === null || config.clientSecret === null) {
    missing.push("ACCOUNTS_BASE_URL, CLIENT_ID and CLIENT_SECRET are not all set: nobody can sign in with Discord");
  }
  return missing;
}

/**
 * The environment the settings are read from: the process's own, then the env file's, then secrets named by file
 * (`SECRETS_KEY_FILE`). The env file must belong to this user (or root) and be closed to everybody else.
 */
export function loadEnvironment(own: Source, envFile: string | null, required: boolean): Source {
  let fromFile: Source = {};
  if (envFile !== null) {
    const text = readPrivateFile(envFile, "The env file", required);
    if (text !== null) fromFile = parseDotenv(text);
  }
  const merged: Record<string, string | undefined> = { ...fromFile };
  for (const [name, value] of Object.entries(own)) if (value !== undefined && value !== "") merged[name] = value;
  const keyFile = merged.SECRETS_KEY_FILE;
  if (keyFile && !merged.SECRETS_KEY) merged.SECRETS_KEY = readPrivateFile(keyFile, "SECRETS_KEY_FILE", true)!.trim();
  return merged;
}

function readPrivateFile(path: string, what: string, required: boolean): string | null {
  let info: Deno.FileInfo;
  try {
    info = Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound && !required) return null;
    throw new AppError("usage", `${what} ${shown(path)} cannot be read: ${(error as Error).message}`);
  }
  const uid = Deno.uid();
  if (info.uid !== null && info.uid !== uid && info.uid !== 0) {
    throw new AppError("usage", `${what} ${shown(path)} belongs to another user; it must belong to this user or root`);
  }
  if (((info.mode ?? 0) & 0o077) !== 0) {
    throw new AppError("usage", `${what} ${shown(path)} can be read by others; run: chmod 600 ${path}`);
  }
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    throw new AppError("usage", `${what} ${shown(path)} cannot be read: ${(error as Error).message}`);
  }
}
