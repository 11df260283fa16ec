import { type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { plain, shortTime } from "./text.ts";

type Attention = Awaited<
  ReturnType<Awaited<ReturnType<Api["org"]["attention"]["$get"]>>["json"]>
>["attention"][number];

/** `orgpods attention list`: each entry with what is known and what to do. */
export async function listAttention(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.attention.$get({ param: { org } }));
    if (answer.value.attention.length === 0) await shell.say("Nothing needs attention.");
    await shell.result(answer, ({ attention }) => attention.map(describe).join("\n\n"));
  });
}

function describe(entry: Attention): string {
  const who = [entry.name, entry.pod_id === null ? null : `(${entry.pod_id})`].filter((part) => part !== null);
  const head = [entry.id, entry.kind, ...who, `since ${shortTime(entry.since)}`];
  const by = entry.asked_by === null ? [] : [`  Asked by ${plain(entry.asked_by)}.`];
  const ways = entry.actions.map((action) => `  orgpods attention ${action} ${plain(entry.id)}`);
  return [plain(head.join("  ")), `  ${plain(entry.what)}`, `  ${plain(entry.todo)}`, ...by, ...ways].join("\n");
}

export async function resolveAttention(
  shell: Shell,
  id: string,
  action: "adopt" | "forget",
  flags: { readonly runpodId?: string } = {},
): Promise<void> {
  const param = { id: pathPart(id, "The entry's id") };
  const json = { action, ...(flags.runpodId === undefined ? {} : { runpod_id: flags.runpodId }) };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.attention[":id"].$post({ param: { org, ...param }, json }));
    await shell.result(answer, (done) => done.id);
  });
}
