import { AppError } from "../../errors.ts";
import { SftpError } from "./error.ts";

/**
 * The answer of a file route for an error of this folder (HTTP contract section 9): `file_not_found`,
 * `permission_denied`, `too_large`, `invalid_request` for a path that cannot be, `pod_refused` for what the pod refused
 * otherwise, `pod_command_failed` for a session that is over. Any other error comes back as it is.
 */
export function fileError(error: unknown): unknown {
  if (!(error instanceof SftpError)) return error;
  const details = { cause: error };
  switch (error.kind) {
    case "not_found":
      return new AppError("file_not_found", error.message, details);
    case "permission":
      return new AppError("permission_denied", error.message, details);
    case "invalid_path":
      return new AppError("invalid_request", error.message, details);
    case "too_large":
      return new AppError("too_large", error.message, details);
    case "timeout":
    case "protocol":
    case "lost":
      if (error.cause instanceof AppError) return error.cause;
      return new AppError("pod_command_failed", "The command on the pod failed", {
        ...details,
        hint: `${error.message}.`,
      });
    case "failure":
    case "unsupported":
    case "no_space":
    case "invalid":
    case "not_a_file":
    case "changed":
      return new AppError("pod_refused", error.message, details);
  }
}
