/** The text that an editor works on: a file in a private folder of this computer. */
import { extname, join } from "node:path";
import { localFailure } from "../../../client/local_file.ts";
import { textOf } from "../../../commands/pod_path.ts";
import { localNameOf } from "../../data/local_paths.ts";

export interface LocalText {
  readonly path: string;
  /** Removes the file with its folder, and what the editor left there. */
  remove(): Promise<void>;
}

/** What became of the file; `text` is null for bytes that are no UTF-8, `undefined` when there is no file any more. */
export type Edited = { readonly text: string | null; readonly isSame: boolean } | undefined;

/** An editor that writes more than this is up to something else. */
const MOST_BYTES = 100_000_000;

/** Writes a text into a new private folder, under a name that lets an editor know what it is. Throws `AppError`. */
export async function createLocalText(name: Uint8Array, content: string): Promise<LocalText> {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-edit-" }).catch((error) => {
    throw localFailure(error, "The folder for temporary files");
  });
  await Deno.chmod(folder, 0o700);
  const path = join(folder, editorName(name));
  const remove = () => Deno.remove(folder, { recursive: true });
  try {
    await Deno.writeTextFile(path, content, { mode: 0o600, createNew: true });
  } catch (error) {
    await remove();
    throw localFailure(error, path);
  }
  return { path, remove };
}

/** A name without anything that an editor's command line might take for something else. */
function editorName(name: Uint8Array): string {
  const plain = localNameOf(name).replace(/[^A-Za-z0-9._+-]/g, "_").replace(/^[-+]/, "_");
  if (plain.length <= 100) return plain;
  return plain.slice(0, 80) + extname(plain).slice(0, 20);
}

/** Reads what an editor left. Throws `AppError`. */
export async function readLocalText(path: string, before: string): Promise<Edited> {
  try {
    if ((await Deno.stat(path)).size > MOST_BYTES) return { text: null, isSame: false };
    const text = textOf(await Deno.readFile(path));
    return { text, isSame: text === before };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw localFailure(error, path);
  }
}

/** How an editor is called: what VISUAL or EDITOR says, which may have arguments, else vi. */
export function editorOf(env: (name: string) => string | undefined): string {
  return [env("VISUAL"), env("EDITOR")].find((command) => command !== undefined && command.trim() !== "") ?? "vi";
}

/** Runs an editor on a file with the terminal that this program has; gives its exit code. */
export async function runEditor(command: string, path: string): Promise<number> {
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", `${command} "$1"`, "sh", path],
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  return (await child.status).code;
}
