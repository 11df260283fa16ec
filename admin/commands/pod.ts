import { AppError } from "../../server/errors.ts";
import { usdText } from "../../server/spend/usd_text.ts";
import { type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { facts, plain, shortTime, table } from "./text.ts";

export type PodView = Awaited<
  ReturnType<Awaited<ReturnType<Api["org"]["pods"]["$get"]>>["json"]>
>["pods"][number];

const accessOf = (pod: PodView) => pod.is_public ? "public" : `${pod.allowed_users.length} listed`;
const reachableOf = (pod: PodView) => pod.reachable === null ? null : pod.reachable ? "yes" : "no";

export async function listPods(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods.$get({ param: { org } }));
    if (answer.value.pods.length === 0) await shell.say("No pods.");
    await shell.result(answer, ({ pods }) =>
      pods.length === 0 ? "" : table(
        ["ID", "NAME", "STATUS", "ACCESS", "USD/H", "MONTH", "SSH", "FILES", "UP SINCE", "STOPS", "TROUBLE"],
        pods.map((pod) => [
          pod.id,
          pod.name,
          pod.stale ? `${pod.status} (as of ${shortTime(pod.as_of)})` : pod.status,
          accessOf(pod),
          pod.cost_per_hour === null ? null : usdText(pod.cost_per_hour),
          usdText(pod.cost_this_month),
          reachableOf(pod),
          pod.keeps_files ? "kept" : "lost at stop",
          shortTime(pod.up_since),
          shortTime(pod.stops_at),
          pod.trouble?.code ?? null,
        ]),
      ));
  });
}

/** `orgpods pod show`: one pod with all its facts, by a live read. */
export async function showPod(shell: Shell, id: string): Promise<void> {
  pathPart(id, "The pod's id");
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods[":id"].$get({ param: { org, id } }));
    await shell.result(answer, ({ pod }) => describePod(pod));
  });
}

/** One pod with all its facts. */
export function describePod(pod: PodView): string {
  return facts([
    ["Id", pod.id],
    ["Name", pod.name],
    ["Status", pod.status],
    ["Public", pod.is_public ? "yes" : "no"],
    ["Allowed", pod.allowed_users.join(", ") || "nobody but officers"],
    ["USD per hour", pod.cost_per_hour === null ? null : usdText(pod.cost_per_hour)],
    ["SSH", pod.unreachable_reason ?? reachableOf(pod)],
    ["Files at a stop", pod.keeps_files ? "kept" : "lost"],
    ["Created", shortTime(pod.created_at)],
    ["Started", shortTime(pod.started_at)],
    ["Up since", shortTime(pod.up_since)],
    ["Set up", setupText(pod)],
    ["Clock", clockText(pod.clock_offset_seconds)],
    ["Why", pod.status_why],
    ["Next session", pod.next_session === null ? null : nextSession(pod.next_session)],
    ["Stops", pod.stops_at === null ? null : `${shortTime(pod.stops_at)} ${pod.stops_why ?? ""}`.trim()],
    ["Stays up", pod.stays_why],
    ["Idle stop", ruleText(pod.auto_stop_after_minutes, "minutes")],
    ["Longest run", ruleText(pod.max_run_hours, "hours")],
    ["Kept until", shortTime(pod.keep_until)],
    ["This month", `${usdText(pod.cost_this_month)} USD`],
    ["Changed outside", pod.changed_outside.join(" ")],
    ["Trouble", pod.trouble === null ? null : `${pod.trouble.what} ${pod.trouble.todo}`],
  ]);
}

function setupText({ setup, setup_reason: reason }: PodView): string | null {
  switch (setup) {
    case "image":
      return "yes, its image keeps the rules";
    case "pushed":
      return "yes, by the server";
    case "refused":
      return `no: ${plain(reason ?? "")}. Certificates that are taken back work there until they end.`;
    case "behind":
      return `not up to date, because ${plain(reason ?? "")}`;
    case null:
      return null;
  }
}

/** Half a minute is nothing that anybody notices. */
function clockText(offset: number | null): string | null {
  if (offset === null || Math.abs(offset) < 30) return null;
  return `${Math.round(Math.abs(offset) / 60 * 10) / 10} minutes ${offset < 0 ? "behind" : "ahead"}`;
}

const ruleText = (rule: number | null, unit: string) =>
  rule === null ? "the organization's rule" : rule === 0 ? "never" : `${rule} ${unit}`;

const nextSession = (next: NonNullable<PodView["next_session"]>) =>
  `${shortTime(next.start_at)} to ${shortTime(next.stop_at)}${next.title === null ? "" : ` (${next.title})`}`;

/** The pod by its id: from the list, which holds the last known state when RunPod is down; else by itself. */
export async function findPod(api: Api, org: string, id: string): Promise<PodView> {
  const { pods } = (await read(api.org.pods.$get({ param: { org } }))).value;
  const found = pods.find((pod) => pod.id === id);
  return found ?? (await read(api.org.pods[":id"].$get({ param: { org, id } }))).value.pod;
}

export async function actOnPod(
  shell: Shell,
  id: string,
  action: "start" | "stop" | "restart",
  flags: { readonly overBudget?: boolean } = {},
): Promise<void> {
  pathPart(id, "The pod's id");
  await withOrg(shell, async (api, org) => await act(shell, api, org, id, action, flags.overBudget));
}

/** `orgpods pod terminate`: the pod's name must be typed, because its files are lost; scripts say `--yes`. */
export async function terminatePod(shell: Shell, id: string, flags: { readonly yes?: boolean }): Promise<void> {
  pathPart(id, "The pod's id");
  if (!flags.yes && !shell.stdio.isTerminal) {
    throw new AppError("usage", "Terminating deletes the pod and its files: confirm with --yes");
  }
  await withOrg(shell, async (api, org) => {
    if (!flags.yes) {
      const { name } = await findPod(api, org, id);
      await shell.say(`This deletes the pod ${name} (${id}) and all its files.`);
      await shell.stdio.err(`Type its name to go on [${plain(name)}]: `);
      if ((await shell.stdio.readLine())?.trim() !== name.trim()) {
        throw new AppError("usage", "That is not the pod's name; nothing was terminated");
      }
    }
    await act(shell, api, org, id, "terminate");
  });
}

async function act(
  shell: Shell,
  api: Api,
  org: string,
  id: string,
  action: "start" | "stop" | "restart" | "terminate",
  overBudget = false,
): Promise<void> {
  const json = { action, ...(overBudget ? { over_budget: true } : {}) };
  const answer = await read(api.org.pods[":id"].action.$post({ param: { org, id }, json }));
  await shell.say(`RunPod took the ${action} of ${answer.value.id}.`);
  await shell.result(answer, (done) => done.id);
}
