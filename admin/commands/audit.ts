import { type Api, read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import { detailText } from "./details.ts";
import type { Shell } from "./shell.ts";
import { shortTime, table } from "./text.ts";

export interface AuditFlags {
  readonly limit: number;
  readonly before?: number;
  /** RunPod's id of a pod. */
  readonly pod?: string;
}

type Entry = Awaited<ReturnType<Awaited<ReturnType<Api["org"]["audit"]["$get"]>>["json"]>>["audit"][number];

/** `orgpods audit list`: newest first, a page at a time. */
export async function listAudit(shell: Shell, flags: AuditFlags): Promise<void> {
  const query = {
    limit: String(flags.limit),
    ...(flags.before === undefined ? {} : { before_id: String(flags.before) }),
    ...(flags.pod === undefined ? {} : { pod_id: flags.pod }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.audit.$get({ param: { org }, query }));
    const { audit } = answer.value;
    if (audit.length === 0) await shell.say("No entries.");
    await shell.result(answer, ({ audit }) =>
      audit.length === 0 ? "" : table(
        ["ID", "AT", "WHO", "ADDRESS", "ACTION", "POD", "OUTCOME", "WHAT"],
        audit.map((entry) => [
          entry.id,
          shortTime(entry.at),
          whoText(entry),
          entry.address,
          shortAction(entry.action, org),
          entry.pod_id,
          entry.outcome,
          detailText(entry.details),
        ]),
      ));
    if (audit.length === flags.limit) await shell.say(`Older entries: --before ${audit.at(-1)!.id}`);
  });
}

/** Who, as people call them; an id only of those whose name is not known. */
export function whoText(
  { actor_kind: kind, actor_id: id, actor_name: name }: Pick<Entry, "actor_kind" | "actor_id" | "actor_name">,
): string {
  switch (kind) {
    case "local":
      return "the server's operator";
    case "server":
      return name ?? "the server";
    case "external":
      return name ?? "somebody outside orgpods";
    case "stranger":
      return name ?? (id === null ? "somebody unknown" : `somebody refused (${id})`);
    default:
      return name ?? id ?? kind;
  }
}

/** What stands before every route says nothing in a list of one organization. */
export function shortAction(action: string, org: string): string {
  for (const base of ["/api/compute/:org", `/api/compute/${org}`]) {
    if (action.includes(` ${base}/`)) return action.replace(base, "");
  }
  return action;
}
