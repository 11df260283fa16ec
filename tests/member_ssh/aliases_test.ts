import assert from "node:assert/strict";
import { assignAliases, hostNames } from "../../admin/member_ssh/aliases.ts";
import { configText } from "../../admin/member_ssh/config_text.ts";
import { orgPlaces, placesOf } from "../../admin/member_ssh/places.ts";
import { run, withFolder } from "../demo/pods_support.ts";
import { lacks } from "../support/needs.ts";

interface NameVector {
  readonly name: string;
  readonly alias: string | null;
}
const vectors = new URL("../vectors/member_ssh/pod_names.json", import.meta.url);
const NAMES: readonly NameVector[] = JSON.parse(await Deno.readTextFile(vectors));

const none: ReadonlySet<string> = new Set();

Deno.test("assignAliases takes the id in the place of a name that could be more than a name", () => {
  assert.ok(NAMES.length > 20);
  for (const { name, alias } of NAMES) {
    const given = assignAliases("soc", [{ id: "k7x2m9", name }], {}, none);
    assert.deepEqual(given, { k7x2m9: `soc-${alias ?? "k7x2m9"}` }, JSON.stringify(name));
  }
});

Deno.test("assignAliases gives a pod with an odd id no name", () => {
  for (const id of ["", "a b", "a\nHost *", "../x", "*", "x".repeat(65)]) {
    assert.deepEqual(assignAliases("soc", [{ id, name: "workshop" }], {}, none), {}, id);
  }
});

Deno.test("assignAliases keeps what a pod had, and never gives a name twice", () => {
  const first = { id: "aaa", name: "Lab" };
  const second = { id: "bbb", name: "lab" };
  assert.deepEqual(assignAliases("soc", [first, second], {}, none), { aaa: "soc-Lab", bbb: "soc-bbb" });
  assert.deepEqual(assignAliases("soc", [second, first], { aaa: "soc-Lab" }, none), { bbb: "soc-bbb", aaa: "soc-Lab" });
  assert.deepEqual(
    assignAliases("soc", [{ id: "aaa", name: "new" }], { aaa: "soc-old\nHost *" }, none),
    { aaa: "soc-new" },
    "what was kept is judged too",
  );
  const asId = [{ id: "aaa", name: "bbb" }, { id: "bbb", name: "a b" }];
  assert.deepEqual(assignAliases("soc", asId, {}, none), { aaa: "soc-aaa", bbb: "soc-bbb" }, "a name that is an id");
  assert.deepEqual(assignAliases("soc", [first], {}, new Set(["SOC-lab"])), { aaa: "soc-aaa" });
});

Deno.test("hostNames finds the names of a configuration and no patterns", () => {
  const text = 'Host a b *.c\n  HostName d\nhost=e\n\tHOST "f"\r\n# Host g\nHost *\nMatch host h\n';
  assert.deepEqual([...hostNames(text)], ["a", "b", "e", "f"]);
});

Deno.test({
  name: "configText means something for its own names alone when ssh reads it with hostile pod names",
  ignore: lacks("ssh"),
  fn: () =>
    withFolder(async (folder) => {
      const places = orgPlaces(placesOf(`${folder}/ho me`), "soc");
      await Deno.mkdir(places.folder, { recursive: true });
      const pods = NAMES.map(({ name }, index) => ({ id: `pod${index}`, name }));
      const aliases = assignAliases("soc", pods, {}, none);
      const text = configText({
        org: "soc",
        server: "https://pods.example.org",
        places,
        identity: places.key,
        aliases,
        command: ["/bin/sh", "-c", "true"],
      });
      await Deno.writeTextFile(places.config, text);
      const settings = async (host: string) => {
        const { code, out, err } = await run("ssh", ["-G", "-F", places.config, host]);
        assert.equal(code, 0, err);
        return new Map(out.trim().split("\n").map((line) => [line.split(" ")[0]!, line.slice(line.indexOf(" ") + 1)]));
      };
      const other = await settings("example.org");
      for (const key of ["proxycommand", "identitiesonly", "hostkeyalias"]) {
        assert.ok(!other.get(key)?.match(/ssh-proxy|yes|soc/), `${key} of another host: ${other.get(key)}`);
      }
      for (const host of ["soc-workshop", "soc-pod2", "soc-Lab-1.a_b"]) {
        const mine = await settings(host);
        const id = Object.entries(aliases).find(([, alias]) => alias === host)![0];
        assert.equal(mine.get("proxycommand"), `'/bin/sh' '-c' 'true' ssh-proxy soc ${id}`);
        assert.equal(mine.get("userknownhostsfile"), `"${places.folder}/pod-${id}.known_hosts"`.replaceAll('"', ""));
        assert.equal(mine.get("certificatefile"), `${places.folder}/pod-${id}-cert.pub`);
        // There is no known_hosts file: the key is taken at the first time, and only then.
        assert.equal(mine.get("stricthostkeychecking"), "accept-new");
        assert.equal(mine.get("user"), "root");
        await Deno.writeTextFile(`${places.folder}/pod-${id}.known_hosts`, "x ssh-ed25519 AAAA\n");
        assert.match((await settings(host)).get("stricthostkeychecking")!, /^(yes|true)$/);
      }
    }),
});

Deno.test("placesOf and orgPlaces refuse what could change the meaning of a configuration", () => {
  const homes = ['/home/a"b', "/home/a'b", "/home/%h", "/home/$x", "/home/a\nb", "/home/*", "relative", "/home/`id`"];
  for (const home of homes) assert.throws(() => placesOf(home), /cannot stand in an SSH configuration/, home);
  const places = placesOf("/home/mo member/");
  assert.equal(places.userConfig, "/home/mo member/.ssh/config");
  for (const org of ["", "..", "a/b", "-ab", "A b", "a\nb", "x".repeat(21)]) {
    assert.throws(() => orgPlaces(places, org), /organization must be/, org);
  }
});
