/** Which processes of this machine descend from one of ours, read from /proc. */
import { isGone } from "./process_gone.ts";

export interface RunningProcess {
  readonly pid: number;
  readonly parent: number;
  /** The short name (`comm`), at most 15 characters. */
  readonly name: string;
}

async function readProcess(pid: number): Promise<RunningProcess | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(`/proc/${pid}/stat`);
  } catch (error) {
    // It ended between the listing and the reading.
    if (isGone(error)) return undefined;
    throw error;
  }
  // The name stands in brackets and may itself hold brackets and spaces.
  const end = text.lastIndexOf(")");
  const parent = Number(text.slice(end + 2).split(" ")[1]);
  return { pid, parent, name: text.slice(text.indexOf("(") + 1, end) };
}

/** Every process below `pid`, parents before children; `pid` itself is not among them. */
export async function descendantsOf(pid: number): Promise<RunningProcess[]> {
  const children = new Map<number, RunningProcess[]>();
  for await (const entry of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(entry.name)) continue;
    const found = await readProcess(Number(entry.name));
    if (found) children.set(found.parent, [...children.get(found.parent) ?? [], found]);
  }
  const below = [...children.get(pid) ?? []];
  // The list grows while it is walked.
  for (const one of below) below.push(...children.get(one.pid) ?? []);
  return below;
}
