import { AppError } from "../../server/errors.ts";
import { read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";

/** `orgpods org compute`: prints `on` or `off`. Throws `AppError("usage")` for any other word. */
export async function switchCompute(shell: Shell, word: string, flags: { readonly force?: boolean }): Promise<void> {
  if (word !== "on" && word !== "off") throw new AppError("usage", "Say on or off: orgpods org compute on");
  await withOrg(shell, async (api, org) => {
    const json = { enabled: word === "on", force: flags.force === true };
    await shell.result(
      await read(api.org.module.$put({ param: { org }, json })),
      ({ enabled }) => enabled ? "on" : "off",
    );
  });
}
