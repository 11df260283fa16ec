import { z } from "zod";
import type { RunpodError } from "./errors.ts";
import { type Deadline, type Request, unreadable } from "./request.ts";
import { type ParsedPod, parsePod } from "./schema.ts";

/** Keeps a page of pods with long env well under the limit for one answer; the API allows up to 1000. */
const PAGE_SIZE = 250;
const MAX_PAGES = 200;

const pageShape = z.object({
  pods: z.array(z.unknown()),
  pagination: z.object({ hasNextPage: z.boolean().nullish(), nextCursor: z.string().nullish() }).nullish(),
});

/**
 * All pods of the account, over as many pages as RunPod says there are (pages may be short or empty; only `hasNextPage`
 * counts). It gives the whole list or throws: a list with a hole would make live pods look gone.
 */
export async function listPods(request: Request, deadline: Deadline): Promise<ParsedPod[]> {
  const pods = new Map<string, ParsedPod>();
  const seen = new Set<string>();
  let cursor: string | null = null;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
    if (cursor !== null) query.set("cursor", cursor);
    const { status, json } = await request({ method: "GET", path: `/pods?${query}`, repeatable: true }, deadline);
    // v1 answered with a bare array.
    const read = pageShape.safeParse(Array.isArray(json) ? { pods: json } : json);
    if (!read.success) throw broken(status, "is not a list of pods");
    for (const raw of read.data.pods) {
      const parsed = parsePod(raw);
      if (parsed === null) throw broken(status, "holds a pod without an id");
      // A pod that moves to the next page while the pages are read comes twice; the first is as good.
      if (!pods.has(parsed.pod.id)) pods.set(parsed.pod.id, parsed);
    }
    if (read.data.pagination?.hasNextPage !== true) return [...pods.values()];
    cursor = read.data.pagination.nextCursor ?? "";
    if (cursor === "") throw broken(status, "says that more pods follow but gives no cursor");
    if (seen.has(cursor)) throw broken(status, "gives the same cursor twice");
    seen.add(cursor);
  }
  throw broken(200, `does not end after ${MAX_PAGES} pages`);
}

function broken(status: number, what: string): RunpodError {
  return unreadable(status, `RunPod sent a list of pods that ${what}`);
}
