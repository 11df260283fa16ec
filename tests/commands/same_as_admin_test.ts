/** Everything that the terminal admin does can be done from the shell: each call of its screens is one of a command, too. */
import assert from "node:assert/strict";

/** Calls of the screens for which the shell takes another one that does the same. */
const OTHERWISE: Readonly<Record<string, string>> = {
  'org.pods[":id"].files.read.$post': "orgpods file cat: GET …/download, which has no limit on the length",
  'org.pods[":id"].files.write.$post': "orgpods file put: PUT …/upload",
};

/** The calls of the API in the sources of a folder, such as `org.pods[":id"].keep.$post`. */
async function callsIn(folder: URL): Promise<Set<string>> {
  const calls = new Set<string>();
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) {
      for (const call of await callsIn(new URL(`${name}/`, folder))) calls.add(call);
      continue;
    }
    if (!/\.tsx?$/.test(name)) continue;
    let text = (await Deno.readTextFile(new URL(name, folder))).replace(/\s+/g, "");
    // A route that got a name of its own for a line: `constresend=api.org.…;`.
    for (const [, alias, route] of text.matchAll(/const(\w+)=(api\.(?:org|operator)[\w.[\]":]+);/g)) {
      text = text.replaceAll(`${alias}.$`, `${route}.$`);
    }
    for (const [, call] of text.matchAll(/\bapi\.((?:org|operator)[\w.[\]":]*\.\$(?:get|post|put|patch|delete))\(/g)) {
      calls.add(call!);
    }
  }
  return calls;
}

Deno.test("each call of the admin's screens is made by a shell command, too", async () => {
  const admin = await callsIn(new URL("../../admin/ui/", import.meta.url));
  const shell = await callsIn(new URL("../../admin/commands/", import.meta.url));
  assert(admin.size > 45, `only ${admin.size} calls were found`);
  const missing = [...admin].filter((call) => !shell.has(call) && OTHERWISE[call] === undefined);
  assert.deepEqual(missing, []);
  for (const call of Object.keys(OTHERWISE)) assert(admin.has(call) && !shell.has(call), `${call} is out of date`);
});
