import { randomBytes } from "node:crypto";
import { MINUTE } from "../../clock.ts";
import { outcomeLocation } from "./authorize_outcome.ts";
import { authorizePage, errorPage } from "./authorize_page.ts";
import { type AuthorizeRequest, checkAuthorize } from "./authorize_request.ts";
import { createFormTokens } from "./form_tokens.ts";
import type { Call, Handler, Parts } from "./parts.ts";
import { sameSecret } from "./secrets.ts";

const COOKIE = "demo_authorize";
/** Wrong sign-in codes in ten minutes before no more are looked at. */
const MOST_WRONG_CODES = 20;

/**
 * `/oauth2/authorize`. GET shows the page; it remembers nobody, so `prompt=none` shows it too. POST is the page's
 * form: `form_token`, `user_id`, `sign_in_code` and `choice` (`authorize` or `cancel`).
 */
export function createAuthorize(parts: Parts): Handler {
  const forms = createFormTokens(parts.clock);
  let wrongCodes: number[] = [];

  function show(
    request: AuthorizeRequest,
    browser: string,
    again?: { status: number; sentence: string; chosen: string },
  ) {
    const answer = authorizePage({
      applicationName: parts.application.name,
      scopes: request.scopes,
      redirectUri: request.redirectUri,
      formToken: forms.issue(request, browser),
      state: parts.world.visible(),
      chosen: again?.chosen,
      sentence: again?.sentence,
    }, again?.status ?? 200);
    // Lax, so that a second visit from the application keeps the forms of other tabs good; a form sent from another
    // site comes without the cookie.
    answer.headers.set("Set-Cookie", `${COOKIE}=${browser}; Path=/oauth2/authorize; HttpOnly; SameSite=Lax`);
    return answer;
  }

  function get(call: Call): Response {
    const checked = checkAuthorize(call.url.searchParams, parts.application);
    if (checked.kind === "page") return errorPage(checked.sentence);
    if (checked.kind === "redirect") return redirect(checked.location);
    return show(checked.request, browserOf(call.request) ?? randomBytes(16).toString("base64url"));
  }

  function post(call: Call): Response {
    const field = (name: string) => call.form?.get(name) ?? "";
    if (fromOtherSite(call)) return errorPage("The form came from another site.", 403);
    const browser = browserOf(call.request) ?? "";
    const request = forms.take(field("form_token"), browser);
    if (!request) return errorPage("This form was sent already or is too old. Start the sign-in again.", 403);
    if (field("choice") === "cancel") return redirect(outcomeLocation("cancel", request, "", parts.grants));
    const chosen = field("user_id");
    const again = (status: number, sentence: string) => show(request, browser, { status, sentence, chosen });

    const now = parts.clock.now();
    wrongCodes = wrongCodes.filter((at) => at > now - 10 * MINUTE);
    if (wrongCodes.length >= MOST_WRONG_CODES) return again(429, "Too many wrong codes. Try again in ten minutes.");
    if (!sameSecret(field("sign_in_code").trim(), parts.signInCode)) {
      wrongCodes.push(now);
      return again(403, "The sign-in code is wrong. The demo printed it when it started.");
    }
    const user = parts.world.visible().users.get(chosen);
    if (!user || user.bot) return again(400, "Choose a person from the list.");
    if (field("choice") !== "authorize") return again(400, "Press Authorize or Cancel.");
    const outcome = parts.faults.take("D2")?.variant ?? "approve";
    return redirect(outcomeLocation(outcome, request, user.id, parts.grants));
  }

  return (call) => call.match.method === "GET" ? get(call) : post(call);
}

/** Browsers send the Origin of a form; a client without one is no browser that could be misled. */
function fromOtherSite(call: Call): boolean {
  const origin = call.request.headers.get("Origin");
  const host = call.request.headers.get("Host") ?? call.url.host;
  return origin !== null && origin !== `${call.url.protocol}//${host}`;
}

function redirect(location: string): Response {
  return new Response(null, {
    status: 302,
    headers: { "Location": location, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" },
  });
}

function browserOf(request: Request): string | undefined {
  return new RegExp(`(?:^|;\\s*)${COOKIE}=([A-Za-z0-9_-]{22})(?:;|$)`).exec(request.headers.get("Cookie") ?? "")?.[1];
}
