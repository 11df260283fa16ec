import { Buffer } from "node:buffer";
import { AppError, shown } from "../../server/errors.ts";
import type { Places } from "./places.ts";
import { makePrivateFolder, readBytesIfThere, removeIfThere, replaceFile, writeIfAbsent } from "./private_file.ts";

/** The one line of ours in the user's own configuration. It reads the files of all orgs. */
export function includeLine({ root }: Places): string {
  return `Include "${root}/*/config"`;
}

/** Notes what was not there before, so that a removal leaves no trace. */
const notes = ({ root }: Places) => ({ file: `${root}/made-config`, folder: `${root}/made-folder` });

/** The file that is meant where the user's configuration is a link, as it is with managed settings. */
async function targetOf(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  if (await isThere(path)) throw new AppError("usage", `${shown(path)} is a link to a file that is not there`);
  return path;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Makes `~/.ssh/orgpods`, and `~/.ssh` where there is none. */
export async function makeRoot(places: Places): Promise<void> {
  const isNew = !await isThere(places.ssh);
  await makePrivateFolder(places.root);
  if (isNew) await writeIfAbsent(notes(places).folder, "");
}

/** The user's configuration as text of single bytes, so that nothing of it changes; null when there is none. */
export async function userConfig(places: Places): Promise<string | null> {
  const bytes = await readBytesIfThere(places.userConfig);
  return bytes === null ? null : Buffer.from(bytes).toString("latin1");
}

/** Where in the text the line begins; -1 when it is not there as a line of its own. */
function lineAt(text: string, line: string): number {
  for (let at = text.indexOf(line); at >= 0; at = text.indexOf(line, at + 1)) {
    const isBegun = at === 0 || text[at - 1] === "\n";
    const after = text[at + line.length];
    if (isBegun && (after === undefined || after === "\n")) return at;
  }
  return -1;
}

export async function hasInclude(places: Places): Promise<boolean> {
  return lineAt(await userConfig(places) ?? "", includeLine(places)) >= 0;
}

/** Puts the line at the top of `~/.ssh/config`: below a `Host` line it would hold for that host alone. */
export async function addInclude(places: Places): Promise<void> {
  const target = await targetOf(places.userConfig);
  const before = await userConfig(places);
  if (before !== null && lineAt(before, includeLine(places)) >= 0) return;
  if (before === null) await writeIfAbsent(notes(places).file, "");
  await write(target, `${includeLine(places)}\n${before ?? ""}`);
}

/** Takes the line out and leaves every other byte. False when it was not there. */
export async function removeInclude(places: Places): Promise<boolean> {
  const text = await userConfig(places);
  const at = lineAt(text ?? "", includeLine(places));
  if (text === null || at < 0) return false;
  const rest = text.slice(0, at) + text.slice(at + includeLine(places).length + 1);
  const target = await targetOf(places.userConfig);
  if (rest === "" && await isThere(notes(places).file)) await removeIfThere(target);
  else await write(target, rest);
  return true;
}

/** Removes `~/.ssh/orgpods`, and `~/.ssh` where we made it and nothing else is in it. */
export async function removeRoot(places: Places): Promise<void> {
  const madeFolder = await isThere(notes(places).folder);
  await removeIfThere(places.root);
  if (!madeFolder) return;
  for await (const _entry of Deno.readDir(places.ssh)) return;
  await removeIfThere(places.ssh);
}

async function write(target: string, text: string): Promise<void> {
  const mode = await isThere(target) ? (await Deno.stat(target)).mode ?? 0o600 : 0o600;
  await replaceFile(target, Buffer.from(text, "latin1"), mode & 0o777);
}
