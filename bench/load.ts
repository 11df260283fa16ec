import { cpuMilliseconds } from "./processes.ts";
import { startProgram } from "../tests/support/process.ts";

/** What one process of load does. The same plan but for port and requests is used for both sides of a comparison. */
export interface LoadPlan {
  readonly port: number;
  /** Kept-alive connections, each with one request under way at a time. */
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Whole HTTP requests as text; each connection takes the next one in turn. */
  readonly requests: readonly string[];
}

export interface LoadResult {
  readonly perSecond: number;
  /** CPU time of the server for one request, in microseconds: less shaken by other work on the machine. */
  readonly cpuMicroseconds: number;
}

/** Puts load on the server with process id `pid` from a process of its own. Fails unless every answer is a 200. */
export async function load(plan: LoadPlan, pid: number): Promise<LoadResult> {
  const program = startProgram("bench/load_program.ts");
  try {
    await program.send(JSON.stringify(plan));
    await program.line(/measuring/);
    const before = cpuMilliseconds(pid);
    const [, answers, ms] = await program.line(/answers (\d+) ms ([\d.]+)/) as unknown as [string, string, string];
    const cpuMs = cpuMilliseconds(pid) - before;
    await program.ended();
    return { perSecond: Number(answers) / Number(ms) * 1000, cpuMicroseconds: cpuMs * 1000 / Number(answers) };
  } finally {
    await program.close();
  }
}

/** A request as it goes over the wire. */
export function requestText(
  method: string,
  path: string,
  token: string,
  body?: unknown,
): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const about = body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n${about}\r\n${text}`;
}
