/** What the pods' real sshd does with certificates it must not take: another pod's, expired ones, another CA's. */
import assert from "node:assert/strict";
import { createSecretBox, parseSecretKeys } from "../../server/identity/secret_box.ts";
import { issueCertificate, randomSerial } from "../../server/ssh/certificate.ts";
import { generateKeyPair, parsePrivateKey, type Signer, signerOf } from "../../server/ssh/private_key.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { type Outcome, ssh, withFolder } from "../demo/pods_support.ts";
import { type DemoProcess, withDemo } from "../support/demo_process.ts";
import { lacks } from "../support/needs.ts";
import { askToConnect, connected, newKey, publicLineOf, saveCertificate, type SshInfo } from "../support/ssh_client.ts";
import { until } from "../support/sshd.ts";

const ignore = lacks("ssh", "ssh-keygen", "sshd", "root");
const MINUTE_S = 60;

/**
 * The org's own CA, out of the demo's database and its key of secrets. The server never signs what is expired, so a
 * certificate that is right but for its time can only be made with the CA itself.
 */
async function orgCa(demo: DemoProcess): Promise<Signer> {
  const settings = await Deno.readTextFile(`${demo.facts.data_dir}/orgpods.env`);
  const box = createSecretBox(parseSecretKeys(/^SECRETS_KEY=(\S+)$/m.exec(settings)![1]!));
  const [row] = demo.rows("select * from compute_keys where kind = 'user_ca' and retired_at is null");
  const place = { orgId: Number(row!.org_id), kind: "key", name: `user_ca/${row!.fingerprint}` } as const;
  return signerOf(parsePrivateKey(box.open(place, String(row!.private_key))));
}

/** Puts a certificate beside `key` that lets mo.member into a pod, as the server makes it, but with this CA and end. */
async function certify(key: string, podId: string, ca: Signer, validBefore: number): Promise<void> {
  const { line } = issueCertificate(parsePublicKey(await publicLineOf(key)), {
    serial: randomSerial(),
    keyId: "discord:1:mo.member",
    principals: [`gf-${podId}`],
    validAfter: validBefore - 60 * MINUTE_S,
    validBefore,
    forceCommand: "/usr/local/bin/godfather-login mo.member",
    extensions: ["permit-pty"],
  }, ca);
  await saveCertificate(key, line);
}

function assertRefused({ code, out, err }: Outcome): void {
  assert.equal(code, 255);
  assert.equal(out, "");
  assert.match(err, /Permission denied \(publickey\)/);
}

Deno.test({
  name: "a pod's sshd refuses a certificate when it is another pod's, expired, another CA's or missing",
  ignore,
  fn: () =>
    withFolder((folder) =>
      withDemo(async (demo) => {
        const { pod_id: podId, member, officer } = demo.facts;
        const key = await newKey(folder, "key");
        const first: SshInfo = (await connected(demo, podId, member.token, key)).json.ssh_info;
        const now = Math.floor(Date.now() / 1000);
        const tryIt = (at: SshInfo) => ssh(at, key, { command: "id -un" });
        const assertIn = async (at: SshInfo) => {
          const { code, out } = await tryIt(at);
          assert.deepEqual([code, out], [0, "godfather_mo.member\n"]);
        };
        await assertIn(first);

        const made = await demo.call("POST", "/pods", officer.token, {
          name: "second",
          use_cpu_only: true,
          is_public: true,
        });
        assert.equal(made.status, 201);
        const secondId: string = made.json.pod.id;
        let answer = made;
        await until(
          async () => {
            answer = await askToConnect(demo, secondId, member.token, key);
            return answer.status === 200;
          },
          "the second pod can be connected to",
        );
        const second: SshInfo = answer.json.ssh_info;
        assert.notEqual(second.port, first.port);
        assertRefused(await tryIt(second)); // The certificate beside the key is still the first pod's.
        await saveCertificate(key, second.certificate);
        await assertIn(second);
        assertRefused(await tryIt(first));

        // The same CA and the same maker, once with time left, so that it is the time alone that is refused.
        const ca = await orgCa(demo);
        await certify(key, podId, ca, now + 30 * MINUTE_S);
        await assertIn(first);
        await certify(key, podId, ca, now - MINUTE_S);
        assertRefused(await tryIt(first));

        await certify(key, podId, signerOf(generateKeyPair()), now + 30 * MINUTE_S);
        assertRefused(await tryIt(first));

        await Deno.remove(`${key}-cert.pub`);
        assertRefused(await tryIt(first));
      })
    ),
});
