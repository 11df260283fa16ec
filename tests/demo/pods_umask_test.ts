/** The umask belongs to a whole process, so the pods are in one of their own. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { lacks } from "../support/needs.ts";
import { startProgram } from "../support/process.ts";
import { makeOrg, ssh, withFolder } from "./pods_support.ts";

for (
  const [kind, ignore] of [
    ["sshd", lacks("root", "sshd", "unshare", "setpriv", "useradd", "su", "ssh", "ssh-keygen")],
    ["in-process", lacks("ssh", "ssh-keygen")],
  ] as const
) {
  Deno.test({
    name: `${kind} pod lets a member into their folder when the program runs under the umask 077`,
    ignore,
    fn: () =>
      withFolder(async (folder) => {
        const org = await makeOrg(folder);
        const args = [kind, join(folder, "pods"), JSON.stringify(org.env)];
        const program = startProgram("tests/demo/closed_umask_pod.ts", { args });
        try {
          const [, port] = await program.line(/^port (\d+)$/m);
          const key = await org.member("pod1", "bob");
          const command = "basename $PWD; stat -c %a .";
          const { code, out, err } = await ssh({ host: "127.0.0.1", port: Number(port) }, key, { command });
          assert.deepEqual({ code, out, err }, { code: 0, out: "bob\n700\n", err: "" });
          await program.endInput();
          assert.equal((await program.ended()).code, 0, program.stderr());
        } finally {
          await program.close();
        }
      }),
  });
}
