/**
 * Ending processes by a mark in their environment: whoever inherited it is found, also after it has left its process
 * group. Only Linux shows other processes' environments; elsewhere nothing is found.
 */
import { isGone } from "./process_gone.ts";

/** Sends KILL to every process whose environment holds `mark` (NAME=value, unguessable), until none is left. */
export async function killMarked(mark: string): Promise<void> {
  for (let pids = await marked(mark); pids.length > 0; pids = await marked(mark)) {
    for (const pid of pids) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch (error) {
        if (!isGone(error)) throw error;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function marked(mark: string): Promise<number[]> {
  if (Deno.build.os !== "linux") return [];
  const found: number[] = [];
  for await (const entry of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    try {
      const environment = await Deno.readTextFile(`/proc/${entry.name}/environ`);
      if (environment.split("\0").includes(mark)) found.push(Number(entry.name));
    } catch (error) {
      // Ended meanwhile, or somebody else's.
      if (!isGone(error) && !(error instanceof Deno.errors.PermissionDenied)) throw error;
    }
  }
  return found;
}
