/** What each screen of the admin is opened with, for tests that open all of them. */
import assert from "node:assert/strict";
import type { AnyScreen } from "../../admin/ui/core/screen.ts";
import type { Person } from "../../admin/ui/data/members.ts";
import { PEOPLE } from "../support/world.ts";

const NAMES: readonly string[] = JSON.parse(
  Deno.readTextFileSync(new URL("../vectors/admin/names.json", import.meta.url)),
).names;

/** What there is to open screens with. */
export interface ScreenFacts {
  readonly pod: { readonly id: string; readonly name: string };
  readonly sessionId: number;
  readonly webhookId: number;
}

/** What screens are opened with that cannot be opened by a word alone. A new one is added here. */
const PARAMS: Readonly<Record<string, (facts: ScreenFacts) => unknown>> = {
  pod: ({ pod }) => pod,
  "pod-access": ({ pod }) => pod,
  "pod-people": ({ pod }) => pod,
  "find-members": () => ({
    listed: () => new Set(),
    add: (_: unknown, people: readonly Person[]) => Promise.resolve(people.map(({ id }) => id)),
    paste: () => {},
  }),
  "listed-people": () => ({ title: "Listed people", ids: [PEOPLE.member, "12345"], onLeave: () => {} }),
  session: ({ pod, sessionId }) => ({ podId: pod.id, id: sessionId }),
  deliveries: ({ webhookId }) => ({ id: webhookId, name: "odd" }),
  files: ({ pod }) => ({ pod, path: new TextEncoder().encode("/workspace"), isBelow: false, selected: null }),
  file: ({ pod }) => ({
    pod,
    path: new TextEncoder().encode(`/workspace/${NAMES[1]}`),
    text: { content: `${NAMES.join("\n")}\n\tand a tab`, etag: null },
  }),
};

/** What a screen is opened with: by its own word, else from the list above. */
export function openedBy(screen: AnyScreen, facts: ScreenFacts): unknown {
  if (screen.command !== undefined) return screen.command.open();
  const params = PARAMS[screen.id];
  assert.notEqual(params, undefined, `PARAMS has nothing to open the screen ${screen.id} with`);
  return params!(facts);
}
