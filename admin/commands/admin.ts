import { AppError } from "../../server/errors.ts";
import { forgetToken, officerFolder, officerTokenPath } from "../client/officer_token.ts";
import { originOf } from "../client/remote.ts";
import type { Shell } from "./shell.ts";

/**
 * `orgpods admin`. The order matters: the terminal is looked at first, colours are decided before the drawing library
 * loads, and its development build is switched off before that. Nothing else of the program loads it.
 */
export async function admin(shell: Shell): Promise<number> {
  refuseWithoutTerminal(shell);
  if ((shell.env("NO_COLOR") ?? "") !== "") Deno.env.set("FORCE_COLOR", "0");
  if (shell.env("NODE_ENV") === undefined) Deno.env.set("NODE_ENV", "production");
  const { startAdmin } = await import("../ui/start.ts");
  return await startAdmin(shell);
}

function refuseWithoutTerminal({ stdio, env }: Shell): void {
  if (!stdio.isTerminal || !stdio.outIsTerminal) {
    throw new AppError("usage", "The admin needs a terminal: standard input and output must be one", {
      hint: "Scripts do the same by the other commands: orgpods --help",
    });
  }
  const term = env("TERM") ?? "";
  if (term === "" || term === "dumb") {
    throw new AppError("usage", `The admin cannot draw on a terminal of the kind TERM=${term === "" ? '""' : term}`, {
      hint: "The other commands work there: orgpods --help",
    });
  }
}

/** `orgpods admin logout`: the token stays valid at the server until it is revoked or runs out; it is no longer kept here. */
export async function logout(shell: Shell): Promise<void> {
  const { server, org } = shell.options;
  if (server === undefined || org === undefined) {
    throw new AppError("usage", "Name the server and the organization: --server and --org");
  }
  const path = officerTokenPath(officerFolder(shell.env), originOf(server), org);
  const wasKept = await forgetToken(path);
  await shell.say(
    wasKept
      ? "The token is forgotten here. To make it worthless too: orgpods token list, orgpods token revoke"
      : `No token of ${org} at ${originOf(server)} is kept here`,
  );
}
