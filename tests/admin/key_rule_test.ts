import assert from "node:assert/strict";
import { SCREENS } from "../../admin/ui/screens/list.ts";

/** What the keys of the rule in `core/screen.ts` do, by screen and label of the footer. */
const RULE: Readonly<Record<string, RegExp>> = {
  n: /^(pods new pod|files new folder|sessions add|webhooks add)$/,
  a: /^(pod-access add|listed-people add|roles officer role)$/,
  d: / (remove|delete)$/,
  D: / (terminate|delete|delete series)$/,
};

/** Other labels of those keys, as `screen key label`, each with its reason. */
const OTHER: Readonly<Record<string, string>> = {
  "pods a attention": "goes to another screen, and nothing is added to the list of pods",
  "pod a access": "opens the list that people are added to",
  "pod-people a change access": "opens the list that people are added to, as on the pod",
  "attention a adopt": "adds the pod to the list of pods",
  "orgs n another": "a new sign-in",
  "tokens D revoke": "the commands and admins that use the token end with it",
  "files d download": "downloads are what files are opened for; nothing is lost by it",
  "file d download": "as in the list of files",
  "files a archive": "makes an archive of the folder",
};

/** Labels that have different first keys, as `label: keys`, each with its reason. */
const SEVERAL_KEYS: Readonly<Record<string, string>> = {
  "add: a,enter,n": "n where the thing is made, a where it is put on a list, enter where it is chosen from one",
  "attention: a,ctrl-t": "a form takes letters as text",
  "cancel: c,esc": "esc leaves a question or a form; c ends a transfer, and the screen stays",
  "change: c,e,enter,right": "e extends a session, so c changes it; webhooks have e; settings are opened to be changed",
  "delete: D,d": "d for one thing alone, D where others go with it; d downloads on files",
};

const all = SCREENS.flatMap((screen) =>
  screen.actions.flatMap(({ keys = [], label }) => keys.map((key, index) => ({ screen: screen.id, key, label, index })))
);

Deno.test("the keys of the rule do on every screen what the rule says, and each exception is needed", () => {
  const broken = all.filter(({ screen, key, label, index }) => {
    const rule = Object.hasOwn(RULE, key) ? RULE[key] : undefined;
    // A second key is one of before the rule.
    return rule !== undefined && !rule.test(`${screen} ${label}`) && index === 0;
  }).map(({ screen, key, label }) => `${screen} ${key} ${label}`);
  assert.deepEqual([...new Set(broken)].sort(), Object.keys(OTHER).sort());
});

Deno.test("the same act has the same key on every screen, and each exception is needed", () => {
  const keysOf = new Map<string, Set<string>>();
  for (const { key, label, index } of all) {
    if (index === 0) keysOf.set(label, (keysOf.get(label) ?? new Set()).add(key));
  }
  const several = [...keysOf].filter(([, keys]) => keys.size > 1).map(([label, keys]) =>
    `${label}: ${[...keys].sort()}`
  );
  assert.deepEqual(several.sort(), Object.keys(SEVERAL_KEYS).sort());
});
