/** Who is asking. Made by a guard, once per request; operations take it as it is. */
export type Caller = OperatorCaller | PersonCaller;

/** The person at the server itself, over the socket in the data directory or in the program's own process. */
export interface OperatorCaller {
  readonly kind: "operator";
  /** The local account, for the audit. */
  readonly account: string;
}

export interface PersonCaller {
  readonly kind: "officer" | "member";
  readonly discordId: string;
  /** Discord's account name; empty for a superadmin whom Discord was not asked about. */
  readonly username: string;
  /** The name shown to people. */
  readonly name: string;
  readonly isOfficer: boolean;
  readonly isSuperadmin: boolean;
  readonly via: "token" | "session";
  readonly tokenId: number | null;
}

/** Who, in one word, as intents and rows store it: the Discord id, or `local:<account>`. */
export function callerId(caller: Caller): string {
  return caller.kind === "operator" ? `local:${caller.account}` : caller.discordId;
}

/** The Discord id for `created_by`; null for the operator, who has none. */
export function discordIdOf(caller: Caller): string | null {
  return caller.kind === "operator" ? null : caller.discordId;
}

/** Who asks for a change, from where, by which route: what the audit says of it. */
export interface Asker {
  readonly caller: Caller;
  readonly address: string;
  /** `METHOD <route rule>`. */
  readonly action: string;
}
