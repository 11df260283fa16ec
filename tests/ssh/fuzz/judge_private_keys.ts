/** Private key files, judged by `ssh-keygen -y`, which prints the public line with the comment. */
import { parsePrivateKey, publicLine } from "../../../server/ssh/private_key.ts";
import { keygen } from "../keygen.ts";
import { accepted, type Judges, refused, verdictOf } from "./verdict.ts";

export const privateKeyJudges: Judges<string> = {
  kind: "private_keys",
  ours: (pem) =>
    verdictOf("A valid OpenSSH private key is required", () => {
      const { publicKey, comment } = parsePrivateKey(pem);
      return publicLine(publicKey, comment);
    }),
  theirs: (dir, files) =>
    files.map((pem) => {
      Deno.writeTextFileSync(`${dir}/private`, pem, { mode: 0o600 });
      const { ok, stdout, stderr } = keygen("-y", "-P", "", "-f", `${dir}/private`);
      return ok ? accepted(stdout.replace(/\n$/, "")) : refused(stderr.trim());
    }),
};
