import { fileURLToPath } from "node:url";
import type { BenchWorld } from "./world.ts";
import { cpuMilliseconds } from "./processes.ts";

/** `orgpods serve` as a process of its own, over the world's data directory. */
export interface Serving {
  readonly pid: number;
  readonly port: number;
  /** From before the process was made to its first answer, in ms. */
  readonly firstAnswerMs: number;
  /** CPU time of the process up to then, in ms. */
  readonly cpuMs: number;
  stop(): Promise<void>;
}

const PATIENCE_MS = 30_000;

/** Starts the server and asks `/health` until it answers, a thousand times a second. */
export async function startServing(world: BenchWorld): Promise<Serving> {
  const port = freePort();
  const main = fileURLToPath(new URL("../main.ts", import.meta.url));
  const begun = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-check", main, "--data-dir", world.dir.path],
      ...["serve", "--port", String(port), "--allow-test-upstreams"],
    ],
    env: { ...world.env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let ended = false;
  child.status.then(() => ended = true);
  const stop = async () => {
    if (!ended) child.kill("SIGTERM");
    await child.status;
  };
  while (!(await answers(port))) {
    if (ended || performance.now() - begun > PATIENCE_MS) {
      await stop();
      throw new Error(ended ? "The server ended at its start" : "The server did not answer");
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  const firstAnswerMs = performance.now() - begun;
  return { pid: child.pid, port, firstAnswerMs, cpuMs: cpuMilliseconds(child.pid), stop };
}

async function answers(port: number): Promise<boolean> {
  let conn: Deno.TcpConn;
  try {
    conn = await Deno.connect({ hostname: "127.0.0.1", port });
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
  try {
    await conn.write(new TextEncoder().encode("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"));
    const buffer = new Uint8Array(1_024);
    const read = await conn.read(buffer) ?? 0;
    return new TextDecoder().decode(buffer.subarray(0, read)).startsWith("HTTP/1.1 200 ");
  } finally {
    conn.close();
  }
}

function freePort(): number {
  const probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr;
  probe.close();
  return port;
}
