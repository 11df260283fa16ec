/** Ending what a person has on a pod, keeping them off it, and letting them in again. */
import { read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import { type Block, blockedResource } from "../data/blocked.ts";
import { nameOf, type Person } from "../data/members.ts";
import { type Pod, podsResource } from "../data/pods.ts";
import { confirmScreen } from "../widgets/confirm.ts";
import { pickerScreen } from "../widgets/picker.ts";

const NO_BLOCKS: readonly Block[] = [];

/** Who is kept off this pod alone. */
export function blockedOn(ui: Pick<Ui, "read">, podId: string): readonly Block[] {
  return ui.read(blockedResource).value?.filter(({ pod_id }) => pod_id === podId) ?? NO_BLOCKS;
}

/** Asks, ends everything of a person on a pod, and hands over what the server says of it. */
export function askToDisconnect(
  ui: Ui,
  pod: Pod,
  person: Person,
  block: boolean,
  said: (sentences: readonly string[]) => void,
): void {
  const name = nameOf(person);
  const title = `${block ? "Block" : "Disconnect"} ${name}`;
  ui.open(confirmScreen, {
    title,
    lines: (at) => [
      {
        text:
          `Their connections to ${pod.name} end, with everything that runs in their name, and their certificates for ` +
          "it stop working.",
        isWarning: true,
      },
      block
        ? "They may not enter this pod again, whatever list they are on, until they are unblocked."
        : mayReturn(at.read(podsResource).value?.pods.find(({ id }) => id === pod.id) ?? pod, person)
        ? "They may still enter, so they can come back with a new certificate at once."
        : "They may not enter any more, unless as an officer.",
    ],
    yes: block ? "block them" : "disconnect them",
    onYes: async (at) => {
      const answer = await at.call(title, async (api, org) => {
        const param = { org, id: pod.id, discordId: person.id };
        return (await read(api.org.pods[":id"].members[":discordId"].disconnect.$post({ param, json: { block } })))
          .value;
      });
      if (answer === null) return;
      const { removal } = answer;
      const parts = removal === null
        ? ["They never had a certificate for this pod."]
        : [removal.report, removal.left, removal.todo].filter((part) => part !== null && part !== "");
      said([[`${name}:`, ...parts].join(" ")]);
      at.say(block ? `${name} is blocked` : `${name} is disconnected`);
    },
  });
}

const mayReturn = (pod: Pod, { id }: Person) => pod.is_public || pod.allowed_users.includes(id);

/** Chooses one of those who are kept off a pod, and lets them in again where a list or "all members" lets them. */
export function chooseUnblock(ui: Ui, pod: Pod, nameFor: (id: string) => string): void {
  ui.open(pickerScreen, {
    title: `Unblock on ${pod.name}`,
    rows: (at) =>
      blockedOn(at, pod.id).map(({ discord_id, reason }) => ({
        key: discord_id,
        text: nameFor(discord_id),
        note: reason ?? discord_id,
      })),
    onPick: async (discordId, at) => {
      const name = nameFor(discordId);
      const done = await at.call(
        `Unblock ${name}`,
        (api, org) =>
          read(api.org.blocked[":discordId"].$delete({ param: { org, discordId }, query: { pod_id: pod.id } })),
      );
      if (done !== null) at.say(`${name} is not blocked any more`);
    },
  });
}
