/**
 * Three pods with a real sshd under a server that is killed: two of the org's own image, one of the original's. After each
 * step the server's own login and a member's are tried on every pod that runs.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { openDatabase } from "../../db/open.ts";
import { systemClock } from "../../server/clock.ts";
import type { PodHost, PodSpec } from "../../server/demo/pods/host.ts";
import { createSshdHost } from "../../server/demo/pods/sshd_host.ts";
import { createSecretBox, parseSecretKeys } from "../../server/identity/secret_box.ts";
import type { RotationView } from "../../server/key_rotation/status.ts";
import { silentLog } from "../../server/log.ts";
import { createOrgKeys } from "../../server/ssh/org_keys.ts";
import { run, ssh, withFolder, withHost } from "../demo/pods_support.ts";
import { type KillScene, withKillScene } from "../support/kill_scene.ts";
import { must, type Reply, untilTrue } from "../support/server_process.ts";
import { newKey, publicLineOf, saveCertificate, type SshInfo } from "../support/ssh_client.ts";

export const ORIGINAL_IMAGE = "original:1";
export const KEYS = "/api/operator/orgs/demo/keys";

export interface Pass {
  readonly key: string;
  readonly at: SshInfo;
}

export interface RotationScene extends KillScene {
  readonly folder: string;
  /** RunPod's ids by name. */
  readonly pods: ReadonlyMap<string, string>;
  /** An action on a pod, and the wait until RunPod shows it. */
  act(name: string, action: "start" | "stop" | "restart"): Promise<void>;
  /** The server's login and a member's new certificate work on each of these pods, at the first try. */
  everybodyIn(...names: string[]): Promise<void>;
  /** A new certificate of the member. */
  pass(name: string): Promise<Pass>;
  /** Whether ssh is let in with a pass at the pod's present address; never for a pod that does not answer. */
  isLetIn(pass: Pass, name: string): Promise<boolean>;
  rotation(kind: "backend" | "user_ca"): Promise<RotationView>;
  /** What is left on the pods, by name. */
  left(kind: "backend" | "user_ca"): Promise<Record<string, string | null>>;
}

/** A host that gives each image its own flavour. */
function mixedHost(folder: string): PodHost {
  const own = createSshdHost({ folder: join(folder, "own"), flavour: "orgpods", log: silentLog });
  const original = createSshdHost({ folder: join(folder, "original"), flavour: "original", log: silentLog });
  const originals = new Set<string>();
  const of = (id: string) => originals.has(id) ? original : own;
  return {
    start(pod: PodSpec) {
      if (pod.image === ORIGINAL_IMAGE) originals.add(pod.id);
      return of(pod.id).start(pod);
    },
    stop: (id, options) => of(id).stop(id, options),
    remove: (id) => of(id).remove(id),
    async close() {
      await own.close();
      await original.close();
    },
  };
}

export async function withRotationScene(use: (scene: RotationScene) => Promise<void>): Promise<void> {
  await withFolder((folder) =>
    withHost(mixedHost(folder), (podHost) =>
      withKillScene(async (scene) => {
        const pods = new Map<string, string>();
        for (const [name, image_name] of [["a", "own:1"], ["b", ORIGINAL_IMAGE], ["c", "own:1"]] as const) {
          const body = { name, image_name, use_cpu_only: true, is_public: true };
          pods.set(name, (await must(scene.call("POST", "/pods", body))).json.pod.id);
        }
        await use(sceneOver(scene, folder, pods));
      }, { podHost }))
  );
}

function sceneOver(scene: KillScene, folder: string, pods: ReadonlyMap<string, string>): RotationScene {
  let passes = 0;
  const idOf = (name: string): string => {
    const id = pods.get(name);
    assert.ok(id !== undefined, name);
    return id;
  };
  const podOf = async (name: string) => (await must(scene.call("GET", `/pods/${idOf(name)}`))).json.pod;
  /** Asks until the answer is good; what says that the pod refuses a key ends it at once. */
  const asked = (what: string, ask: () => Promise<Reply>): Promise<Reply> =>
    untilTrue(what, async () => {
      const answer = await ask();
      assert.doesNotMatch(answer.text, /refused the server's key|cannot be decrypted/, what);
      return answer.status === 200 ? answer : null;
    }, 40_000);
  const pass = async (name: string): Promise<Pass> => {
    const key = await newKey(folder, `pass-${++passes}`);
    const body = { public_key: await publicLineOf(key) };
    const answer = await asked(
      `the member gets a certificate for ${name}`,
      () => scene.asMember("POST", `/me/pods/${idOf(name)}/connect`, body),
    );
    await saveCertificate(key, answer.json.ssh_info.certificate);
    return { key, at: answer.json.ssh_info };
  };
  const rotation = async (kind: "backend" | "user_ca"): Promise<RotationView> =>
    (await must(scene.operator("GET", "/api/operator/orgs/demo/rotations"))).json.rotations.find((one: RotationView) =>
      one.kind === kind
    );
  const addressOf = (name: string) => {
    const { address } = scene.standins.runpod.pods.get(idOf(name));
    assert.ok(address !== null, name);
    return address;
  };
  return {
    ...scene,
    folder,
    pods,
    pass,
    rotation,
    async act(name, action) {
      const starts = scene.standins.runpod.pods.get(idOf(name)).containerStarts;
      await must(scene.call("POST", `/pods/${idOf(name)}/action`, { action }));
      const wanted = action === "stop" ? "EXITED" : "RUNNING";
      await untilTrue(`${name} is ${wanted} after ${action}`, async () => {
        const inside = scene.standins.runpod.pods.get(idOf(name));
        if (action !== "stop" && inside.containerStarts === starts) return null;
        return (await podOf(name)).status === wanted;
      }, 40_000);
    },
    async everybodyIn(...names) {
      for (const name of names) {
        await asked(
          `the server lists files of ${name}`,
          () => scene.call("GET", `/pods/${idOf(name)}/files?path=/root`),
        );
        const { key, at } = await pass(name);
        const { code, err } = await ssh(at, key, { command: "true" });
        assert.equal(code, 0, `the member gets into ${name}: ${err}`);
      }
    },
    async isLetIn({ key }, name) {
      const address = addressOf(name);
      const { code, err } = await ssh(address, key, { command: "true" });
      if (code !== 0) assert.match(err, /Permission denied/, "it is the pod that refuses");
      return code === 0;
    },
    async left(kind) {
      return Object.fromEntries((await rotation(kind)).pods.map((pod) => [pod.name, pod.todo ?? pod.left]));
    },
  };
}

/** The present backend private key, in a file that ssh takes. */
export async function saveBackendKey({ dir, secretsKey, folder }: RotationScene, name: string): Promise<string> {
  const db = openDatabase(dir.database);
  try {
    const keys = createOrgKeys(db, createSecretBox(parseSecretKeys(secretsKey)), systemClock);
    const path = `${folder}/${name}`;
    await Deno.writeTextFile(path, keys.backendPrivateKey(1), { mode: 0o600 });
    const { code } = await run("ssh-keygen", ["-y", "-f", path]);
    assert.equal(code, 0);
    return path;
  } finally {
    db.close();
  }
}
