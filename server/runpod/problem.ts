import type { RunpodErrorKind } from "./errors.ts";
import { DETAIL_LIMIT, plain, type Redact } from "./redact.ts";

/** What an answer with an error status says, before it becomes a `RunpodError`. */
export interface Problem {
  /** The body was JSON, so RunPod's API itself spoke and not its edge. */
  readonly isJson: boolean;
  readonly isEmpty: boolean;
  /** Reason and lines in one text, redacted, at most 300 characters; never empty. */
  readonly detail: string;
  readonly errors: string[];
  /** The same, longer: for matching only. */
  readonly matchText: string;
}

/** True for `application/json`, `application/problem+json` and their like. */
export function isJsonType(contentType: string | null): boolean {
  const type = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /[/+]json$/.test(type);
}

/**
 * Reads an error body: problem+json, `{"error"}`, `{"message"}`, an HTML page of the edge, plain text, or nothing. The
 * lines of `errors` are shown beside `detail`, which on a 422 is only a generic sentence.
 */
export function readProblem(status: number, contentType: string | null, text: string, redact: Redact): Problem {
  const json = isJsonType(contentType) ? parseObject(text) : null;
  const rawReason = json === null ? textOf(contentType, text) : reasonOf(json);
  // Redacted before it is shortened: a secret cut in two at the limit would not be found.
  const reason = plain(redact(rawReason), 4 * DETAIL_LIMIT);
  const errors = (json === null ? [] : linesOf(json)).map((line) => plain(redact(line))).filter((line) => line !== "");
  const lines = errors.filter((line) => line !== reason);
  const joined = lines.length === 0
    ? reason
    : reason === ""
    ? lines.join("; ")
    : `${reason.replace(/[.:\s]+$/, "")}: ${lines.join("; ")}`;
  return {
    isJson: json !== null,
    isEmpty: text.trim() === "",
    detail: plain(sayUnsupported(status, joined)),
    errors,
    matchText: joined,
  };
}

/** 501 is what RunPod says for hardware that its v2 API does not serve. */
function sayUnsupported(status: number, reason: string): string {
  if (status === 501) return reason === "" ? "not supported by RunPod" : `not supported by RunPod (${reason})`;
  return reason === "" ? "no reason given" : reason;
}

/** A JSON object, or null when the text is none. */
function parseObject(text: string): Record<string, unknown> | null {
  const value = parseJson(text);
  return isObject(value) ? value : null;
}

/** The parsed text, or undefined when it is no JSON. The parser's own message quotes the text, so it is not kept. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function reasonOf(json: Record<string, unknown>): string {
  for (const key of ["detail", "title", "error", "message"]) {
    const value = json[key];
    if (typeof value === "string" && value.trim() !== "") return value;
    if (isObject(value) && typeof value["message"] === "string") return value["message"];
  }
  return "";
}

function linesOf(json: Record<string, unknown>): string[] {
  const errors = json["errors"];
  if (!Array.isArray(errors)) return typeof errors === "string" ? [errors] : [];
  return errors.slice(0, 20).flatMap((line) => {
    if (typeof line === "string") return [line];
    return isObject(line) ? [reasonOf(line)] : [];
  });
}

/** The title of an HTML page, else its text without the tags; any other text as it is. */
function textOf(contentType: string | null, text: string): string {
  if (!/html/i.test(contentType ?? "") && !/^\s*<(?:!doctype|html)/i.test(text)) return text;
  const title = /<title[^<>]*>([^<]*)</i.exec(text)?.[1]?.trim();
  // `[^<>]` keeps this linear on a page that is nothing but "<".
  return title || text.replace(/<[^<>]*>/g, " ");
}

/**
 * Parts of RunPod's texts for missing capacity; no code tells it apart from other 400s. Seen on create (the first
 * four) and on start and restart (the last).
 */
const CAPACITY_TEXTS = [
  "no longer any instances available",
  "no instances currently available",
  "no instances available",
  "does not have the resources to deploy",
  "not enough free gpus",
];

/** The kind of an answer with an error status or a redirect. */
export function kindOf(status: number, problem: Problem): RunpodErrorKind {
  switch (status) {
    case 400:
      return isCapacity(problem.matchText) ? "capacity" : "invalid";
    case 401:
      return "auth";
    case 402:
      return "balance";
    case 403:
      // The edge refuses with a page or the bare words "error code: 1010"; the API with problem+json.
      return problem.isJson || problem.isEmpty ? "auth" : "upstream";
    case 404:
      // Only the API can say that a pod is gone. A page or a bare text comes from a proxy or from a wrong base URL.
      return problem.isJson ? "not_found" : "upstream";
    case 408:
      return "upstream";
    case 409:
      return "conflict";
    case 410:
      return "gone";
    case 429:
      return "rate_limited";
    default:
      return status >= 400 && status < 500 ? "invalid" : "upstream";
  }
}

function isCapacity(text: string): boolean {
  const lower = text.toLowerCase();
  return CAPACITY_TEXTS.some((part) => lower.includes(part));
}
