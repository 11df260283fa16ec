import type { Org } from "../../db/stores/organizations.ts";
import type { Clock } from "../clock.ts";
import type { Directory } from "../discord/directory.ts";
import { AppError } from "../errors.ts";
import type { RunpodAccounts } from "../runpod/accounts.ts";
import type { RunpodClient } from "../runpod/client.ts";
import { RunpodError } from "../runpod/errors.ts";

/** One point that was looked at live. `ok: null` means that it could not be told or needs nothing. */
export interface Check {
  readonly name: string;
  readonly ok: boolean | null;
  readonly detail: string;
  /** What to do; empty when there is nothing to do. */
  readonly fix: string;
}

export interface CheckDeps {
  readonly directory: Directory;
  readonly runpod: RunpodAccounts;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly discordApiUrl: string;
  readonly redirectUri: string | null;
  readonly clientId: string | null;
}

type OrgFacts = Pick<Org, "guildId" | "officerRoleIds" | "memberRoleIds">;

const good = (name: string, detail: string): Check => ({ name, ok: true, detail, fix: "" });
const bad = (name: string, detail: string, fix: string): Check => ({ name, ok: false, detail, fix });

/** The bot, the Discord server and the roles of an org, asked live. */
export async function checkDiscord(deps: CheckDeps, org: OrgFacts): Promise<Check[]> {
  const { directory } = deps;
  const attempt = async (name: string, fix: string, ask: () => Promise<Check>): Promise<Check> => {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { hint } = error.details;
      const isAway = hint !== undefined && /could not be reached|in time|answered 5/.test(hint);
      return bad(
        name,
        hint ?? error.message,
        isAway ? "Check that this server reaches discord.com, and try again" : fix,
      );
    }
  };
  directory.forget(org.guildId);
  const bot = await attempt("Discord bot", "Set BOT_TOKEN to the bot's token and start orgpods again", async () => {
    const self = await directory.self();
    return good("Discord bot", `The bot is ${self.username}`);
  });
  if (!bot.ok) return [bot];
  const guild = await attempt("Discord server", "Invite the bot to the server, or correct the guild id", async () => {
    return good("Discord server", `The server is ${(await directory.guild(org.guildId)).name}`);
  });
  if (!guild.ok) return [bot, guild];
  const roles = await attempt("Roles", "Correct the role ids: orgpods org set", async () => {
    const known = new Map((await directory.roles(org.guildId)).map((role) => [role.id, role.name]));
    const missing = [...org.officerRoleIds, ...org.memberRoleIds].filter((id) => !known.has(id));
    if (missing.length > 0) {
      return bad("Roles", `The server has no role ${missing.join(", ")}`, "Correct the role ids: orgpods org set");
    }
    if (org.officerRoleIds.includes(org.guildId)) {
      return bad("Roles", "The officer role is @everyone", "Name a role that only officers hold");
    }
    if (org.officerRoleIds.length === 0) {
      const detail = "No officer role is named, so only superadmins are officers";
      return { name: "Roles", ok: null, detail, fix: "Name one: orgpods org set --officer-role" };
    }
    return good("Roles", `Officers: ${org.officerRoleIds.map((id) => known.get(id)).join(", ")}`);
  });
  return [bot, guild, roles];
}

async function checkIntent(deps: CheckDeps, org: OrgFacts): Promise<Check> {
  const name = "Server Members Intent";
  try {
    await deps.directory.list(org.guildId);
    return good(name, "The member list can be read");
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return {
      name,
      ok: error.code === "discord_intent_missing" ? null : false,
      detail: error.message,
      fix:
        "Turn it on in the Discord Developer Portal (Bot > Privileged Gateway Intents) to list members without a search",
    };
  }
}

function checkRedirect(deps: CheckDeps): Check {
  const name = "Sign-in";
  if (deps.redirectUri === null || deps.clientId === null) {
    return bad(name, "Sign-in with Discord is not set up", "Set ACCOUNTS_BASE_URL, CLIENT_ID and CLIENT_SECRET");
  }
  return {
    name,
    ok: null,
    detail: `Discord must know the redirect ${deps.redirectUri}`,
    fix: "Add it in the Discord Developer Portal (OAuth2 > Redirects); Discord does not let a program look it up",
  };
}

