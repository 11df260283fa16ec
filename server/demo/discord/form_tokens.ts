import { randomBytes } from "node:crypto";
import { type Clock, MINUTE } from "../../clock.ts";
import type { AuthorizeRequest } from "./authorize_request.ts";

const LIFETIME = 10 * MINUTE;
const MOST = 1_000;

/** One-time tokens of the authorize form, each tied to one request and to the browser that was shown the form. */
export interface FormTokens {
  issue(request: AuthorizeRequest, browser: string): string;
  /** The request of a token, which is used up; undefined when it is unknown, old, or another browser's. */
  take(token: string, browser: string): AuthorizeRequest | undefined;
}

export function createFormTokens(clock: Clock): FormTokens {
  const forms = new Map<string, { request: AuthorizeRequest; browser: string; expiresAt: number }>();
  return {
    issue(request, browser) {
      const oldest = forms.keys().next();
      if (forms.size >= MOST && !oldest.done) forms.delete(oldest.value);
      const token = randomBytes(24).toString("base64url");
      forms.set(token, { request, browser, expiresAt: clock.now() + LIFETIME });
      return token;
    },
    take(token, browser) {
      const form = forms.get(token);
      if (!form || form.browser !== browser) return undefined;
      forms.delete(token);
      return clock.now() < form.expiresAt ? form.request : undefined;
    },
  };
}
