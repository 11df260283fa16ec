import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { findScreen } from "../../admin/ui/screens/find_members.ts";
import { withAdmin } from "../support/fake_admin.ts";
import { withWorld } from "./support.ts";

const DATA = new URL("../../admin/ui/data/", import.meta.url);

Deno.test("a key of the cache belongs to one resource", async () => {
  const places = new Map<string, string[]>();
  for (const name of await readdir(DATA)) {
    const source = await readFile(new URL(name, DATA), "utf8");
    for (const [, key] of source.matchAll(/^ +key: (["`][^"`]+["`]),$/gm)) {
      places.set(key!, [...places.get(key!) ?? [], name]);
    }
  }
  assert(places.size > 20, `only ${places.size} keys were found`);
  assert.deepEqual([...places].filter(([, names]) => names.length > 1), []);
});

Deno.test("the settings open after people were looked for by their role", () =>
  withWorld((world) => {
    const params = { listed: () => new Set<string>(), add: () => Promise.resolve([]), paste: () => {} };
    return withAdmin(world, { first: { screen: findScreen, params } }, async (admin) => {
      await admin.until("found");
      await admin.press("r");
      await admin.until("Officers");
      await admin.press("enter");
      await admin.until(/role |found/);
      await admin.press(":");
      await admin.type("settings");
      await admin.press("enter");
      await admin.until(/Roles +1 for officers/);
    });
  }));
