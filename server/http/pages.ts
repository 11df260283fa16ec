import { createHash } from "node:crypto";
import { html, raw } from "hono/html";

const STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color:#111;" +
  "background:#fff}pre{padding:1rem;background:#f2f2f2;border:1px solid #ccc;overflow-x:auto;user-select:all}" +
  "@media(prefers-color-scheme:dark){body{color:#eee;background:#111}pre{background:#222;border-color:#444}}";

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** Headers of every page: no scripts, no frames, nothing kept, nothing told to the next page. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy":
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

export interface PageText {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** Shown in a box that is selected whole by one click: a token or a command. */
  readonly box?: string;
}

/** A page of plain text; every value is escaped. */
export async function page(text: PageText, status = 200): Promise<Response> {
  const document = html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>${text.title}</title>
        <style>${raw(STYLE)}</style>
      </head>
      <body>
    <h1>${text.title}</h1>
    ${text.paragraphs.map((line) => html`<p>${line}</p>`)}
    ${text.box === undefined ? "" : html`<pre>${text.box}</pre>`}
      </body>
    </html>
  `;
  return new Response(String(await document), { status, headers: PAGE_HEADERS });
}