/** Fields of RunPod's own description of a create that we rely on. */
const CREATE_FIELDS = ["name", "image", "cloud", "disk", "ports", "env", "gpu", "cpu", "mounts"];

async function checkRunpod(deps: CheckDeps, org: Org): Promise<Check[]> {
  const fix = "Set a key with read and write rights for pods: orgpods org secret set";
  let client: RunpodClient;
  try {
    client = deps.runpod.clientOf(org);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const keyFix = error.code === "secrets_key_wrong" ? "Put the old SECRETS_KEY back, behind a comma" : fix;
    return [bad("RunPod key", error.message, keyFix)];
  }
  try {
    const pods = await client.list({ timeoutMs: 15_000 });
    return [good("RunPod key", `The account has ${pods.length} pods`), await checkApi(client)];
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    return [bad("RunPod key", error.message, fix)];
  }
}

async function checkApi(client: RunpodClient): Promise<Check> {
  const name = "RunPod API";
  try {
    const fields = createFieldsOf(await client.openapi({ timeoutMs: 15_000 }));
    if (fields === null) {
      return {
        name,
        ok: null,
        detail: "RunPod's description of its API does not show the fields of a create",
        fix: "",
      };
    }
    const missing = CREATE_FIELDS.filter((field) => !fields.has(field));
    return missing.length === 0
      ? good(name, "RunPod knows every field orgpods sends")
      : bad(name, `RunPod's API no longer knows ${missing.join(", ")}`, "Update orgpods");
  } catch (error) {
    if (!(error instanceof RunpodError)) throw error;
    return { name, ok: null, detail: `RunPod's description of its API could not be read: ${error.message}`, fix: "" };
  }
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The property names of the body of `POST /pods` in an OpenAPI document, references followed; null when not found. */
export function createFieldsOf(document: unknown): Set<string> | null {
  if (!isObject(document) || !isObject(document.paths)) return null;
  const path = document.paths["/v2/pods"] ?? document.paths["/pods"];
  const at = (value: unknown, ...keys: string[]): unknown =>
    keys.reduce<unknown>((inner, key) => isObject(inner) ? inner[key] : undefined, value);
  const schema = at(path, "post", "requestBody", "content", "application/json", "schema");
  const fields = new Set<string>();
  const visit = (node: unknown, depth: number): void => {
    if (!isObject(node) || depth > 6) return;
    if (typeof node.$ref === "string") {
      return visit(at(document, ...node.$ref.replace(/^#\//, "").split("/")), depth + 1);
    }
    if (isObject(node.properties)) { for (const name of Object.keys(node.properties)) fields.add(name); }
    for (const key of ["allOf", "anyOf", "oneOf"]) {
      const parts = node[key];
      if (Array.isArray(parts)) { for (const part of parts) visit(part, depth + 1); }
    }
  };
  visit(schema, 0);
  return fields.size === 0 ? null : fields;
}

/** Certificates depend on the clock: it is compared with the Date header of Discord's answer. */
async function checkClock(deps: CheckDeps): Promise<Check> {
  const name = "Clock";
  try {
    const response = await deps.fetch(`${deps.discordApiUrl}/gateway`, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    const theirs = Date.parse(response.headers.get("date") ?? "");
    if (Number.isNaN(theirs)) return { name, ok: null, detail: "Discord sent no time to compare with", fix: "" };
    const offset = Math.round((deps.clock.now() - theirs) / 1000);
    return Math.abs(offset) <= 60
      ? good(name, `The clock is within ${Math.abs(offset)} s of Discord's`)
      : bad(name, `The clock is ${offset} s off Discord's`, "Turn on time synchronisation (timedatectl set-ntp true)");
  } catch (error) {
    if (!(error instanceof TypeError) && !(error instanceof DOMException)) throw error;
    return { name, ok: null, detail: "Discord could not be reached to compare the time", fix: "" };
  }
}

/** Everything an installation of an org depends on, asked live (decision 22). */
export async function checkOrg(deps: CheckDeps, org: Org): Promise<Check[]> {
  const discord = await checkDiscord(deps, org);
  const last = discord.at(-1);
  const intent = last?.ok === false && last.name !== "Roles" ? [] : [await checkIntent(deps, org)];
  return [...discord, ...intent, checkRedirect(deps), ...await checkRunpod(deps, org), await checkClock(deps)];
}
