import type { MiddlewareHandler } from "hono";
import { z } from "zod";
import { AppError, shown } from "../errors.ts";

/** The largest JSON body taken, in bytes. */
export const MAX_BODY = 1_000_000;

/** A body that takes longer is given up: a slow client must not hold a request open for ever. */
const BODY_MS = 10_000;

export interface BodyOptions {
  readonly mayBeEmpty?: boolean;
  /** The sentence for a body that is JSON and no object, and for an empty one. */
  readonly notAnObject?: string;
  /** The sentence for a body that is no JSON. */
  readonly notJson?: string;
  readonly maxBytes?: number;
  /** A field whose text may hold NUL characters: the content of a file. */
  readonly mayHoldNul?: string;
}

/**
 * Reads at most `limit` bytes of a body. Throws `too_large` past it, whatever Content-Length claimed, and
 * `invalid_request` for one that breaks off or does not arrive within 10 s.
 */
export async function readCapped(request: Request, limit: number): Promise<Uint8Array> {
  const tooLarge = () => new AppError("too_large", `The body is larger than ${limit} bytes`);
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge();
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isLate = false;
  const reader = request.body.getReader();
  /** Ends the reading, so that the client need not send the rest. */
  const stop = async () => {
    try {
      await reader.cancel();
    } catch (error) {
      if (!isBrokenOff(error)) throw error;
    }
  };
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, BODY_MS);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > limit) {
        await stop();
        throw tooLarge();
      }
      chunks.push(part.value);
    }
  } catch (error) {
    if (isBrokenOff(error)) throw new AppError("invalid_request", "The body ended before it was complete");
    throw error;
  } finally {
    clearTimeout(timer);
  }
  if (isLate) throw new AppError("invalid_request", "The body did not arrive within 10 seconds");
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** What reading a body throws when the client has gone away: no failure of the server. */
export function isBrokenOff(error: unknown): boolean {
  const { BadResource, ConnectionReset, Http, Interrupted, UnexpectedEof } = Deno.errors;
  return [BadResource, ConnectionReset, Http, Interrupted, UnexpectedEof].some((kind) => error instanceof kind);
}

/** A body as a JSON object; an empty body is `{}` only where `mayBeEmpty`. */
export async function readJsonObject(
  request: Request,
  options: BodyOptions = {},
): Promise<Record<string, unknown>> {
  const bytes = await readCapped(request, options.maxBytes ?? MAX_BODY);
  if (bytes.length === 0 && options.mayBeEmpty) return {};
  const refuse = (sentence: string) => new AppError("invalid_request", sentence);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw refuse("The body is not UTF-8 text");
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      const notJson = options.notJson ?? "The body is not JSON";
      throw refuse(text.trim() === "" ? options.notAnObject ?? notJson : notJson);
    }
    throw error;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refuse(options.notAnObject ?? "Send a JSON object");
  }
  if (text.includes("\\u0000") && holdsNul(value, options.mayHoldNul)) {
    throw refuse("The body must not hold NUL characters");
  }
  return value as Record<string, unknown>;
}

/** True for a NUL in a name or a text at any depth; without recursion, because depth is the sender's choice. */
function holdsNul(body: object, except: string | undefined): boolean {
  const todo: unknown[] = [];
  for (const [name, value] of Object.entries(body)) todo.push(name, name === except ? null : value);
  while (todo.length > 0) {
    const value = todo.pop();
    if (typeof value === "string" && value.includes("\0")) return true;
    if (typeof value !== "object" || value === null) continue;
    for (const [name, inner] of Object.entries(value)) todo.push(name, inner);
  }
  return false;
}

/**
 * What a zod check found as one sentence: a field that nobody knows, because it is often one that is missing by another
 * name, else the first broken rule. Our schemas carry the contract's sentences as messages.
 */
export function refusalOf(error: z.ZodError): AppError {
  const issue = error.issues.find(({ code }) => code === "unrecognized_keys") ?? error.issues[0];
  if (issue === undefined) return new AppError("invalid_request", "The request is invalid");
  if (issue.code === "unrecognized_keys") {
    return new AppError("invalid_request", `Unknown field: ${issue.keys.map(shown).join(", ")}`);
  }
  const field = issue.path.join(".");
  // Where a schema says nothing by itself, the words are the library's own.
  if (issue.message.startsWith("Invalid input")) {
    return new AppError("invalid_request", `${shown(field || "The request")} is missing or of a wrong kind`);
  }
  const named = field === "" || issue.message.startsWith(String(issue.path[0]));
  return new AppError("invalid_request", named ? issue.message : `${shown(field)}: ${issue.message}`);
}

export function parseOrRefuse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (!result.success) throw refusalOf(result.error);
  return result.data;
}

/**
 * Middleware that reads the JSON body once and checks it with `schema`; the handler takes it by
 * `c.req.valid("json")`. Clients typed from the routes see the schema's input.
 */
export function json<S extends z.ZodType>(
  schema: S,
  options: BodyOptions = {},
): MiddlewareHandler<
  // deno-lint-ignore no-explicit-any
  any,
  string,
  { in: { json: z.input<S> }; out: { json: z.output<S> } }
> {
  return async (c, next) => {
    const value = parseOrRefuse(schema, await readJsonObject(c.req.raw, options));
    c.req.addValidatedData("json", value as object);
    await next();
  };
}

/** The same for the query string; unknown names are ignored. */
export function query<S extends z.ZodType>(
  schema: S,
): MiddlewareHandler<
  // deno-lint-ignore no-explicit-any
  any,
  string,
  { in: { query: z.input<S> }; out: { query: z.output<S> } }
> {
  return async (c, next) => {
    c.req.addValidatedData("query", parseOrRefuse(schema, c.req.query()) as object);
    await next();
  };
}

/** `?force=true` on a DELETE, whose body some clients and proxies drop. */
export const forceQuery = z.looseObject({
  force: z.enum(["true", "false"], "force must be true or false").default("false").transform((text) => text === "true"),
});
