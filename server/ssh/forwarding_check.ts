/**
 * May members get port forwarding on this pod? Members log in as root with a forced command, so a forwarded Unix
 * socket acts as root. It may only be given where sshd refuses Unix sockets, now and after the next restart.
 */
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Client } from "ssh2";
import { SECOND } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import { limitCall, orAborted } from "./deadline.ts";
import { startCommand } from "./exec.ts";
import type { PodTarget, SshPool } from "./pool.ts";

export interface ForwardingVerdict {
  /**
   * - `refused`: image, configuration and running daemon all refuse Unix-socket forwarding.
   * - `allowed`: one of them does not; `reason` says which.
   * - `unknown`: it could not be asked.
   */
  readonly verdict: "refused" | "allowed" | "unknown";
  /** One sentence for officers. */
  readonly reason: string;
}

export interface ForwardingCheckOptions {
  readonly deadlineMs: number;
  /** Made by the pod image's set-up; says that the image itself carries the setting. */
  readonly markerFile?: string;
  /** The configuration sshd runs with, when it is not sshd's default file. */
  readonly sshdConfig?: string;
}

const MARKER_FILE = "/etc/godfather/orgpods-image";
const MARKER_KEY = "allow-stream-local-forwarding";
/** Time for taking back a socket that was granted, also when the call's own time is over. */
const CLEAN_UP_MS = 4 * SECOND;

type Answer = "no" | { readonly otherwise: string } | { readonly unknown: string };

/** A word of a shell command, quoted. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * Prints three parts, each after its own line: the marker file's beginning, sshd's effective setting (`-C`: else a
 * Match block is not seen), and whether a socket can be made at `socketPath` at all.
 */
function script(lines: readonly string[], markerFile: string, sshdConfig: string | undefined, socketPath: string) {
  const sshd = `sshd -T${sshdConfig === undefined ? "" : ` -f ${quoted(sshdConfig)}`}`;
  const path = quoted(socketPath);
  return `PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
echo ${lines[0]}
head -c 200 ${quoted(markerFile)} 2>/dev/null
echo
echo ${lines[1]}
${sshd} -C user=root,host=localhost,addr=127.0.0.1 2>/dev/null | grep -i '^allowstreamlocalforwarding '
echo ${lines[2]}
mkdir ${path} && rmdir ${path} && echo free
echo ${lines[3]}
`;
}

/** The text between the marker lines, or undefined when one is missing: then the script did not run to its end. */
function parts(output: string, lines: readonly string[]): string[] | undefined {
  const places = lines.map((line) => output.indexOf(`${line}\n`));
  if (places.some((place, i) => place < 0 || (i > 0 && place < places[i - 1]!))) return undefined;
  return places.slice(0, -1).map((place, i) => output.slice(place + lines[i]!.length + 1, places[i + 1]));
}

function markerSays(text: string): Answer {
  const values = text.split("\n").map((line) => line.trim().split(/\s+/)).filter(([key]) => key === MARKER_KEY);
  if (values.length === 1 && values[0]!.length === 2 && values[0]![1] === "no") return "no";
  return { otherwise: "The pod's image does not say that its SSH server refuses Unix-socket forwarding." };
}

function sshdSays(text: string): Answer {
  const values = text.trim().split("\n").filter((line) => line !== "");
  if (values.length === 0) return { unknown: "The pod's sshd did not tell its settings (sshd -T)." };
  if (values.every((line) => /^allowstreamlocalforwarding no$/i.test(line.trim()))) return "no";
  return {
    otherwise: `The configuration of the pod's SSH server allows Unix-socket forwarding (${shown(values[0])}).`,
  };
}

/** Asks for a reverse forwarding. ssh2 tells a refusal from other trouble only by its message. */
async function daemonSays(client: Client, socketPath: string): Promise<Answer> {
  const refusal = await new Promise<Error | undefined>((resolve) => {
    client.openssh_forwardInStreamLocal(socketPath, (error?: Error | null) => resolve(error ?? undefined));
  });
  if (refusal?.message.startsWith("Unable to bind to ")) return "no";
  if (refusal) return { unknown: `The pod's SSH server could not be asked: ${shown(refusal.message)}.` };

  const leftover = await takeBack(client, socketPath).then(() => "", (error) => {
    return ` The check's socket ${socketPath} may be left there (${shown(String(error))}).`;
  });
  return { otherwise: `The pod's running SSH server allows Unix-socket forwarding.${leftover}` };
}

/** Ends a granted forwarding and removes its socket, which sshd leaves behind. Also when the call's time is over. */
async function takeBack(client: Client, socketPath: string): Promise<void> {
  const limit = limitCall(CLEAN_UP_MS);
  const refuse = (_info: unknown, _accept: unknown, reject: () => void) => reject();
  client.on("unix connection", refuse);
  try {
    const ended = new Promise<void>((resolve, reject) => {
      client.openssh_unforwardInStreamLocal(socketPath, (error) => error ? reject(error) : resolve());
    });
    const removed = startCommand(client, `rm -f -- ${quoted(socketPath)}`, { signal: limit.signal }).result;
    await orAborted(Promise.all([ended, removed]), limit.signal);
  } finally {
    client.off("unix connection", refuse);
    limit.end();
  }
}

async function ask(client: Client, signal: AbortSignal, options: ForwardingCheckOptions): Promise<ForwardingVerdict> {
  const id = crypto.randomUUID();
  const socketPath = `/run/orgpods-${id}`;
  const lines = ["image", "sshd", "path", "end"].map((part) => `-- ${part} ${id}`);
  const stdin = script(lines.map(quoted), options.markerFile ?? MARKER_FILE, options.sshdConfig, socketPath);
  const { stdout } = await startCommand(client, "exec /bin/sh -s", { stdin, signal }).result;
  const [image, sshd, path] = parts(new TextDecoder().decode(stdout), lines) ?? [];
  if (image === undefined || sshd === undefined || path === undefined) {
    return { verdict: "unknown", reason: "The check did not run to its end on the pod." };
  }

  const answers = [await daemonSays(client, socketPath), sshdSays(sshd), markerSays(image)];
  for (const answer of answers) {
    if (answer !== "no" && "otherwise" in answer) return { verdict: "allowed", reason: answer.otherwise };
  }
  for (const answer of answers) {
    if (answer !== "no" && "unknown" in answer) return { verdict: "unknown", reason: answer.unknown };
  }
  if (path.trim() !== "free") {
    return { verdict: "unknown", reason: "No socket can be made under /run on the pod, so its refusal says nothing." };
  }
  return { verdict: "refused", reason: "The pod's image and its SSH server refuse Unix-socket forwarding." };
}

/**
 * Asks image, configuration and running daemon over the backend's connection. The daemon answers for the settings it
 * had when the connection was made: after a reload, `pool.drop` the pod first. The answer holds for this start of the
 * container. Unreachable pods, broken connections and a passed deadline are `unknown`; a changed host key and an
 * unreadable backend key are thrown.
 */
export async function checkForwarding(
  pool: SshPool,
  target: PodTarget,
  options: ForwardingCheckOptions,
): Promise<ForwardingVerdict> {
  try {
    return await pool.withClient(target, (client, signal) => ask(client, signal, options), {
      deadlineMs: options.deadlineMs,
    });
  } catch (error) {
    if (error instanceof AppError && (error.code === "pod_unreachable" || error.code === "pod_command_failed")) {
      return { verdict: "unknown", reason: `${error.message}.` };
    }
    throw error;
  }
}
