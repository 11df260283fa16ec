/** What a failed SSH connection means: the kinds we tell apart, and the sentences for caller and operator. */
import { AppError, shown } from "../errors.ts";

/**
 * - `login`: the pod refused our key. `host_key`: our verifier refused the pod's key. `handshake`: no agreement.
 * - `refused`, `dns`, `timeout`, `reset`, `network`: the address did not answer as SSH at all.
 * - `not_ssh`: something else answers there. `ended`: our side ended the attempt.
 */
export type DialKind =
  | "login"
  | "host_key"
  | "handshake"
  | "refused"
  | "dns"
  | "timeout"
  | "reset"
  | "network"
  | "not_ssh"
  | "ended";

/** Kinds after which we wait before the next attempt: sshd counts them against our address. */
const REFUSALS: ReadonlySet<DialKind> = new Set(["login", "host_key", "handshake"]);

export class DialFailure extends Error {
  override readonly name = "DialFailure";

  /** `hint` is for officers and the operator; it never holds keys. */
  constructor(readonly kind: DialKind, readonly hint: string, cause: unknown) {
    super(hint, { cause });
  }

  get isRefusal(): boolean {
    return REFUSALS.has(this.kind);
  }
}

/** What was seen of the other side up to the failure. */
export interface DialSight {
  readonly address: string;
  readonly readyTimeoutMs: number;
  /** The first bytes received, at most 64; empty when there were none. */
  readonly firstBytes: Uint8Array;
  /** The key exchange was finished, so what came after was the login. */
  readonly handshakeDone: boolean;
  /** The fingerprint our verifier refused. */
  readonly refusedFingerprint: string | undefined;
}

interface Ssh2Error extends Error {
  /** ssh2's own word for where it happened. */
  readonly level?: string;
  /** errno name of a socket error, or the number of an SSH disconnect message. */
  readonly code?: string | number;
}

const NETWORK: Readonly<Record<string, string>> = {
  ETIMEDOUT: "packets to it get no answer",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no route to its network",
  EACCES: "this computer forbids the connection",
  EPERM: "this computer forbids the connection",
};

/** Tells what an error of ssh2 or of the socket during connect, handshake or login means. */
export function explainDial(error: Ssh2Error, sight: DialSight): DialFailure {
  const failure = (kind: DialKind, hint: string) => new DialFailure(kind, hint, error);
  const { address, firstBytes } = sight;
  const answered = firstBytes.length > 0;
  const said = shown(error.message).replace(/\.$/, "");
  const text = new TextDecoder("latin1").decode(firstBytes);

  if (sight.refusedFingerprint !== undefined) {
    return failure("host_key", `The SSH server at ${address} showed the host key ${sight.refusedFingerprint}.`);
  }
  if (error.level === "client-authentication" || (sight.handshakeDone && typeof error.code === "number")) {
    return failure("login", `The SSH server at ${address} refused the login as root with the backend key.`);
  }
  if (error.code === "ECONNREFUSED") {
    return failure("refused", `Nothing listens at ${address}: sshd does not run (yet), or the port is an old one.`);
  }
  if (error.code === "ENOTFOUND" || error.code === "EAI_AGAIN") {
    return failure("dns", `The name in ${address} could not be looked up.`);
  }
  if (typeof error.code === "string" && NETWORK[error.code]) {
    return failure("network", `${address} cannot be reached: ${NETWORK[error.code]}.`);
  }
  if (answered && !text.startsWith("SSH-") && !sight.handshakeDone) {
    return failure("not_ssh", `What answers at ${address} is not an SSH server; it began with "${shown(text)}".`);
  }
  if (error.level === "client-timeout") {
    const after = answered ? "after it began to speak SSH" : "and said nothing";
    return failure("timeout", `${address} did not let us in within ${sight.readyTimeoutMs} ms ${after}.`);
  }
  if (error.level === "handshake") {
    return failure("handshake", `The SSH handshake with ${address} failed: ${said}.`);
  }
  if (error.code === "ECONNRESET" || error.code === "EPIPE" || error.message === "Connection lost before handshake") {
    return failure(
      "reset",
      `${address} closed the connection before the login. Three readings: too many logins at once (MaxStartups), ` +
        `sshd shuts this server out for a while (PerSourcePenalties), or the network broke.`,
    );
  }
  return failure("network", `The SSH connection to ${address} failed: ${said}.`);
}

/**
 * The error a caller gets. `retryAfter` (whole seconds) is given when no attempt is made before; `refusedBefore`
 * tells that a login was refused in the last minutes, which decides between the readings of a reset.
 */
export function dialError(failure: DialFailure, retryAfter: number | undefined, refusedBefore: boolean): AppError {
  const likely = failure.kind === "reset" && refusedBefore
    ? " A login was refused shortly before, so the second is likely."
    : "";
  const details = {
    cause: failure,
    hint: failure.hint + likely,
    ...(retryAfter === undefined ? {} : { retryAfter }),
  };
  if (failure.kind === "host_key") {
    return new AppError("host_key_changed", "The pod's SSH host key changed while the pod was running", details);
  }
  if (failure.kind === "login") {
    const next = retryAfter === undefined ? "" : `; the next attempt is possible in ${retryAfter} seconds`;
    return new AppError("pod_unreachable", `The pod refused the server's key${next}`, details);
  }
  return new AppError("pod_unreachable", "Could not connect to the pod", details);
}
