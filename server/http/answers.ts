import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import { isDiskFailure } from "../../db/database.ts";
import { AppError } from "../errors.ts";
import { describeError, type Log } from "../log.ts";
import type { Env } from "./env.ts";

/** Every refusal as the contract's error shape (2.2). Officers and the operator see the hint too. */
export function errorAnswer(c: Context<Env>, error: AppError): Response {
  const { retryAfter, extra, hint, headers: more = {} } = error.details;
  const caller = c.get("caller");
  const mayKnow = c.env?.peer?.isOperator || caller?.kind === "officer" || caller?.kind === "operator";
  const body = { error: error.message, code: error.code, ...(mayKnow && hint ? { hint } : {}), ...extra };
  const headers = new Headers({ ...more, "content-type": "application/json", "cache-control": "no-store" });
  if (retryAfter !== undefined) headers.set("retry-after", String(Math.max(1, Math.ceil(retryAfter))));
  return new Response(JSON.stringify(body), { status: error.status, headers });
}

/** Turns whatever a handler threw into an answer; what is not ours is a full log line and a bare 500. */
export function onError(log: Log): (error: Error, c: Context<Env>) => Response {
  return (error, c) => {
    if (error instanceof AppError) {
      if (error.status >= 500) {
        log.warn("A request was refused", { path: c.req.path, code: error.code, error: describeError(error) });
      }
      return errorAnswer(c, error);
    }
    if (error instanceof HTTPException) {
      return errorAnswer(c, new AppError("invalid_request", error.message || "The request is invalid"));
    }
    log.error("A request failed unexpectedly", {
      method: c.req.method,
      path: c.req.path,
      error: describeError(error),
    });
    if (isDiskFailure(error)) {
      return errorAnswer(c, new AppError("disk_full", "The server's disk is full; nothing was changed"));
    }
    return errorAnswer(c, new AppError("internal_error", "Something went wrong on the server"));
  };
}
