/** One running container: a process tree in namespaces of its own, its log, and its end. */
import type { PodFolder } from "./pod_folder.ts";
import { descendantsOf } from "./process_tree.ts";

export interface Container {
  /** Everything the container wrote so far (sshd's log first of all); the oldest part is dropped beyond 256 KB. */
  log(): string;
  /** Resolves when the container and all its processes have ended. */
  readonly ended: Promise<void>;
  /** True after `ended` resolved. */
  hasEnded(): boolean;
  /** Host pids of the sshd that listens (not of its sessions). */
  listeners(): Promise<number[]>;
  /** Ends it and everything in it; resolves when all is gone. */
  stop(): Promise<void>;
}

const LOG_LIMIT = 256 * 1024;
/** After its input closed the supervisor needs milliseconds; a machine under load gets this many. */
const GRACE_MS = 5_000;

/** Starts a container. Its supervisor's standard input is held open here: when this program dies, it closes. */
export function startContainer(folder: PodFolder, hostname: string): Container {
  const child = new Deno.Command("unshare", {
    args: [
      ...["--pid", "--fork", "--kill-child=KILL", "bash", folder.supervise, folder.buildRoot],
      ...[folder.image, folder.environment, folder.volume, folder.root, hostname, folder.dropPrivileges],
    ],
    clearEnv: true,
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" },
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();

  let text = "";
  const reading = (async () => {
    for await (const part of child.stderr.pipeThrough(new TextDecoderStream())) {
      text = (text + part).slice(-LOG_LIMIT);
    }
  })();
  let over = false;
  const ended = Promise.all([child.status, reading]).then(() => {
    over = true;
  });
  let closing: Promise<void> | undefined;

  async function end(): Promise<void> {
    if (!over) {
      const late = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
      await closeInput();
      await ended;
      clearTimeout(late);
    } else {
      await closeInput();
    }
  }

  async function closeInput(): Promise<void> {
    try {
      await child.stdin.close();
    } catch (error) {
      // The container had ended by itself and took the other end of the pipe with it.
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
    }
  }

  return {
    log: () => text,
    ended,
    hasEnded: () => over,
    async listeners() {
      const all = await descendantsOf(child.pid);
      const byPid = new Map(all.map((one) => [one.pid, one]));
      return all.filter((one) => one.name === "sshd" && byPid.get(one.parent)?.name !== "sshd").map((one) => one.pid);
    },
    stop: () => closing ??= end(),
  };
}
