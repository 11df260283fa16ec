import assert from "node:assert/strict";
import {
  addInclude,
  hasInclude,
  includeLine,
  makeRoot,
  removeInclude,
  removeRoot,
} from "../../admin/member_ssh/include_line.ts";
import { type Places, placesOf } from "../../admin/member_ssh/places.ts";
import { withFolder } from "../demo/pods_support.ts";

const withPlaces = (use: (places: Places) => Promise<void>) => withFolder((folder) => use(placesOf(folder)));

async function listing(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(folder)) names.push(name);
  return names.sort();
}

const FILES: readonly (readonly [string, Uint8Array])[] = [
  ["a usual one", new TextEncoder().encode("Host a\n  User b\n\nHost *\n  Compression yes\n")],
  ["without an end of line", new TextEncoder().encode("Host a\n  User b")],
  ["with CRLF", new TextEncoder().encode("Host a\r\n  User b\r\n")],
  ["with bytes that are no UTF-8", Uint8Array.from([0x23, 0x20, 0xe9, 0xff, 0x80, 0x0a, 0xc3])],
  ["an empty one", new Uint8Array()],
];

for (const [what, before] of FILES) {
  Deno.test(`removeInclude gives ~/.ssh/config back byte for byte when it was ${what}`, () =>
    withPlaces(async (places) => {
      await Deno.mkdir(places.ssh);
      await Deno.writeFile(places.userConfig, before, { mode: 0o644 });
      await Deno.chmod(places.userConfig, 0o640);
      await makeRoot(places);
      await addInclude(places);
      await addInclude(places);
      const with_ = await Deno.readFile(places.userConfig);
      const line = new TextEncoder().encode(`${includeLine(places)}\n`);
      assert.deepEqual(with_, Uint8Array.from([...line, ...before]), "once, at the top");
      assert.ok(await hasInclude(places));
      assert.ok(await removeInclude(places));
      await removeRoot(places);
      assert.deepEqual(await Deno.readFile(places.userConfig), before);
      assert.equal((await Deno.stat(places.userConfig)).mode! & 0o777, 0o640);
      assert.deepEqual(await listing(places.ssh), ["config"]);
      assert.equal(await removeInclude(places), false);
    }));
}

Deno.test("removeRoot leaves no trace when there was no ~/.ssh", () =>
  withPlaces(async (places) => {
    await makeRoot(places);
    await addInclude(places);
    assert.equal((await Deno.stat(places.userConfig)).mode! & 0o777, 0o600);
    assert.equal((await Deno.stat(places.ssh)).mode! & 0o777, 0o700);
    await removeInclude(places);
    await removeRoot(places);
    assert.deepEqual(await listing(places.home), []);
  }));

Deno.test("removeRoot keeps a ~/.ssh and a configuration that others wrote in meanwhile", () =>
  withPlaces(async (places) => {
    await makeRoot(places);
    await addInclude(places);
    await Deno.writeTextFile(places.userConfig, "Host mine\n", { append: true });
    await removeInclude(places);
    await removeRoot(places);
    assert.deepEqual(await listing(places.ssh), ["config"]);
    assert.equal(await Deno.readTextFile(places.userConfig), "Host mine\n");
  }));

Deno.test("addInclude writes through a link, and refuses one that leads nowhere", () =>
  withPlaces(async (places) => {
    await makeRoot(places);
    await Deno.symlink(`${places.home}/managed`, places.userConfig);
    await assert.rejects(addInclude(places), /is a link to a file that is not there/);
    await Deno.writeTextFile(`${places.home}/managed`, "Host a\n");
    await addInclude(places);
    assert.ok((await Deno.lstat(places.userConfig)).isSymlink);
    assert.equal(await Deno.readTextFile(`${places.home}/managed`), `${includeLine(places)}\nHost a\n`);
    await removeInclude(places);
    assert.equal(await Deno.readTextFile(`${places.home}/managed`), "Host a\n");
  }));

Deno.test("hasInclude takes only a whole line for ours", () =>
  withPlaces(async (places) => {
    await makeRoot(places);
    const line = includeLine(places);
    for (const text of [`# ${line}\n`, `${line} more\n`, `  ${line}\n`]) {
      await Deno.writeTextFile(places.userConfig, text);
      assert.equal(await hasInclude(places), false, text);
      assert.equal(await removeInclude(places), false, text);
      assert.equal(await Deno.readTextFile(places.userConfig), text);
    }
  }));
