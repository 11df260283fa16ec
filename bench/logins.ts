/** People on the bench's pods with the real ssh. */
import { MEMBER, OFFICER } from "../server/demo/people.ts";
import type { Server } from "../tests/support/server_process.ts";
import { newKey, publicLineOf, saveCertificate } from "../tests/support/ssh_client.ts";
import { must, type PeerTarget, sshArguments } from "./file_peers.ts";
import type { BenchWorld } from "./world.ts";

let keys = 0;

/** A certificate for a pod, got as any client gets it. */
export async function certificateFor(
  world: BenchWorld,
  server: Server,
  token: string,
  podId: string,
): Promise<PeerTarget> {
  const key = await newKey(world.folder, `login-${++keys}`);
  const reply = await server.call("POST", `/api/compute/${world.org}/me/pods/${podId}/connect`, {
    token,
    body: { public_key: await publicLineOf(key) },
  });
  if (reply.status !== 200) throw new Error(`No certificate: ${reply.text}`);
  await saveCertificate(key, reply.json.ssh_info.certificate);
  return { at: reply.json.ssh_info, key };
}

/** The CLI token of the officer; the member's is the world's own. */
export async function officerCliToken(world: BenchWorld, server: Server): Promise<string> {
  const body = { kind: "cli", discord_id: OFFICER.id };
  const reply = await server.operator("POST", `/api/compute/${world.org}/tokens`, body);
  if (reply.status !== 201) throw new Error(`No token: ${reply.text}`);
  return reply.json.token;
}

export const MEMBER_ID = MEMBER.id;

/** Connections that stay: each is on when it has printed a line. */
export interface Connections {
  /** Resolves when the last one has ended, with `performance.now()` of that moment. */
  readonly allEnded: Promise<number>;
  /** Ends those that are left. */
  close(): Promise<void>;
}

export async function openConnections(target: PeerTarget, count: number): Promise<Connections> {
  const children: Deno.ChildProcess[] = [];
  // A few at a time: sshd turns people away who come all at once.
  for (let opened = 0; opened < count; opened += 5) {
    await Promise.all(
      Array.from({ length: Math.min(5, count - opened) }, async () => {
        const child = new Deno.Command("ssh", {
          args: [...sshArguments(target), "-tt", "echo on; exec sleep 3600"],
          stdin: "null",
          stdout: "piped",
          stderr: "null",
        }).spawn();
        children.push(child);
        const reader = child.stdout.getReader();
        if ((await reader.read()).done) throw new Error("A connection ended before it was on");
        await reader.cancel();
      }),
    );
  }
  const ended = Promise.all(children.map((child) => child.status)).then(() => performance.now());
  return {
    allEnded: ended,
    async close() {
      for (const child of children) {
        try {
          child.kill("SIGKILL");
        } catch (error) {
          if (!(error instanceof TypeError && /already terminated/.test(error.message))) throw error;
        }
      }
      await ended;
    },
  };
}

/** An `ssh` that is logged in already, so that a command on it is timed without the login. */
export async function openMultiplexed(
  target: PeerTarget,
  socket: string,
): Promise<(command: string) => Promise<string>> {
  const shared = ["-o", `ControlPath=${socket}`];
  const master = ["-o", "ControlMaster=yes", "-o", "ControlPersist=600", "-N", "-f"];
  const [destination, ...options] = sshArguments(target).toReversed();
  const of = (more: readonly string[]) => [...options.toReversed(), ...shared, ...more, destination!];
  // It goes to the background, so nothing of it may hold this program's output open.
  const { success } = await new Deno.Command("ssh", { args: of(master), stdin: "null", stdout: "null", stderr: "null" })
    .output();
  if (!success) throw new Error("The multiplexed connection was not made");
  return async (command) => await must("ssh", command === "" ? of(["-O", "exit"]) : [...of([]), command]);
}
