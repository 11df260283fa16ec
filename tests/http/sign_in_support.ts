/** A browser of these tests: it keeps cookies as browsers do, and goes through the stand-in Discord in this process. */
import assert from "node:assert/strict";
import { type Answer, BASE_URL, DEMO_SECRET, PEOPLE, type Person, type World } from "../support/world.ts";
import { freshAddress } from "./support.ts";

export const CALLBACK = "/api/compute/cli/callback";

export interface Browser {
  /** The cookies it keeps, by name. */
  readonly cookies: Map<string, string>;
  readonly address: string;
  /** Opens an address of the server and keeps the cookies it sets. */
  open(path: string, options?: { method?: string; headers?: Record<string, string> }): Promise<Answer>;
}

export function newBrowser(world: World): Browser {
  const cookies = new Map<string, string>();
  const address = freshAddress();
  return {
    cookies,
    address,
    async open(path, { method = "GET", headers = {} } = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await world.call(method, path, {
        address,
        headers: { ...(cookie ? { cookie } : {}), ...headers },
      });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/max-age=0/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    },
  };
}

/** The address at Discord that a start of a sign-in leads to. */
export async function start(browser: Browser, path: string): Promise<URL> {
  const started = await browser.open(path);
  assert.equal(started.status, 302, started.text);
  return new URL(started.headers.get("location")!);
}

/** What the browser brings back from Discord: the callback's path with its query. */
export async function atDiscord(world: World, authorize: URL, person: Person, outcome = "approve"): Promise<string> {
  const answer = await world.discord.fetch(
    new Request(`${authorize.origin}/_demo/sign-in`, {
      method: "POST",
      headers: { "x-demo-secret": DEMO_SECRET, "content-type": "application/json" },
      body: JSON.stringify({ authorize_url: authorize.href, user_id: PEOPLE[person], outcome }),
    }),
  );
  const { location, error } = await answer.json();
  assert.equal(answer.status, 200, error);
  const url = new URL(location);
  assert.equal(url.pathname, CALLBACK);
  return url.pathname + url.search;
}

/** A whole sign-in; the last answer is the page or the redirect after the callback. */
export async function signIn(
  world: World,
  browser: Browser,
  path: string,
  person: Person,
  outcome?: string,
): Promise<Answer> {
  return await browser.open(await atDiscord(world, await start(browser, path), person, outcome));
}

/** The token of a page; fails when the page shows none. */
export function tokenOn(page: Answer): string {
  const [, token] = /<pre>(plat_[A-Za-z0-9_-]{43})<\/pre>/.exec(page.text) ?? [];
  assert.ok(token !== undefined, `The page shows no token: ${page.status} ${page.text}`);
  return token;
}

/** Asserts a page: its status, a sentence on it, and what every page carries. */
export function assertPage(page: Answer, status: number, sentence: string | RegExp): void {
  assert.equal(page.status, status, page.text);
  const found = typeof sentence === "string" ? page.text.includes(sentence) : sentence.test(page.text);
  assert.ok(found, `${sentence} is not on the page: ${page.text}`);
  assertPageHeaders(page);
}

export function assertPageHeaders({ headers, text }: Answer): void {
  assert.equal(headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(headers.get("cache-control"), "no-store");
  assert.equal(headers.get("referrer-policy"), "no-referrer");
  assert.equal(headers.get("x-content-type-options"), "nosniff");
  const policy = headers.get("content-security-policy") ?? "";
  const parts = policy.split("; ");
  for (const wanted of ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
    assert.ok(parts.includes(wanted), `${wanted} is not in the policy: ${policy}`);
  }
  assert.ok(!/unsafe|script-src|\*/.test(policy), policy);
  assert.ok(!/<script|<form|<img|<a |style=|onload|onerror=(?!alert)/i.test(text), "the page holds more than text");
}

/** `Origin` of the server's own pages. */
export const OWN = { origin: BASE_URL, "sec-fetch-site": "same-origin" };
