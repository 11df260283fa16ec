import { AppError } from "../../server/errors.ts";
import type { Shell } from "./shell.ts";

/** Refuses `--server` for a command that works only on the server itself. */
export function refuseRemote(shell: Shell, command: string): void {
  if (shell.options.server === undefined) return;
  throw new AppError("not_the_operator", `orgpods ${command} works only on the server itself, without --server`);
}
