import { read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { shortTime, table } from "./text.ts";

export interface AuditFlags {
  readonly limit: number;
  readonly before?: number;
}

/** `orgpods audit list`: newest first, a page at a time. */
export async function listAudit(shell: Shell, flags: AuditFlags): Promise<void> {
  const query = {
    limit: String(flags.limit),
    ...(flags.before === undefined ? {} : { before_id: String(flags.before) }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.audit.$get({ param: { org }, query }));
    const { audit } = answer.value;
    if (audit.length === 0) await shell.say("No entries.");
    await shell.result(answer, ({ audit }) =>
      audit.length === 0 ? "" : table(
        ["ID", "AT", "WHO", "ADDRESS", "ACTION", "POD", "OUTCOME"],
        audit.map((entry) => [
          entry.id,
          shortTime(entry.at),
          entry.actor_name ?? entry.actor_id ?? entry.actor_kind,
          entry.address,
          entry.action,
          entry.pod_id,
          entry.outcome,
        ]),
      ));
    if (audit.length === flags.limit) await shell.say(`Older entries: --before ${audit.at(-1)!.id}`);
  });
}
