import { AppError, type ErrorCode, type ErrorDetails } from "../errors.ts";

/**
 * What went wrong in a call to RunPod: `auth` key or right missing, `not_found`, `conflict` the action does not fit the
 * pod's state, `capacity` no free hardware, `balance` no credit, `invalid` the request breaks a rule, `rate_limited`,
 * `upstream` RunPod or its edge failed, `network` no answer, `timeout` no answer in time, `gone` the API was retired.
 */
export type RunpodErrorKind =
  | "auth"
  | "not_found"
  | "conflict"
  | "capacity"
  | "balance"
  | "invalid"
  | "rate_limited"
  | "upstream"
  | "network"
  | "timeout"
  | "gone";

export interface RunpodErrorInit {
  readonly kind: RunpodErrorKind;
  readonly detail: string;
  readonly status?: number | null;
  readonly errors?: readonly string[];
  readonly retryAfter?: number | null;
  readonly ambiguous?: boolean;
}

/** A failed call to RunPod. Its texts are redacted and short; it never holds a pod, an env value or the API key. */
export class RunpodError extends Error {
  override readonly name = "RunpodError";
  readonly kind: RunpodErrorKind;
  /** HTTP status of the answer; null when there was none. */
  readonly status: number | null;
  /** RunPod's reason and its `errors` lines in one text of at most 300 characters. */
  readonly detail: string;
  /** RunPod's `errors` lines, one for each broken rule of the schema. */
  readonly errors: readonly string[];
  /** Whole seconds after which the call may be made again; null when nobody said. */
  readonly retryAfter: number | null;
  /** True when RunPod may have carried out the call all the same: it was sent, and no readable answer came back. */
  readonly ambiguous: boolean;

  constructor(init: RunpodErrorInit) {
    const status = init.status ?? null;
    super(status === null ? init.detail : `RunPod answered ${status}: ${init.detail}`);
    this.kind = init.kind;
    this.status = status;
    this.detail = init.detail;
    this.errors = init.errors ?? [];
    this.retryAfter = init.retryAfter ?? null;
    this.ambiguous = init.ambiguous ?? false;
  }
}

const CODE: Readonly<Record<RunpodErrorKind, ErrorCode>> = {
  auth: "runpod_key_refused",
  balance: "runpod_no_balance",
  capacity: "runpod_no_capacity",
  rate_limited: "runpod_rate_limited",
  not_found: "runpod_refused",
  conflict: "runpod_refused",
  invalid: "runpod_refused",
  upstream: "runpod_unavailable",
  network: "runpod_unavailable",
  timeout: "runpod_unavailable",
  gone: "runpod_unavailable",
};

/**
 * The refusal that our own callers see: `RunPod answered <status>: <detail>` under the code of the kind (400 for what
 * RunPod refused, 424 for what failed on the way), or `RunPod could not be reached`.
 */
export function toAppError(e: RunpodError): AppError {
  const hint = hintOf(e);
  const details: ErrorDetails = {
    cause: e,
    ...(e.retryAfter === null ? {} : { retryAfter: e.retryAfter }),
    ...(hint === null ? {} : { hint }),
  };
  return new AppError(CODE[e.kind], sentenceOf(e), details);
}

function sentenceOf(e: RunpodError): string {
  if (e.kind === "network" || e.kind === "timeout") return "RunPod could not be reached";
  // Without an answer, and for an answer that is no refusal (a 2xx nobody can read), the detail is the sentence.
  if (e.status === null || e.status < 300) return e.detail;
  // The title of an HTML error page often begins with the status.
  const detail = e.detail.startsWith(`${e.status}`) ? e.detail.slice(3).replace(/^[:\s-]+/, "") : e.detail;
  return `RunPod answered ${e.status}: ${detail || "no reason given"}`;
}

function hintOf(e: RunpodError): string | null {
  switch (e.kind) {
    case "auth":
      return "Check the RunPod API key of this organization and its rights (read and write for pods).";
    case "balance":
      return "Add credit to the RunPod account; other hardware does not help.";
    case "capacity":
      return /host machine/i.test(e.detail)
        ? "The pod's host has no free GPU. Try again later, or terminate the pod and create a new one; the new one " +
          "does not get the old volume disk."
        : "RunPod found no place for this request (hardware, cloud or data center). Check the name of the GPU type, or try another one or another cloud.";
    case "gone":
      return "This version of RunPod's API is retired. Update orgpods, or correct RUNPOD_API_URL.";
    case "network":
    case "timeout":
      return e.detail;
    case "upstream":
      return e.status === 403 ? "RunPod's edge refused the request before it reached the API." : null;
    default:
      return null;
  }
}
