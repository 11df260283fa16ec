import { z } from "zod";
import { AppError, shown } from "../../server/errors.ts";
import { POD_ID } from "../../server/pods/host_alias.ts";
import { objectIn } from "../client/refusal.ts";
import type { OrgPlaces, Places } from "./places.ts";
import { readIfThere, replaceFile } from "./private_file.ts";

const settingsSchema = z.object({
  server: z.string(),
  org: z.string(),
  token: z.union([
    z.object({ from: z.literal("godfather") }),
    z.object({ from: z.literal("file"), path: z.string() }),
  ]),
  /** The member's private key. */
  identity: z.string(),
  /** Names for ssh by pod id. */
  aliases: z.record(z.string().regex(POD_ID), z.string()),
});

/** What `ssh-config` keeps of one org, for the renewals that ssh starts later. */
export type Settings = z.output<typeof settingsSchema>;

/** Null when the org is not set up. Throws `AppError("usage")` for a file that is not as it was written. */
export async function readSettings({ settings }: OrgPlaces): Promise<Settings | null> {
  const text = await readIfThere(settings);
  if (text === null) return null;
  const parsed = settingsSchema.safeParse(objectIn(text));
  if (parsed.success) return parsed.data;
  throw new AppError("usage", `${shown(settings)} is broken`, { hint: "Remove it and run orgpods ssh-config again" });
}

export async function writeSettings({ settings }: OrgPlaces, value: Settings): Promise<void> {
  await replaceFile(settings, `${JSON.stringify(value, null, 2)}\n`);
}

/** The orgs that have a folder here, by name. */
export async function orgsHere({ root }: Places): Promise<string[]> {
  const orgs: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(root)) if (isDirectory) orgs.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return orgs.sort();
}
