import { createHash } from "node:crypto";
import { type Clock, isoTime, MINUTE } from "../../clock.ts";

/** One request as it may be shown: no token, code, verifier, secret or state is in it. */
export interface RecordedRequest {
  at: string;
  method: string;
  path: string;
  /** The route's template, or null for an unknown path. */
  route: string | null;
  query: Record<string, string>;
  user_agent: string | null;
  /** The scheme and the last four characters of the token; nothing of the credentials for Basic. */
  authorization: string | null;
  content_type: string | null;
  /** The fields of a form; null when there was none. */
  form: Record<string, string> | null;
  /** Tells apart the codes of token calls: the first 12 hex digits of the code's SHA-256. */
  code_ref: string | null;
  /** Null while there is no answer, and for a connection that was cut. */
  status: number | null;
}

const KEPT = 10_000;
const REDACTED = "(redacted)";
/** Values that may be shown. Any other value of a query or a form is replaced. */
const PLAIN = new Set([
  "after",
  "client_id",
  "code_challenge_method",
  "grant_type",
  "limit",
  "prompt",
  "query",
  "redirect_uri",
  "response_type",
  "scope",
  "token_type_hint",
  "with_counts",
]);

export interface Requests {
  /** Oldest first. */
  list(): RecordedRequest[];
  /** How many were dropped because only the newest 10,000 are kept. */
  dropped(): number;
  clear(): void;
  /** How many 401, 403 and 429 (but for scope shared) the API answered in the last ten minutes. */
  invalidAnswers(): number;
}

export interface Recorder extends Requests {
  begin(request: Request, url: URL, form: URLSearchParams | null): RecordedRequest;
  end(record: RecordedRequest, answer: Response): void;
}

export function createRecorder(clock: Clock): Recorder {
  let records: RecordedRequest[] = [];
  let dropped = 0;
  const invalid: number[] = [];

  function invalidAnswers(): number {
    const since = clock.now() - 10 * MINUTE;
    while (invalid.length > 0 && invalid[0]! <= since) invalid.shift();
    return invalid.length;
  }

  return {
    list: () => records.map((record) => ({ ...record })),
    dropped: () => dropped,
    clear() {
      records = [];
      dropped = 0;
    },
    invalidAnswers,
    begin(request, url, form) {
      const record = describe(request, url, form, clock.now());
      records.push(record);
      if (records.length > KEPT) {
        records.shift();
        dropped += 1;
      }
      return record;
    },
    end(record, answer) {
      record.status = answer.status;
      const counts = [401, 403, 429].includes(answer.status) && answer.headers.get("X-RateLimit-Scope") !== "shared";
      if (counts && record.path.startsWith("/api/")) invalid.push(clock.now());
    },
  };
}

function describe(request: Request, url: URL, form: URLSearchParams | null, now: number): RecordedRequest {
  const code = form?.get("code") ?? null;
  return {
    at: isoTime(now),
    method: request.method,
    path: url.pathname,
    route: null,
    query: shownFields(url.searchParams),
    user_agent: request.headers.get("User-Agent"),
    authorization: shownAuthorization(request.headers.get("Authorization")),
    content_type: request.headers.get("Content-Type"),
    form: form && shownFields(form),
    code_ref: code && createHash("sha256").update(code).digest("hex").slice(0, 12),
    status: null,
  };
}

function shownFields(fields: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...fields].map(([name, value]) => [name, PLAIN.has(name) ? value : REDACTED]));
}

function shownAuthorization(header: string | null): string | null {
  if (header === null) return null;
  const blank = header.indexOf(" ");
  const scheme = header.slice(0, Math.max(blank, 0));
  const token = header.slice(blank + 1);
  // Basic holds the client's secret, and a short token would be shown for the most part.
  if (!["Bot", "Bearer"].includes(scheme) || token.length < 12) {
    return scheme === "" ? REDACTED : `${scheme} ${REDACTED}`;
  }
  return `${scheme} …${token.slice(-4)}`;
}
