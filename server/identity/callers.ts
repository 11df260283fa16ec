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

/** The server itself, by one of its rules. */
export interface SystemCaller {
  readonly kind: "system";
  readonly rule: keyof typeof SYSTEM_RULES;
}

/** The rules by which the server acts on pods of its own accord, as people read them. */
export const SYSTEM_RULES = {
  schedule: "the session schedule",
  idle_stop: "the idle stop",
  max_run: "the limit on hours of one run",
  budget: "the budget",
  access: "the access check",
  key_rotation: "the rotation of keys",
} as const;

/** Who does something: somebody who asked, or the server itself. */
export type Actor = Caller | SystemCaller;

/** Who, in one word, as intents and rows store it: the Discord id, `local:<account>`, or `system:<rule>`. */
export function callerId(actor: Actor): string {
  if (actor.kind === "system") return `system:${actor.rule}`;
  return actor.kind === "operator" ? `local:${actor.account}` : actor.discordId;
}

/** Is this, as `callerId` writes it, the server itself? */
export function isSystemId(id: string): boolean {
  return id.startsWith("system:");
}

/** The Discord id for `created_by`; null for the operator and the server, who have none. */
export function discordIdOf(actor: Actor): string | null {
  return actor.kind === "operator" || actor.kind === "system" ? null : actor.discordId;
}

/** Who, as events and webhooks say it: the shown name of a person, never an id. */
export function actorName(actor: Actor): string {
  if (actor.kind === "system") return SYSTEM_RULES[actor.rule];
  if (actor.kind === "operator") return "the server's operator";
  // Of a superadmin whom Discord was not asked about only the id is known.
  return [actor.name, actor.username].find((name) => name !== "" && name !== actor.discordId) ?? "a superadmin";
}

/** Who asks for a change, from where, by which route: what the audit says of it. */
export interface Asker {
  readonly caller: Actor;
  /** Null for the server itself. */
  readonly address: string | null;
  /** `METHOD <route rule>`, or the name of the job. */
  readonly action: string;
}
