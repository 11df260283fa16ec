import { Buffer } from "node:buffer";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { ClientChannel } from "ssh2";
import { AppError } from "../errors.ts";

/** Login scripts of a pod may write before the command does, but not without end. */
const MAX_NOISE = 256 * 1024;

/**
 * Reads a command's stdout up to and with the line `marker`, and resolves with what came before it; what comes after it is
 * read next. The channel is paused then.
 * Rejects with `pod_command_failed` when the line does not come, or with the signal's reason.
 */
export function skipPast(channel: ClientChannel, marker: string, signal: AbortSignal): Promise<Buffer> {
  const line = Buffer.from(`${marker}\n`);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const failed = (hint: string) => new AppError("pod_command_failed", "The command on the pod failed", { hint });
  let seen = Buffer.alloc(0);
  const finish = (outcome: () => void) => {
    channel.off("data", take);
    channel.off("end", ended);
    channel.off("close", ended);
    channel.off("error", reject);
    signal.removeEventListener("abort", giveUp);
    outcome();
  };
  const take = (chunk: Buffer) => {
    seen = Buffer.concat([seen, chunk]);
    const at = seen.indexOf(line);
    if (at < 0) {
      if (seen.length > MAX_NOISE) finish(() => reject(failed("Root's login scripts on the pod write without end.")));
      return;
    }
    channel.pause();
    const rest = seen.subarray(at + line.length);
    if (rest.length > 0) channel.unshift(rest);
    finish(() => resolve(seen.subarray(0, at)));
  };
  const ended = () => finish(() => reject(failed("The command on the pod ended before it began its work.")));
  const giveUp = () => finish(() => reject(signal.reason));
  channel.on("data", take);
  channel.on("end", ended);
  channel.on("close", ended);
  channel.on("error", reject);
  if (signal.aborted) giveUp();
  else signal.addEventListener("abort", giveUp, { once: true });
  return promise;
}
