import type { Context } from "hono";
import type { Org } from "../../db/stores/organizations.ts";
import { AppError } from "../errors.ts";
import type { Caller, PersonCaller } from "../identity/callers.ts";

/** What the listener says about a request, beside the request itself. */
export interface Peer {
  /** True for the socket in the data directory and for calls in process. */
  readonly isOperator: boolean;
  /** The local account of an operator. */
  readonly account: string;
  /** The address of the other end of the connection; empty on the socket. */
  readonly address: string;
}

/** The types of a request's context, shared by all routes. */
export interface Env {
  Bindings: { peer?: Peer };
  Variables: {
    /** Set by the gate for a path with an org that exists, active or not. */
    org?: Org;
    caller?: Caller;
    /** The client's address: the peer's, or what a trusted proxy says. Most requests never ask for it. */
    addressOf: () => string;
    /** When the request came in, by `performance.now()`: what a deadline is counted from. */
    receivedAt: number;
  };
}

/** The org of a guarded route. */
export function orgOf(c: Context<Env>): Org {
  const org = c.get("org");
  if (org === undefined) throw new AppError("org_not_found", "Organization not found");
  return org;
}

/** The caller of a guarded route. */
export function callerOf(c: Context<Env>): Caller {
  const caller = c.get("caller");
  if (caller === undefined) throw new Error("The route has no guard");
  return caller;
}

/** The member or officer of a member route; the operator has no Discord id and is refused. */
export function personOf(c: Context<Env>): PersonCaller {
  const caller = callerOf(c);
  if (caller.kind === "operator") {
    throw new AppError("no_discord_user", "This credential is not tied to a Discord user");
  }
  return caller;
}
