import { type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";
import { table } from "./text.ts";

type Connected = Api["org"]["pods"][":id"]["members"]["connected"];
type Answer = Awaited<ReturnType<Awaited<ReturnType<Connected["$get"]>>["json"]>>;

/** Certificates begin five minutes early; nearer than that a pod's clock does no harm. */
const CLOCK_FINE_S = 60;

/** `orgpods pod connected`: who is on a pod now, by their sessions and by the certificate of each connection. */
export async function listConnected(shell: Shell, id: string): Promise<void> {
  pathPart(id, "The pod's id");
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.pods[":id"].members.connected.$get({ param: { org, id } }));
    const { state, reason, sessions, connections, clock_offset_seconds: offset } = answer.value;
    if (state === "unknown") await shell.say(`Not known: ${reason}.`);
    else await shell.say(`${connections} SSH connections, ${sessions.length} sessions.`);
    if (offset !== null && Math.abs(offset) > CLOCK_FINE_S) await shell.say(clockText(offset));
    await shell.result(answer, tables);
  });
}

const clockText = (offset: number) =>
  `The pod's clock is ${Math.abs(offset)} seconds ${offset < 0 ? "behind" : "ahead of"} the server's.`;

/** Sessions, then the connections: a tunnel has no session, and one connection can carry several. */
function tables({ sessions, certificates }: Answer): string {
  const person = (one: Answer["sessions"][number]) => [
    one.username,
    one.name,
    one.is_admin ? "officer" : "member",
    Math.floor(one.seconds / 60),
  ];
  const shown = [
    sessions.length === 0 ? "" : table(["USER", "NAME", "ROLE", "MINUTES"], sessions.map(person)),
    certificates.length === 0 ? "" : table(
      ["CONNECTION OF", "NAME", "ROLE", "MINUTES", "CERTIFICATE"],
      certificates.map((one) => [...person(one), one.serial]),
    ),
  ];
  return shown.filter((text) => text !== "").join("\n\n");
}
