import assert from "node:assert/strict";
import { podImageFiles } from "../../server/pod_image/files.ts";

const IMAGE = new URL("../../pod-image/", import.meta.url);
const dockerfile = await Deno.readTextFile(new URL("Dockerfile", IMAGE));

async function pathsUnder(folder: URL, prefix = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) {
      found.push(...await pathsUnder(new URL(`${entry.name}/`, folder), `${prefix}${entry.name}/`));
    } else found.push(prefix + entry.name);
  }
  return found;
}

Deno.test("podImageFiles gives every file under rootfs, each with its text", async () => {
  const files = await podImageFiles();
  assert.deepEqual(files.map(({ path }) => path), (await pathsUnder(new URL("rootfs/", IMAGE))).sort());
  for (const { path, text, mode } of files) {
    assert.ok(text.endsWith("\n") && !text.includes("\r"), path);
    assert.equal(mode, text.startsWith("#!") ? 0o755 : 0o644, path);
  }
});

Deno.test("Dockerfile copies every file of rootfs to its place, as root's and with the stated mode", async () => {
  const copies = [...dockerfile.matchAll(/^COPY (.*)$/gm)].map(([, words]) => words);
  const expected = (await podImageFiles()).map(({ path, mode }) =>
    `--chown=0:0 --chmod=${mode.toString(8)} rootfs/${path} /${path}`
  );
  assert.deepEqual(copies.toSorted(), expected.toSorted());
});

Deno.test("Dockerfile names its base by digest, starts start.sh and offers port 22 only", () => {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)(.*)$/gm)];
  assert.equal(bases.length, 1);
  assert.match(bases[0]![1]!, /^[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}$/);
  const all = (instruction: string) => dockerfile.split("\n").filter((line) => line.startsWith(`${instruction} `));
  assert.deepEqual(all("ENTRYPOINT"), ['ENTRYPOINT ["/start.sh"]']);
  assert.deepEqual(all("EXPOSE"), ["EXPOSE 22"]);
});

Deno.test("the image's sshd settings hold for everybody and refuse what a member's login as root must not have", async () => {
  const config = (await podImageFiles()).find(({ path }) => path === "etc/ssh/sshd_config.d/godfather.conf")!.text;
  const settings = config.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  assert.ok(!settings.some((line) => /^match\b/i.test(line)), "a Match block would hide a setting");
  for (
    const setting of ["AllowStreamLocalForwarding no", "PasswordAuthentication no", "AuthorizedPrincipalsFile none"]
  ) {
    assert.ok(settings.includes(setting), setting);
  }
});
