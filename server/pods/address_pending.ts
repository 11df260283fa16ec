import { AppError } from "../errors.ts";

/** A running pod whose SSH address is not known (contract 2.3). */
export function addressPending(cause?: unknown): AppError {
  return new AppError(
    "ssh_address_pending",
    "RunPod has not given the pod an SSH address yet. Wait a minute and try again",
    { cause },
  );
}
