/** Chooses what runs the demo's pods on this machine. */
import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import { describeError, type Log } from "../../log.ts";
import type { PodHost } from "./host.ts";
import type { ImageFlavour } from "./image_files.ts";
import { createInProcessHost } from "./inprocess_host.ts";
import { createSshdHost } from "./sshd_host.ts";

export interface ChooseOptions {
  /** Where the pods' folders are made. */
  readonly folder: string;
  readonly log: Log;
  readonly clock: Clock;
  readonly flavour: ImageFlavour;
}

export interface ChosenPodHost {
  readonly host: PodHost;
  readonly kind: "sshd" | "in-process";
  /** One sentence for the person who runs the demo. */
  readonly why: string;
}

const FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
const TOOLS = ["unshare", "setpriv", "pivot_root", "mount", "useradd", "su", "flock", "ssh-keygen", "bash", "ps"];
/** At the paths the image's own files name. */
const FILES = ["/usr/sbin/sshd", "/usr/lib/openssh/sftp-server"];

/** Real sshd pods where this machine can have them (root, the tools, and a trial pod that answers), else the SSH server
 * inside the process. */
export async function choosePodHost(options: ChooseOptions): Promise<ChosenPodHost> {
  const { folder, log, clock, flavour } = options;
  const obstacle = await obstacleToSshd(options);
  if (obstacle === undefined) {
    const why = "Pods run a real sshd in private namespaces.";
    return { host: createSshdHost({ folder, flavour, log }), kind: "sshd", why };
  }
  const limits = "Pods run inside this program, without accounts, SFTP and isolation";
  return { host: createInProcessHost({ folder, log, clock }), kind: "in-process", why: `${limits}: ${obstacle}.` };
}

/** Why real pods cannot be had, as a clause; undefined when they can. */
async function obstacleToSshd({ folder, log, flavour }: ChooseOptions): Promise<string | undefined> {
  if (Deno.build.os !== "linux") return "real ones need Linux";
  if (Deno.uid() !== 0) return "real ones need root";
  const missing = [
    ...TOOLS.filter((tool) => !FOLDERS.some((path) => isFile(join(path, tool)))),
    ...FILES.filter((path) => !isFile(path)),
  ];
  if (missing.length > 0) return `real ones need ${missing.join(", ")}`;
  const trial = createSshdHost({ folder: `${folder}.trial`, flavour, log });
  try {
    await trial.start({ id: "trial", image: "trial", env: {} });
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    log.warn("A trial pod did not start", { error: describeError(error) });
    return "a trial pod in namespaces of its own did not start here";
  } finally {
    await trial.close();
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}
