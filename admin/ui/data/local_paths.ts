/** Paths on the computer where the admin runs, as they are typed. */
import { join, resolve } from "node:path";
import { shownPath, textOf } from "../../commands/pod_path.ts";

type Env = (name: string) => string | undefined;

/** The folder in which the program was started; the home folder when that is gone. */
export function workingFolder(env: Env): string {
  try {
    return Deno.cwd();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return homeOf(env) ?? "/";
  }
}

function homeOf(env: Env): string | undefined {
  const home = env("HOME");
  return home?.startsWith("/") ? home : undefined;
}

/** What was typed as an absolute path: `~` is the home folder, anything relative begins in the working folder. */
export function localPathOf(typed: string, env: Env): string {
  const home = homeOf(env);
  if (home !== undefined && (typed === "~" || typed.startsWith("~/"))) return resolve(join(home, typed.slice(1)));
  return resolve(workingFolder(env), typed);
}

/** A path as people write it, with `~` for the home folder. */
export function shownLocal(path: string, env: Env): string {
  const home = homeOf(env)?.replace(/\/+$/, "");
  if (home === undefined || home === "") return path;
  return path === home ? "~" : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Names that are looked through for a completion, and of those that fit, how many are kept. */
const MOST_LOOKED = 10_000;
const MOST_FOUND = 200;

export interface Completion {
  /** What was typed, as far as all that fits is the same. */
  readonly text: string;
  /** The names that fit, folders with a `/`; empty when nothing does or when there is only one. */
  readonly names: readonly string[];
  /** False when nothing begins as it was typed. */
  readonly fits: boolean;
}

/** Completes a typed path by what is there. A folder that cannot be read completes nothing. */
export async function completeLocal(typed: string, env: Env): Promise<Completion> {
  if (typed === "~") return { text: "~/", names: [], fits: true };
  const cut = typed.lastIndexOf("/") + 1;
  const [start, begun] = [typed.slice(0, cut), typed.slice(cut)];
  const folder = localPathOf(start === "" ? "." : start, env);
  const found: string[] = [];
  try {
    let looked = 0;
    for await (const entry of Deno.readDir(folder)) {
      if (++looked > MOST_LOOKED || found.length >= MOST_FOUND) break;
      // Hidden ones only for who asks for them; names that are no text cannot be typed.
      const isHidden = entry.name.startsWith(".") && !begun.startsWith(".");
      if (isHidden || !entry.name.startsWith(begun) || entry.name.includes("\ufffd")) continue;
      found.push(`${entry.name}${await isFolderEntry(folder, entry) ? "/" : ""}`);
    }
  } catch (error) {
    // Nothing there, or nothing that we may look at.
    if (!isOfSystem(error)) throw error;
  }
  const [first, ...others] = found.sort();
  if (first === undefined) return { text: typed, names: [], fits: false };
  const common = others.reduce(commonStart, first);
  return { text: start + common, names: others.length === 0 ? [] : found, fits: true };
}

/** What the system says of a path. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && /os error \d+/.test(error.message);
}

async function isFolderEntry(folder: string, entry: Deno.DirEntry): Promise<boolean> {
  if (!entry.isSymlink) return entry.isDirectory;
  try {
    return (await Deno.stat(join(folder, entry.name))).isDirectory;
  } catch (error) {
    // A link that leads nowhere.
    if (!isOfSystem(error)) throw error;
    return false;
  }
}

function commonStart(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  // Half of a character outside of the basic plane is none.
  return /[\ud800-\udbff]$/.test(a.slice(0, at)) ? a.slice(0, at - 1) : a.slice(0, at);
}

/** A local name for a file of a pod, without anything that a file name should not have. */
export function localNameOf(name: Uint8Array): string {
  const text = (textOf(name) ?? shownPath(name).replaceAll("\\x", "_")).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\/\\]/gu,
    "_",
  );
  return text === "" || text === "." || text === ".." ? "file" : text;
}
