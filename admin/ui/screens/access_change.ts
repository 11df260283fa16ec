/** Changes of who may enter a pod, with the question before what takes access away. */
import type { z } from "zod";
import type { accessSchema } from "../../../server/pods/access.ts";
import { type Api, read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import { type Certificate, nameOf, podMembersResource } from "../data/members.ts";
import { type Pod, podsResource } from "../data/pods.ts";
import { localTime } from "../text/units.ts";
import { confirmScreen } from "../widgets/confirm.ts";

export type AccessChange = z.input<typeof accessSchema>;

/** `PUT /pods/<id>`. */
export const putAccess = (id: string, json: AccessChange) => async (api: Api, org: string) =>
  (await read(api.org.pods[":id"].$put({ param: { org, id }, json }))).value;

/** What a change takes away, for the question before it. */
export interface Taking {
  readonly title: string;
  what(now: Pod): string;
  readonly yes: string;
  readonly change: AccessChange;
  /** Said when it is done and the server has nothing to add. */
  readonly done: string;
  /** Who may enter afterwards, officers apart. */
  mayEnter(discordId: string, now: Pod): boolean;
}

const MOST_HOLDERS = 5;

/** Asks, says who holds a certificate that works, changes, and hands over what the server says of it. */
export function askToTake(ui: Ui, pod: Pod, taking: Taking, said: (warnings: readonly string[]) => void): void {
  const askedAt = ui.now;
  // Somebody may have got a certificate since it was last looked.
  ui.refresh(podMembersResource(pod.id));
  ui.open(confirmScreen, {
    title: taking.title,
    // Another officer may change who may enter while the question stands there.
    lines: (at) => {
      const now = at.read(podsResource).value?.pods.find(({ id }) => id === pod.id) ?? pod;
      return [taking.what(now), ...endLines(at, now, taking, askedAt)];
    },
    yes: taking.yes,
    onYes: async (at) => {
      const answer = await at.call(taking.title, putAccess(pod.id, taking.change));
      if (answer === null) return;
      said(answer.warnings);
      if (answer.warnings.length === 0) at.say(taking.done);
    },
  });
}

function endLines(
  at: Ui,
  pod: Pod,
  taking: Taking,
  askedAt: number,
): (string | { text: string; isWarning: true })[] {
  const { value, problem, at: loadedAt } = at.read(podMembersResource(pod.id));
  if (value === undefined || loadedAt === null || loadedAt < askedAt) {
    return [problem === null ? "Looking who holds a certificate …" : `Who holds one is not known: ${problem.sentence}`];
  }
  const holders = heldBy(value.recent, at.now).filter(({ discord_id }) => !taking.mayEnter(discord_id, pod));
  if (holders.length === 0) return ["Nobody who loses access holds a certificate that works."];
  const names = holders.slice(0, MOST_HOLDERS).map((one) =>
    `${nameOf({ id: one.discord_id, name: one.name })} (until ${localTime(one.valid_before, at.zone, at.now)})`
  );
  const more = holders.length > MOST_HOLDERS ? ` and ${holders.length - MOST_HOLDERS} more` : "";
  return [
    { text: `These hold a certificate, which stops working: ${names.join(", ")}${more}.`, isWarning: true },
    "Their connections to the pod end at once, with everything that runs in their name.",
  ];
}

/** The certificates of members that still work, the one that works longest of each person. */
function heldBy(recent: readonly Certificate[], now: number): Certificate[] {
  const last = new Map<string, Certificate>();
  for (const one of recent) {
    const before = last.get(one.discord_id);
    if (one.is_admin || one.revoked_at !== null || Date.parse(one.valid_before) <= now) continue;
    if (before === undefined || before.valid_before < one.valid_before) last.set(one.discord_id, one);
  }
  return [...last.values()];
}
