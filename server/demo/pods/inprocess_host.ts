/**
 * Pods as SSH servers inside this process, for machines without root or without sshd. Commands run as the user of the
 * program (as `nobody` when that is root) in the pod's folder. They are not isolated, there are no accounts, and SFTP,
 * scp, forwarding and full-screen programs are not there. It listens on 127.0.0.1 only.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { answersWithBanner } from "./banner.ts";
import type { PodAddress, PodHost, PodSpec } from "./host.ts";
import { killMarked } from "./marked_processes.ts";
import type { PodCommand } from "./pod_command.ts";
import { makeFolder, removeTree } from "./pod_folder.ts";
import { readTrust } from "./pod_login.ts";
import type { Runner } from "./pod_session.ts";
import { checkPodId, podEnvironment } from "./pod_spec.ts";
import { type PodSshServer, startPodSshServer } from "./pod_ssh_server.ts";
import { createTurns } from "../../turns.ts";

export interface InProcessHostOptions {
  /** Where the pods' folders are made; made itself and deleted again when it does not exist. */
  readonly folder: string;
  readonly log: Log;
  /** Decides whether a certificate is in force. */
  readonly clock: Clock;
}

interface Running {
  readonly server: PodSshServer;
  /** Stands in the environment of every process of the pod, and of no other. */
  readonly mark: string;
}

/** `nobody` and `nogroup` on Linux. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const START_MS = 10_000;

/** Makes the host; starts nothing yet. */
export function createInProcessHost(options: InProcessHostOptions): PodHost {
  const { folder, log, clock } = options;
  const running = new Map<string, Running>();
  /** Every pod that may have a folder. */
  const known = new Set<string>();
  const turns = createTurns();
  const account = Deno.uid() === 0 ? NOBODY : undefined;
  const madeFolder = makeFolder(folder, account ? 0o711 : 0o700);
  let closed = false;

  async function start(pod: PodSpec): Promise<PodAddress> {
    if (closed) throw new Error("The pod host is closed");
    if (running.has(pod.id)) throw new Error(`The pod ${pod.id} is running already`);
    const volume = join(folder, pod.id);
    known.add(pod.id);
    await makeVolume(volume, account);
    const mark = `ORGPODS_POD_MARK=${randomBytes(16).toString("hex")}`;
    const server = await startPodSshServer({
      trust: readTrust(pod.id, pod.env),
      runner: createRunner(volume, pod, mark, account),
      clock,
      log: (line) => log.info(line, { pod: pod.id }),
    });
    running.set(pod.id, { server, mark });
    const { port } = server;
    if (!await answersWithBanner(port, AbortSignal.timeout(START_MS))) {
      throw new Error(`The pod ${pod.id} did not answer`);
    }
    log.info("A pod has started", { pod: pod.id, port });
    return { host: "127.0.0.1", port };
  }

  async function stop(id: string, keepVolume: boolean): Promise<void> {
    const pod = running.get(id);
    running.delete(id);
    if (pod) {
      await pod.server.close();
      await killMarked(pod.mark);
    }
    if (keepVolume) return;
    await removeTree(join(folder, id));
    known.delete(id);
  }

  async function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    checkPodId(id);
    return await turns.take(id, work);
  }

  return {
    start: (pod) => inTurn(pod.id, () => start(pod)),
    stop: (id, { keepVolume }) => inTurn(id, () => stop(id, keepVolume)),
    remove: (id) => inTurn(id, () => stop(id, false)),
    async close() {
      closed = true;
      await turns.idle();
      await Promise.all([...known].map((id) => inTurn(id, () => stop(id, false))));
      if (madeFolder) await removeTree(folder);
    },
  };
}

/** Makes a pod's volume and makes sure that the account can work in it. Throws an Error otherwise. */
async function makeVolume(volume: string, account: Runner["account"]): Promise<void> {
  await Deno.mkdir(volume, { recursive: true, mode: 0o700 });
  if (!account) return;
  // The folder above is root's, so nothing else can have taken the volume's place.
  await Deno.chown(volume, account.uid, account.gid);
  const trial = new Deno.Command("/bin/sh", { args: ["-c", 'cd "$1"', "sh", volume], cwd: "/", ...account });
  if (!(await trial.output()).success) {
    throw new Error(`The user nobody cannot enter ${volume}; choose a folder that other users may pass through`);
  }
}

function createRunner(volume: string, pod: PodSpec, mark: string, account: Runner["account"]): Runner {
  const secret = /^(?:GODFATHER_.*|RUNPOD_.*|PUBLIC_KEY|JUPYTER_PASSWORD|HOME|PATH)$/;
  const visible = Object.entries(podEnvironment(pod)).filter(([name]) => !secret.test(name));
  const [markName = "", markValue = ""] = mark.split("=");
  return {
    account,
    volume,
    environmentFor(command: PodCommand) {
      return {
        ...Object.fromEntries(visible),
        PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
        SHELL: "/bin/sh",
        PS1: `${command.name ?? "root"}@${pod.id}$ `,
        ...(command.name === undefined ? {} : { GODFATHER_USER: command.name }),
        [markName]: markValue,
      };
    },
  };
}
