import { createHash } from "node:crypto";
import { createFakeDiscord, type FakeDiscord } from "../../server/demo/discord/mod.ts";

export const CLIENT_ID = "411000000000000001";
export const CLIENT_SECRET = "client secret: é&+%";
export const BOT_TOKEN = "bot-token-0123456789-abcd";
export const DEMO_SECRET = "demo-secret";
export const SIGN_IN_CODE = "correct-horse";
export const REDIRECT = "http://127.0.0.1:9/callback";
export const ORIGIN = "http://127.0.0.1:4000";
export const AGENT = "DiscordBot (https://example.org, 1.0)";
export const VERIFIER = "v".repeat(43);
export const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");

export const GUILD = "500000000000000001";
export const OTHER_GUILD = "500000000000000002";
export const OWNER = "600000000000000001";
export const ANNA = "600000000000000002";
export const STRANGER = "600000000000000003";
export const OFFICER_ROLE = "700000000000000001";

/** A stand-in with a guild (owner, Anna the officer, the bot), a stranger, and a guild without the bot. */
export function fixture() {
  const time = { now: Date.UTC(2026, 0, 1) };
  const discord = createFakeDiscord({
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    botToken: BOT_TOKEN,
    redirectUris: [REDIRECT],
    demoSecret: DEMO_SECRET,
    signInCode: SIGN_IN_CODE,
    clock: { now: () => time.now },
  });
  const { world } = discord;
  world.addUser({ id: OWNER, username: "otto" });
  world.addUser({ id: ANNA, username: "anna", global_name: "Zed the Great", avatar: "a".repeat(32) });
  world.addUser({ id: STRANGER, username: "stranger" });
  world.addGuild({ id: GUILD, name: "Robotics", owner_id: OWNER });
  world.addGuild({ id: OTHER_GUILD, name: "Elsewhere", owner_id: OWNER, bot: false });
  world.addRole({ guild_id: GUILD, id: OFFICER_ROLE, name: "Officer" });
  world.addMember({ guild_id: GUILD, user_id: ANNA, roles: [OFFICER_ROLE] });
  return { discord, world, time };
}

export interface Answer {
  status: number;
  headers: Headers;
  // deno-lint-ignore no-explicit-any
  body: any;
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json") && text !== "";
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** GET under the API's base, with the bot token unless `authorization` says otherwise. */
export async function get(discord: FakeDiscord, path: string, authorization = `Bot ${BOT_TOKEN}`): Promise<Answer> {
  const headers = { "User-Agent": AGENT, "Authorization": authorization };
  return await answerOf(await discord.fetch(new Request(`${ORIGIN}/api/v10${path}`, { headers })));
}

export async function postForm(
  discord: FakeDiscord,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = new Request(`${ORIGIN}/api${path}`, {
    method: "POST",
    headers: { "User-Agent": AGENT, ...headers },
    body: new URLSearchParams(fields),
  });
  return await answerOf(await discord.fetch(request));
}

/** A call of a `/_demo` route. */
export async function demo(
  discord: FakeDiscord,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const request = new Request(`${ORIGIN}/_demo/${path}`, {
    method,
    headers: { "X-Demo-Secret": DEMO_SECRET, ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return await answerOf(await discord.fetch(request));
}

/** The authorize address; a null parameter is left out. */
export function authorizeUrl(changes: Record<string, string | null> = {}): string {
  const parameters: Record<string, string | null> = {
    response_type: "code",
    client_id: CLIENT_ID,
    scope: "identify",
    redirect_uri: REDIRECT,
    state: "st-1",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
    ...changes,
  };
  const url = new URL(`${ORIGIN}/oauth2/authorize`);
  for (const [name, value] of Object.entries(parameters)) if (value !== null) url.searchParams.set(name, value);
  return url.href;
}

/** The parameters of the redirect after a sign-in without the page. */
export async function signIn(
  discord: FakeDiscord,
  outcome = "approve",
  changes: Record<string, string | null> = {},
  userId = ANNA,
): Promise<URLSearchParams> {
  const answer = await demo(discord, "POST", "sign-in", {
    authorize_url: authorizeUrl(changes),
    user_id: userId,
    outcome,
  });
  if (answer.status !== 200) throw new Error(answer.body.error);
  return new URL(answer.body.location).searchParams;
}

/** The token call for a code, with every field as it should be unless `changes` says otherwise (null: left out). */
export async function exchange(
  discord: FakeDiscord,
  code: string,
  changes: Record<string, string | null> = {},
): Promise<Answer> {
  const fields = {
    grant_type: "authorization_code",
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    code,
    redirect_uri: REDIRECT,
    code_verifier: VERIFIER,
    ...changes,
  };
  const present = Object.entries(fields).filter((field): field is [string, string] => field[1] !== null);
  return await postForm(discord, "/oauth2/token", Object.fromEntries(present));
}

/** An access token of a user. */
export async function accessToken(discord: FakeDiscord, userId = ANNA, scope = "identify"): Promise<string> {
  const code = (await signIn(discord, "approve", { scope }, userId)).get("code")!;
  return (await exchange(discord, code)).body.access_token;
}
