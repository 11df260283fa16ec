import { createHash } from "node:crypto";
import { shown } from "../../errors.ts";
import type { State } from "./state.ts";

const STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}" +
  "label{display:block;margin:1rem 0 .25rem}select,input{font:inherit;width:100%;box-sizing:border-box;padding:.4rem}" +
  "button{font:inherit;padding:.5rem 1.2rem;margin:1.5rem .75rem 0 0}.error{border-left:4px solid #c00;padding-left:.75rem}";
const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** How many people the list offers; the others can sign in by `POST /_demo/sign-in`. */
const LISTED = 200;

/** What the authorize page shows. */
export interface PageContent {
  readonly applicationName: string;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly formToken: string;
  readonly state: State;
  /** The person chosen before, when the page is shown again. */
  readonly chosen?: string | undefined;
  /** What was wrong with the form that was sent. */
  readonly sentence?: string | undefined;
}

/** The page that asks a person to allow a sign-in. No script; the form carries its one-time token. */
export function authorizePage(content: PageContent, status: number): Response {
  const { host, origin } = new URL(content.redirectUri);
  const name = escape(content.applicationName);
  const body = `<h1>${name} wants to sign you in</h1>
<p>This is a stand-in for Discord. It knows only the people of the demo.</p>
<p>It asks for: <b>${escape(content.scopes.join(", "))}</b>. Afterwards you are sent to <b>${escape(host)}</b>.</p>
${content.sentence === undefined ? "" : `<p class="error" role="alert">${escape(content.sentence)}</p>\n`}\
<form method="post" action="/oauth2/authorize" autocomplete="off">
<input type="hidden" name="form_token" value="${escape(content.formToken)}">
<label for="user_id">Sign in as</label>
<select id="user_id" name="user_id">
${options(content)}
</select>
<label for="sign_in_code">Sign-in code, as the demo printed it</label>
<input id="sign_in_code" name="sign_in_code" type="text" spellcheck="false" autofocus>
<button name="choice" value="authorize">Authorize</button><button name="choice" value="cancel">Cancel</button>
</form>`;
  return htmlPage(`Authorize ${name}`, body, status, origin);
}

/** Discord's own error page, for a request that must not be answered by a redirect. */
export function errorPage(sentence: string, status = 400): Response {
  return htmlPage("Authorization failed", `<h1>Authorization failed</h1>\n<p>${escape(sentence)}</p>`, status);
}

function options({ state, chosen }: PageContent): string {
  const people = [...state.users.values()].filter((user) => !user.bot);
  const listed = people.slice(0, LISTED).map((user) => {
    const label = `${user.global_name ?? user.username} (@${user.username})${placesOf(state, user.id)}`;
    const selected = user.id === chosen ? " selected" : "";
    return `<option value="${user.id}"${selected}>${escape(label)}</option>`;
  });
  if (people.length > LISTED) listed.push(`<option disabled>and ${people.length - LISTED} more</option>`);
  return listed.join("\n");
}

/** Where a person is, with the roles there, so that one can pick an officer or a stranger. */
function placesOf(state: State, userId: string): string {
  const places = [...state.guilds.values()].flatMap((guild) => {
    const member = guild.members.get(userId);
    if (!member) return [];
    const roles = member.roles.map((id) => guild.roles.get(id)?.name ?? id);
    return [`${roles.length > 0 ? roles.join(", ") : "member"} in ${guild.name}`];
  });
  return places.length > 0 ? `: ${places.join("; ")}` : ": in no server";
}

/**
 * Browsers hold a form's `form-action` against every redirect that follows its submission, and the application may send
 * the browser on to a command that listens on some port of this machine.
 */
function htmlPage(title: string, body: string, status: number, formTarget?: string): Response {
  const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head>
<body>
${body}
</body></html>
`;
  const formAction = formTarget === undefined ? "'none'" : `'self' ${formTarget} http://127.0.0.1:* http://localhost:*`;
  return new Response(page, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action ${formAction}; ` +
        "frame-ancestors 'none'; base-uri 'none'",
      "X-Content-Type-Options": "nosniff",
      // Not no-referrer: with that, browsers send the form with the Origin null.
      "Referrer-Policy": "same-origin",
      "Cache-Control": "no-store",
    },
  });
}

/** Text for a page: control and direction characters shown as escapes, markup as entities. */
function escape(text: string): string {
  const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return clean(text).replace(/[&<>"']/g, (char) => entities[char]!);
}

/** `shown` cuts at 80 characters and writes at most six for one, so it is given a few at a time. */
function clean(text: string): string {
  return (text.match(/[\s\S]{1,13}/g) ?? []).map((part) => shown(part)).join("");
}
