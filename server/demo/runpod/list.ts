/** `GET /pods` and `GET /pods/{id}`. The list comes newest first, in pages behind an opaque cursor. */
import { type Answer, invalid, json, Refusal } from "./answers.ts";
import { type Context, podOf } from "./context.ts";
import { isObject } from "./schema_check.ts";
import { podView } from "./view.ts";

const MOST = 1_000;

export function getPod(context: Context): Answer {
  return json(podView(context, podOf(context)));
}

export function listPods(context: Context): Answer {
  const limit = limitOf(context.query.get("limit"));
  const position = positionOf(context);
  const pods = listed(context);
  const page = context.fault("F20")?.variant;
  // A page may be shorter than the limit and still have a next one.
  const size = page === "short-pages" ? Math.min(limit, 2) : page === "empty-page" ? Math.min(limit, 1) : limit;
  const empty = page === "empty-page" && position.offset > 0 && !position.gap;
  const from = page === "no-pagination" ? 0 : position.offset;
  const shown = page === "no-pagination" ? pods : empty ? [] : pods.slice(from, from + size);
  const offset = from + shown.length;
  const hasNextPage = page === "endless" || offset < pods.length;
  const body = { pods: shown.map((pod) => podView(context, pod)) };
  if (page === "no-pagination" || context.fault("F19", "missing-parts")) return json(body);
  const nextCursor = hasNextPage ? cursorOf(context.account, { offset, gap: position.gap || empty }) : null;
  return json({ ...body, pagination: { nextCursor, hasNextPage } });
}

function listed({ world, account, query }: Context) {
  const now = world.clock.now();
  const withClusters = query.get("includeClusterPods") === "true";
  return [...world.pods.values()].reverse().filter((pod) =>
    pod.account === account && pod.invisibleUntil <= now && pod.unlistedUntil <= now && (withClusters || !pod.cluster)
  );
}

function limitOf(text: string | null): number {
  if (text === null) return MOST;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MOST) return limit;
  throw new Refusal(invalid([`limit: must be an integer between 1 and ${MOST}`]));
}

interface Position {
  readonly offset: number;
  /** The empty page in the middle has been given (F20). */
  readonly gap: boolean;
}

function cursorOf(account: string, position: Position): string {
  return btoa(JSON.stringify({ account, ...position }));
}

/** A malformed cursor and one of another account are refused alike. */
function positionOf({ account, query }: Context): Position {
  const text = query.get("cursor");
  if (text === null) return { offset: 0, gap: false };
  const value = decoded(text);
  if (isObject(value) && value["account"] === account && Number.isInteger(value["offset"])) {
    return { offset: value["offset"] as number, gap: value["gap"] === true };
  }
  throw new Refusal(invalid(["cursor: is malformed"]));
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(atob(text));
  } catch (error) {
    const malformed = error instanceof SyntaxError ||
      (error instanceof DOMException && error.name === "InvalidCharacterError");
    if (malformed) return null;
    throw error;
  }
}
