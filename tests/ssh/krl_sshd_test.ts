import assert from "node:assert/strict";
import { issueCertificate } from "../../server/ssh/certificate.ts";
import { writeKrl } from "../../server/ssh/krl.ts";
import { formatPrivateKey, generateKeyPair, publicLine } from "../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { signerOf } from "../../server/ssh/signer.ts";
import { lacks } from "../support/needs.ts";
import { startSshd } from "../support/sshd.ts";
import { withDir } from "./keygen.ts";
import { krlSpec } from "./krl_support.ts";

Deno.test({
  name: "sshd with our list as RevokedKeys refuses the revoked certificates at once, and takes all others",
  ignore: lacks("sshd", "ssh", "root"),
  fn: () =>
    withDir(async (dir) => {
      // Two CAs, as while one is replaced by the other.
      const cas = [generateKeyPair(), generateKeyPair()].map((pair) => {
        return { signer: signerOf(pair), key: parsePublicKey(publicLine(pair.publicKey, "")) };
      });
      const [old, current] = cas as [(typeof cas)[number], (typeof cas)[number]];
      const lines = cas.map(({ signer }) => publicLine(signer.publicKey, "ca"));
      Deno.writeTextFileSync(`${dir}/cas`, `${lines.join("\n")}\n`);
      const put = (krl: Uint8Array) => {
        Deno.writeFileSync(`${dir}/krl.new`, krl);
        Deno.renameSync(`${dir}/krl.new`, `${dir}/krl`);
      };
      put(writeKrl(krlSpec({})));
      const sshd = await startSshd(`TrustedUserCAKeys ${dir}/cas`, `RevokedKeys ${dir}/krl`);
      try {
        const member = generateKeyPair();
        const subject = parsePublicKey(publicLine(member.publicKey, ""));
        Deno.writeTextFileSync(`${dir}/member`, formatPrivateKey(member, "member"), { mode: 0o600 });
        Deno.writeTextFileSync(`${dir}/backend`, sshd.privateKey, { mode: 0o600 });
        const now = Math.floor(Date.now() / 1000);
        const times = { validAfter: now - 300, validBefore: now + 3_600 };
        const holder = (serial: bigint, ca: typeof old): string[] => {
          const name = `${serial}-${ca === old ? "old" : "current"}`;
          const rest = { keyId: `discord:1:${name}`, principals: ["root"], extensions: [] };
          const { line } = issueCertificate(subject, { serial, ...times, ...rest }, ca.signer);
          Deno.writeTextFileSync(`${dir}/${name}`, `${line}\n`);
          return ["-i", `${dir}/member`, "-o", `CertificateFile=${dir}/${name}`];
        };
        const entersBy = async (identity: readonly string[]): Promise<boolean> => {
          const plain = ["-F", "none", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes"];
          const host = [
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            `UserKnownHostsFile=${dir}/known`,
            "-p",
            `${sshd.port}`,
          ];
          const args = [...plain, ...host, ...identity, "root@127.0.0.1", "echo in"];
          const { code, stdout, stderr } = await new Deno.Command("ssh", { args, stdin: "null" }).output();
          if (code === 0) return new TextDecoder().decode(stdout) === "in\n";
          assert.match(new TextDecoder().decode(stderr), /Permission denied \(publickey\)/);
          return false;
        };
        const backend = ["-i", `${dir}/backend`];
        const people = {
          ann: holder(2n ** 63n - 1n, current),
          bob: holder(2n ** 62n, current),
          cid: holder(1_001n, old),
          dan: holder(1_002n, old),
          eve: holder(1_001n, current),
          backend,
        };
        const inside = async () => {
          const names = Object.entries(people);
          const entered = await Promise.all(names.map(async ([name, by]) => await entersBy(by) ? name : ""));
          return entered.filter((name) => name !== "");
        };
        assert.deepEqual(await inside(), ["ann", "bob", "cid", "dan", "eve", "backend"], "an empty list");
        const steps = Array.from({ length: 40 }, (_, n) => 1_001n + 2n * BigInt(n));
        put(writeKrl(krlSpec({
          revoked: [{ ca: current.key, serials: [2n ** 63n - 1n, 7n] }, { ca: old.key, serials: steps }],
        })));
        assert.deepEqual(await inside(), ["bob", "dan", "eve", "backend"]);
        put(writeKrl(krlSpec({ revoked: [{ ca: old.key, serials: [{ from: 1n, to: 2n ** 64n - 1n }] }] })));
        assert.deepEqual(await inside(), ["ann", "bob", "eve", "backend"], "all of the old CA");
        put(writeKrl(krlSpec({ keys: [old.key] })));
        assert.deepEqual(await inside(), ["ann", "bob", "eve", "backend"], "the old CA itself");
        // Why a list is read back before it leaves the program.
        put(writeKrl(krlSpec({ keys: [old.key] })).subarray(0, 60));
        assert.deepEqual(await inside(), [], "a broken list locks everybody out");
      } finally {
        await sshd.stop();
      }
    }),
});
