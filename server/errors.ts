/**
 * The one error type of the program. Its codes are the closed set that clients may rely on (the HTTP contract's
 * `code`). One table maps a code to its HTTP status, one function to the exit code of a shell command.
 */

const STATUS = {
  invalid_request: 400,
  runpod_key_missing: 400,
  runpod_refused: 400,
  runpod_key_refused: 400,
  runpod_no_balance: 400,
  runpod_no_capacity: 400,
  runpod_rate_limited: 400,
  sign_in_required: 401,
  session_invalid: 401,
  session_expired: 401,
  token_invalid: 401,
  not_an_officer: 403,
  not_a_member: 403,
  not_the_operator: 403,
  no_discord_user: 403,
  pod_not_accessible: 403,
  permission_denied: 403,
  cross_site_refused: 403,
  module_off: 404,
  org_not_found: 404,
  pod_not_found: 404,
  session_not_found: 404,
  file_not_found: 404,
  token_not_found: 404,
  attention_not_found: 404,
  webhook_not_found: 404,
  delivery_not_found: 404,
  secret_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  pod_not_running: 409,
  pod_refused: 409,
  not_text: 409,
  changed_meanwhile: 409,
  command_failed: 409,
  create_pending: 409,
  idempotency_conflict: 409,
  action_pending: 409,
  conflict: 409,
  org_exists: 409,
  live_pods: 409,
  rotation_open: 409,
  budget_reached: 409,
  already_running: 409,
  too_large: 413,
  range_not_satisfiable: 416,
  runpod_unavailable: 424,
  rate_limited: 429,
  backend_key_unreadable: 500,
  internal_error: 500,
  disk_full: 507,
  pod_unreachable: 502,
  pod_command_failed: 502,
  host_key_changed: 502,
  discord_unavailable: 503,
  discord_not_set_up: 503,
  discord_search_failed: 503,
  discord_intent_missing: 503,
  ssh_address_pending: 503,
  secrets_key_missing: 503,
  secrets_key_wrong: 503,
  usage: 400,
} as const;

export type ErrorCode = keyof typeof STATUS;

export interface ErrorDetails {
  /** Whole seconds after which the caller may try again; becomes the `Retry-After` header. */
  readonly retryAfter?: number;
  /** Extra members of the answer's body beside `error` and `code`. Never secrets. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Headers of the answer that go with the status. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the log only; never sent to the caller. */
  readonly cause?: unknown;
  /** What officers and the operator may see in addition (a misconfiguration hint). */
  readonly hint?: string;
}

/** A refusal with a stable code and one sentence for a person. The sentence goes to the caller as it is. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return STATUS[this.code];
  }
}

/** The HTTP status of a code (contract section 2.3). */
export function statusOf(code: ErrorCode): number {
  return STATUS[code];
}

/** True for a word that is one of our codes; used to read an answer back on the client side. */
export function isErrorCode(word: string): word is ErrorCode {
  return Object.hasOwn(STATUS, word);
}

/** A sentence as a part of another one: without its full stop. */
export function asClause(sentence: string): string {
  return sentence.replace(/[.\s]+$/, "");
}

/** Exit codes of the shell commands: 0 ok, 1 failure, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 remote side. */
export function exitCodeOf(code: ErrorCode): number {
  if (code === "usage") return 2;
  const status = STATUS[code];
  if (code.startsWith("runpod_") && code !== "runpod_key_missing") return 6;
  if (status === 400 || status === 413 || status === 416) return 2;
  if (status === 401 || status === 403) return 4;
  if (status === 404) return 3;
  if (status === 409) return 5;
  if (status === 424 || status === 429 || status === 502 || status === 503) return 6;
  return 1;
}

/**
 * A value as it may stand in an error sentence: control and direction characters escaped, at most 80 characters.
 * Never call it with a key, token, secret, env value or file content.
 */
export function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
  const escaped = text.replace(
    // deno-lint-ignore no-control-regex
    /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return escaped.length > 80 ? `${escaped.slice(0, 79)}…` : escaped;
}
