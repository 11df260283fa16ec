import type { EventKind } from "../../server/events/kinds.ts";
import { read } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import { detailText } from "./details.ts";
import type { Shell } from "./shell.ts";
import { shortTime, table } from "./text.ts";

export interface EventFlags {
  readonly limit: number;
  readonly before?: number;
  /** RunPod's id of a pod. */
  readonly pod?: string;
  readonly kind?: string;
}

/** `orgpods event list`: newest first, a page at a time. */
export async function listEvents(shell: Shell, flags: EventFlags): Promise<void> {
  const query = {
    limit: String(flags.limit),
    ...(flags.before === undefined ? {} : { before_id: String(flags.before) }),
    ...(flags.pod === undefined ? {} : { pod_id: flags.pod }),
    // The server knows the kinds and refuses others.
    ...(flags.kind === undefined ? {} : { kind: flags.kind as EventKind }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.events.$get({ param: { org }, query }));
    const { events } = answer.value;
    if (events.length === 0) await shell.say("No events.");
    await shell.result(answer, ({ events }) =>
      events.length === 0 ? "" : table(
        ["ID", "AT", "KIND", "WHAT", "POD", "BY", "DETAILS"],
        events.map((event) => [
          event.id,
          shortTime(event.created_at),
          event.kind,
          event.subject,
          event.pod_id,
          event.actor,
          detailText(event.details),
        ]),
      ));
    if (events.length === flags.limit) await shell.say(`Older events: --before ${events.at(-1)!.id}`);
  });
}
