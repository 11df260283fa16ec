/** One pod of the original image with a real sshd, and what the set-up of it is made from. */
import { join } from "node:path";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import type { ImageFlavour } from "../../server/demo/pods/image_files.ts";
import { silentLog } from "../../server/log.ts";
import { podImageFiles } from "../../server/pod_image/files.ts";
import { writeKrl } from "../../server/ssh/krl.ts";
import type { PodTarget, SshPool } from "../../server/ssh/pool.ts";
import { parsePublicKey } from "../../server/ssh/public_key.ts";
import { signerOfPem } from "../../server/ssh/key_pair.ts";
import { LOOK, parseLook, type PodFacts } from "../../server/setup/look.ts";
import type { PushParts, PushStep } from "../../server/setup/push.ts";
import { DROP_IN } from "../../server/setup/look.ts";
import { CA_FILE, KRL_FILE, remoteFile } from "../../server/setup/trust.ts";
import { tryCertificate } from "../../server/setup/try_certificate.ts";
import { makeOrg, type Outcome, ssh, withFolder, withHost } from "../demo/pods_support.ts";
import { trustingPool } from "../support/ssh_pool.ts";

/** While sshd reads its settings anew nobody listens for a moment; ssh itself knocks again then. */
const PATIENT = ["-o", "ConnectionAttempts=5"];

export interface SetupScene {
  readonly pool: SshPool;
  readonly target: PodTarget;
  readonly podId: string;
  /** What a push of the pod is made from; `before` as in `PushParts`. */
  parts(options?: { before?: (step: PushStep) => void | Promise<void>; takeBackAfterS?: number }): Promise<PushParts>;
  facts(): Promise<PodFacts>;
  /** A command as root by the backend's key; exit code 255 when it is not let in. */
  backend(command: string): Promise<Outcome>;
  /** A command as a member with a valid certificate. */
  member(command: string): Promise<Outcome>;
  /** Ends the pool's connection, as a cut line would. */
  cut(): void;
}

export async function withSetupScene(flavour: ImageFlavour, use: (scene: SetupScene) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const host = createSshdHost({ folder: join(folder, "pods"), flavour, log: silentLog });
    await withHost(host, async () => {
      const org = await makeOrg(folder);
      const podId = "pod1";
      const { GODFATHER_TRUST_CA_AT_START: _, ...env } = org.env;
      const address = await host.start({ id: podId, image: "test", env });
      const pool = trustingPool();
      const target: PodTarget = {
        podKey: "p",
        startKey: "1",
        ...address,
        privateKey: await Deno.readTextFile(org.backend),
      };
      const member = await org.member(podId, "mo");
      const facts = async () => {
        const { stdout } = await pool.exec(target, "exec /bin/sh -s", { stdin: LOOK, deadlineMs: 60_000 });
        return parseLook(new TextDecoder().decode(stdout)) as PodFacts;
      };
      try {
        await use({
          pool,
          target,
          podId,
          facts,
          cut: () => pool.drop("p"),
          backend: (command) => ssh(address, org.backend, { command, flags: PATIENT }),
          member: (command) => ssh(address, member, { command, flags: PATIENT }),
          async parts(options = {}) {
            const seen = await facts();
            const caLine = env.GODFATHER_SSH_CA_PUBLIC_KEY;
            const krl = writeKrl({
              version: 1n,
              generatedAt: 1,
              comment: "test",
              revoked: [{ ca: parsePublicKey(caLine), serials: [999n] }],
            });
            const image = await podImageFiles();
            const wanted = image.filter((file) => /^usr\/|^etc\/godfather\/.*bashrc$/.test(file.path));
            const dropIn = image.find((file) => file.path.endsWith("godfather.conf"))!;
            const ca = signerOfPem(await Deno.readTextFile(`${folder}/ca`));
            return {
              ssh: pool,
              target,
              facts: seen as PushParts["facts"],
              files: [
                remoteFile(KRL_FILE, 0o644, krl),
                remoteFile(CA_FILE, 0o644, `${caLine}\n`),
                ...wanted.map((file) => remoteFile(`/${file.path}`, file.mode, file.text)),
              ],
              dropIn: remoteFile(DROP_IN, 0o644, dropIn.text),
              tryCertificate: () =>
                tryCertificate(pool, target, { principal: `gf-${podId}`, ca, podClock: seen.clock }),
              ...options,
            };
          },
        });
      } finally {
        await pool.close();
      }
    });
  });
}
