import { fileURLToPath } from "node:url";

/** The words that start this program again: the executable alone, or deno with the program's own file. */
export function ownCommand(): string[] {
  if (Deno.build.standalone) return [Deno.execPath()];
  return [Deno.execPath(), "run", "-A", "--quiet", fileURLToPath(Deno.mainModule)];
}
