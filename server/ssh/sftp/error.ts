import { shown } from "../../errors.ts";

/**
 * The pod's answer to one call; the session goes on:
 * - `not_found`, `permission`, `unsupported`, `no_space`: as the word says.
 * - `invalid`: a name too long for the pod's file system, or a handle or number it does not take.
 * - `failure`: anything else. OpenSSH says nothing more, for "exists", "not empty" and "disk full" alike;
 *   `explainFailure` asks what it may have been.
 *
 * Our own refusal of one call; the session goes on:
 * - `invalid_path`: empty, too long or with a NUL byte. `not_a_file`: something that is not a regular file.
 * - `too_large`: a listing, a file or a source beyond the caller's limit.
 * - `changed`: the file or the source has not the size it had or was said to have.
 *
 * The session is over:
 * - `timeout`: no answer in time. `protocol`: the pod's answer breaks the protocol or a limit. `lost`: the channel or
 *   the connection ended; `cause` is the connection's AppError where there is one.
 */
export type SftpErrorKind =
  | "not_found"
  | "permission"
  | "unsupported"
  | "no_space"
  | "invalid"
  | "failure"
  | "invalid_path"
  | "not_a_file"
  | "too_large"
  | "changed"
  | "timeout"
  | "protocol"
  | "lost";

/** Everything that goes wrong between us and a pod's SFTP server. The message is one sentence without a full stop. */
export class SftpError extends Error {
  override readonly name = "SftpError";

  constructor(
    readonly kind: SftpErrorKind,
    message: string,
    options: {
      /** The pod's own words, fit to be shown; empty when it had none. */
      readonly said?: string;
      /** The number of the pod's status answer. */
      readonly status?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.said = options.said ?? "";
    this.status = options.status;
  }

  readonly said: string;
  readonly status: number | undefined;
}

/** Codes of SSH_FXP_STATUS; those above 8 are of later versions, which some servers use all the same. */
const KINDS: Readonly<Record<number, SftpErrorKind>> = {
  2: "not_found",
  3: "permission",
  5: "invalid",
  8: "unsupported",
  10: "not_found",
  12: "permission",
  14: "no_space",
  15: "no_space",
};

const SENTENCES: Readonly<Partial<Record<SftpErrorKind, string>>> = {
  not_found: "No such file or directory",
  permission: "Permission denied",
  unsupported: "The pod's SFTP server does not support this operation",
  no_space: "There is no space left on the pod's disk",
  invalid: "The pod's SFTP server does not accept this name or value",
};

/** The error for a status answer other than OK. `text` is the server's message, of any content and length. */
export function statusError(status: number, text: Uint8Array): SftpError {
  // Only what can be shown is decoded.
  const said = shown(new TextDecoder().decode(text.subarray(0, 320)));
  const full = status === 4 && /no space|disk full|quota/i.test(said);
  const kind = full ? "no_space" : KINDS[status] ?? "failure";
  return new SftpError(kind, SENTENCES[kind] ?? `The pod refused: ${said || `status ${status}`}`, { said, status });
}

/** The error that ends a session whose server does not keep to the protocol. `fault` goes on a sentence. */
export function protocolError(fault: string, cause?: unknown): SftpError {
  return new SftpError("protocol", `The pod's SFTP server broke the protocol: ${fault}`, { cause });
}
