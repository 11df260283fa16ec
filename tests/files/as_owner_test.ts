/** What the script that serves a member's files becomes, also where the kernel or setpriv does something else. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { sftpServerAs } from "../../server/files/as_owner.ts";
import { withFolder } from "../demo/pods_support.ts";
import { until } from "../support/sshd.ts";
import { ALICE, needsPods } from "./support.ts";

const USER = { uid: ALICE, gid: ALICE };
const NOTHING = "0".repeat(16);

Deno.test("sftpServerAs has nothing of root's left in any uid, gid or capability", needsPods, async () => {
  const script = sftpServerAs(USER, "begins");
  const server = new Deno.Command("sh", { args: ["-c", script], stdin: "piped", stdout: "piped" }).spawn();
  try {
    // Each step replaces the program of the one process.
    const at = `/proc/${server.pid}`;
    await until(async () => (await Deno.readTextFile(`${at}/comm`)) === "sftp-server\n", "the server has begun");
    const status = await Deno.readTextFile(`${at}/status`);
    const field = (name: string) => new RegExp(`^${name}:[\\t ]*(.*?)[\\t ]*$`, "m").exec(status)?.[1]?.split(/\s+/);
    assert.deepEqual(field("Uid"), ["65534", `${ALICE}`, `${ALICE}`, `${ALICE}`]);
    assert.deepEqual(field("Gid"), Array(4).fill(`${ALICE}`));
    assert.deepEqual(field("Groups"), [""]);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) assert.deepEqual(field(set), [NOTHING], set);
    // Older kernels make the real uid the effective one when this is set.
    assert.deepEqual(field("NoNewPrivs"), ["0"]);
  } finally {
    await server.stdin.close();
    await server.stdout.cancel();
    await server.status;
  }
});

/** Exit code and output of the script where setpriv changes its own options by the given cases of a shell. */
async function outcomeWith(folder: string, cases: string): Promise<[code: number, stdout: string]> {
  const found = await new Deno.Command("sh", { args: ["-c", "readlink -f $(command -v setpriv)"] }).output();
  const setpriv = new TextDecoder().decode(found.stdout).trim();
  const real = join(folder, "real");
  const fake = join(folder, "fake");
  await Deno.copyFile(setpriv, real);
  await Deno.writeTextFile(
    fake,
    `#!/bin/sh
for option; do
  shift
  case $option in ${cases} esac
  set -- "$@" "$option"
done
exec ${real} "$@"
`,
  );
  await Deno.chmod(fake, 0o755);
  const script = `mount --bind "$1" "$2" && exec sh -c "$3"`;
  const { code, stdout } = await new Deno.Command("unshare", {
    args: ["-m", "--propagation", "private", "sh", "-c", script, "-", fake, setpriv, sftpServerAs(USER, "begins")],
    stdin: "null",
  }).output();
  return [code, new TextDecoder().decode(stdout)];
}

Deno.test("sftpServerAs serves nothing as anybody else than the user", needsPods, async () => {
  const faults = {
    "the effective uid becomes the real one": "--euid=*) option=--euid=65534 ;;",
    "the effective uid is root's": "--euid=*) option=--euid=0 ;;",
    "the real uid is root's, which gives all capabilities": "--ruid=*) option=--ruid=0 ;;",
    "the group is root's": "--regid=*) option=--regid=0 ;;",
    "the program does not start": "--clear-groups) option=--no-such-option ;;",
  };
  await withFolder(async (folder) => {
    const [code, stdout] = await outcomeWith(folder, "");
    assert.equal(code, 0);
    assert.match(stdout, /\nbegins\n$/);
    for (const [name, cases] of Object.entries(faults)) {
      assert.deepEqual(await outcomeWith(folder, cases), [126, ""], name);
    }
  });
});
