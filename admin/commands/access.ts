import { type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { shortTime, table } from "./text.ts";

export interface BlockFlags {
  readonly pod?: string;
  readonly reason?: string;
}

export interface RemovalFlags {
  readonly limit: number;
}

type Disconnect = Api["org"]["pods"][":id"]["members"][":discordId"]["disconnect"];
type Removal = NonNullable<Awaited<ReturnType<Awaited<ReturnType<Disconnect["$post"]>>["json"]>>["removal"]>;

/** What a removal did and what is left of it, on standard error: a line each. */
async function tell(shell: Shell, { discord_id, report, left, todo }: Removal): Promise<void> {
  for (const line of [report, left === null ? "" : `Left: ${left}`, todo ?? ""]) {
    if (line !== "") await shell.say(`${discord_id}: ${line}`);
  }
}

/** `orgpods pod disconnect`: ends all that somebody has on a pod; prints `done`, or `open` for what goes on. */
export async function disconnectMember(
  shell: Shell,
  id: string,
  discordId: string,
  flags: { readonly block?: boolean },
): Promise<void> {
  pathPart(id, "The pod's id");
  pathPart(discordId, "The Discord id");
  await withOrg(shell, async (api, org) => {
    const param = { org, id, discordId };
    const json = { block: flags.block === true };
    const answer = await read(api.org.pods[":id"].members[":discordId"].disconnect.$post({ param, json }));
    const { removal, blocked } = answer.value;
    if (removal === null) await shell.say(`${discordId} never had a certificate for this pod.`);
    else await tell(shell, removal);
    await shell.say(
      blocked ? `${discordId} is kept off it: orgpods org unblock ${discordId} --pod ${id}` : CAN_COME_BACK,
    );
    await shell.result(answer, () => removal?.state ?? "done");
  });
}

const CAN_COME_BACK = "Who may use the pod can come back with a new certificate: --block keeps them off.";

/** `orgpods org block`: keeps somebody off one pod or all of them; prints the Discord id. */
export async function blockPerson(shell: Shell, discordId: string, flags: BlockFlags): Promise<void> {
  const json = {
    discord_id: discordId,
    ...(flags.pod === undefined ? {} : { pod_id: pathPart(flags.pod, "--pod") }),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.blocked.$post({ param: { org }, json }));
    for (const removal of answer.value.removals) await tell(shell, removal);
    await shell.result(answer, ({ discord_id }) => discord_id);
  });
}

export async function unblockPerson(shell: Shell, discordId: string, flags: BlockFlags): Promise<void> {
  pathPart(discordId, "The Discord id");
  const query = flags.pod === undefined ? {} : { pod_id: pathPart(flags.pod, "--pod") };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.blocked[":discordId"].$delete({ param: { org, discordId }, query }));
    await shell.result(answer, ({ unblocked }) => unblocked);
  });
}

export async function listBlocked(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.blocked.$get({ param: { org } }));
    if (answer.value.blocked.length === 0) await shell.say("Nobody is blocked.");
    await shell.result(answer, ({ blocked }) =>
      blocked.length === 0 ? "" : table(
        ["DISCORD ID", "POD", "SINCE", "BY", "REASON"],
        blocked.map((one) => [
          one.discord_id,
          one.pod_id ?? "all",
          shortTime(one.blocked_at),
          one.blocked_by,
          one.reason,
        ]),
      ));
  });
}

/** `orgpods org removals`: access that was taken away, newest first, and what is left of it. */
export async function listRemovals(shell: Shell, flags: RemovalFlags): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.removals.$get({ param: { org }, query: { limit: String(flags.limit) } }));
    const { removals } = answer.value;
    if (removals.length === 0) await shell.say("No access was taken away.");
    const toDo = removals.filter((one) => one.todo !== null).map((one) => `${one.discord_id} on ${one.pod_id}`);
    if (toDo.length > 0) await shell.say(`${[...new Set(toDo)].join(", ")}: ${removals.find((one) => one.todo)!.todo}`);
    await shell.result(answer, () =>
      removals.length === 0 ? "" : table(
        ["ASKED", "DISCORD ID", "POD", "WHAT", "BY", "STATE", "WHY", "DONE", "LEFT"],
        removals.map((one) => [
          shortTime(one.asked_at),
          one.discord_id,
          one.pod_id,
          one.only_root ? "root" : "all",
          one.asked_by ?? "the server",
          one.state,
          one.reason,
          one.report,
          one.left,
        ]),
      ));
  });
}
