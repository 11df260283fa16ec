import type { Database } from "../../db/database.ts";
import { type AuditEntry, insertAudit } from "../../db/stores/audit.ts";
import type { Clock } from "../clock.ts";
import { type Actor, SYSTEM_RULES } from "../identity/callers.ts";
import { describeError, type Log } from "../log.ts";

/** The audit: who did what, to which pod, from where, with which outcome. Never bodies, never secrets. */
export interface Audit {
  /** Writes a row; inside a transaction it stands or falls with it. */
  write(entry: AuditEntry): void;
  /** Writes a row about something that happened already: a failing disk must not undo it, so it is only logged. */
  note(entry: AuditEntry): void;
}

export function createAudit(db: Database, clock: Clock, log: Log): Audit {
  const write = (entry: AuditEntry) => insertAudit(db, entry, clock.now());
  return {
    write,
    note(entry) {
      try {
        write(entry);
      } catch (error) {
        log.error("An audit row could not be written", { entry, error: describeError(error) });
      }
    },
  };
}

/** The actor columns of a caller. */
export function actorOf(caller: Actor): Pick<AuditEntry, "actorKind" | "actorId" | "actorName" | "source"> {
  if (caller.kind === "system") {
    return { actorKind: "server", actorId: caller.rule, actorName: SYSTEM_RULES[caller.rule], source: "job" };
  }
  if (caller.kind === "operator") {
    return { actorKind: "local", actorId: caller.account, actorName: null, source: "local" };
  }
  return { actorKind: caller.kind, actorId: caller.discordId, actorName: caller.name, source: "api" };
}
