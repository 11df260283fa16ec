/** The answers of the stand-in, before they become bytes: status, headers, body, and what happens to the connection. */

/**
 * What happens to the connection instead of a plain answer. `cut` sends nothing and closes, `cut-body` closes in the
 * middle of the body, `hang` never answers, `slow` answers after `ms` milliseconds.
 */
export type Connection = { kind: "cut" } | { kind: "cut-body" } | { kind: "hang" } | { kind: "slow"; ms: number };

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** null for an answer without a body. */
  readonly body: string | null;
  readonly connection?: Connection;
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
};

/** A success answer with a JSON body. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

/** 204: no body and no content type. */
export function noContent(): Answer {
  return { status: 204, headers: {}, body: null };
}

export interface ProblemOptions {
  /** One line for each violation of the schema (422 only). */
  readonly errors?: readonly string[];
  readonly headers?: Record<string, string>;
}

/** An error in the form of RFC 9457 as RunPod v2 sends it: `title`, `status`, `detail` and perhaps `errors`. */
export function problem(status: number, detail: string, options: ProblemOptions = {}): Answer {
  const body = {
    title: TITLES[status] ?? "Error",
    status,
    detail,
    ...(options.errors ? { errors: options.errors } : {}),
  };
  return {
    status,
    headers: { "content-type": "application/problem+json", ...options.headers },
    body: JSON.stringify(body),
  };
}

/** 422 as RunPod words it: the generic sentence in `detail`, the reasons in `errors`. */
export function invalid(errors: readonly string[]): Answer {
  return problem(422, "Request validation failed.", { errors });
}

/** A large HTML page as the edge in front of RunPod sends it. */
export function edgePage(status: number, title: string, code: string): Answer {
  const padding = `<p>${"The web server reported an error. ".repeat(400)}</p>`;
  const body =
    `<!DOCTYPE html>\n<html><head><title>${title}</title></head><body><h1>Error ${code}</h1>${padding}</body></html>`;
  return { status, headers: { "content-type": "text/html; charset=UTF-8", server: "cloudflare" }, body };
}

/** Thrown inside a route to answer at once; the pipeline turns it into its answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(readonly answer: Answer) {
    super(`The stand-in answers ${answer.status}`);
  }
}

/** Ends the route with a problem answer. */
export function refuse(status: number, detail: string): never {
  throw new Refusal(problem(status, detail));
}
