/**
 * Pods as real sshd servers: each in private mount, pid, ipc, uts and user namespaces with a root file system of its
 * own, listening on a fresh port of 127.0.0.1 (the network alone is the machine's). Needs root and a Debian with
 * openssh-server, util-linux and passwd.
 */
import { join } from "node:path";
import type { Log } from "../../log.ts";
import { answersWithBanner } from "./banner.ts";
import { type Container, startContainer } from "./container.ts";
import { freePort } from "./free_port.ts";
import type { PodAddress, PodHost, PodSpec } from "./host.ts";
import type { ImageFlavour } from "./image_files.ts";
import { keepOnlyVolume, makeFolder, preparePodFolder, removeTree } from "./pod_folder.ts";
import { checkPodId } from "./pod_spec.ts";
import { createTurns } from "../../turns.ts";

export interface SshdHostOptions {
  /** Where the pods' folders are made; made itself (0700) and deleted again when it does not exist. */
  readonly folder: string;
  readonly flavour: ImageFlavour;
  readonly log: Log;
  /** Chooses the port of each start; for tests of a port that is taken. */
  readonly choosePort?: () => number;
}

/** A PodHost with handles for tests. */
export interface SshdHost extends PodHost {
  /** Makes a pod hang: connections open, but no banner comes. */
  pause(id: string): Promise<void>;
  resume(id: string): Promise<void>;
  /** What the pod's sshd logged since its last start; empty for a pod that never started. */
  logOf(id: string): string;
}

const START_MS = 30_000;
const ATTEMPTS = 5;

/** Makes the host; starts nothing yet. */
export function createSshdHost(options: SshdHostOptions): SshdHost {
  const { folder, flavour, log, choosePort = freePort } = options;
  const containers = new Map<string, Container>();
  /** Every pod that may have a folder. */
  const known = new Set<string>();
  const turns = createTurns();
  const madeFolder = makeFolder(folder, 0o700);
  const folderOf = (id: string) => join(folder, id);
  let closed = false;

  async function startOnce(pod: PodSpec, signal: AbortSignal): Promise<number | "port taken"> {
    const port = choosePort();
    const paths = await preparePodFolder(folderOf(pod.id), pod, flavour, port);
    if (closed) throw new Error("The pod host is closed");
    const container = startContainer(paths, pod.id);
    containers.set(pod.id, container);
    try {
      // The log comes before the banner: on a port that was taken meanwhile another pod's sshd would answer.
      await until(() => container.hasEnded() || bindingIn(container.log()), signal);
      if (bindingIn(container.log()) === "taken") {
        await container.stop();
        return "port taken";
      }
      if (container.hasEnded() || !await answersWithBanner(port, signal)) {
        throw new Error("It ended before it answered");
      }
      return port;
    } catch (error) {
      await container.stop();
      const tail = container.log().trim().split("\n").slice(-5).join(" | ");
      throw new Error(`The pod ${pod.id} did not start: ${tail}`, { cause: error });
    }
  }

  async function start(pod: PodSpec): Promise<PodAddress> {
    if (closed) throw new Error("The pod host is closed");
    if (containers.get(pod.id)?.hasEnded() === false) throw new Error(`The pod ${pod.id} is running already`);
    known.add(pod.id);
    const signal = AbortSignal.timeout(START_MS);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const port = await startOnce(pod, signal);
      if (port === "port taken") continue;
      log.info("A pod has started", { pod: pod.id, port });
      return { host: "127.0.0.1", port };
    }
    throw new Error(`The pod ${pod.id} found no free port in ${ATTEMPTS} attempts`);
  }

  async function stop(id: string, keepVolume: boolean): Promise<void> {
    await containers.get(id)?.stop();
    await (keepVolume ? keepOnlyVolume(folderOf(id)) : removeTree(folderOf(id)));
  }

  async function remove(id: string): Promise<void> {
    await stop(id, false);
    containers.delete(id);
    known.delete(id);
  }

  async function signalListeners(id: string, signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
    const pids = await containers.get(id)?.listeners() ?? [];
    if (pids.length === 0) throw new Error(`The pod ${id} is not running`);
    for (const pid of pids) Deno.kill(pid, signal);
  }

  // Async, so that a malformed id rejects as every other failure does.
  async function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    checkPodId(id);
    return await turns.take(id, work);
  }

  return {
    start: (pod) => inTurn(pod.id, () => start(pod)),
    stop: (id, { keepVolume }) => inTurn(id, () => stop(id, keepVolume)),
    remove: (id) => inTurn(id, () => remove(id)),
    pause: (id) => inTurn(id, () => signalListeners(id, "SIGSTOP")),
    resume: (id) => inTurn(id, () => signalListeners(id, "SIGCONT")),
    logOf: (id) => containers.get(id)?.log() ?? "",
    async close() {
      closed = true;
      // Starts under way see their container end.
      await Promise.all([...containers.values()].map((container) => container.stop()));
      await turns.idle();
      for (const id of [...known]) await remove(id);
      if (madeFolder) await removeTree(folder);
    },
  };
}

/** What sshd's log says about its port; undefined while it says nothing. */
function bindingIn(log: string): "bound" | "taken" | undefined {
  if (log.includes("Server listening on 127.0.0.1 port ")) return "bound";
  return log.includes("Cannot bind any address") ? "taken" : undefined;
}

async function until(condition: () => unknown, signal: AbortSignal): Promise<void> {
  while (!condition()) {
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
