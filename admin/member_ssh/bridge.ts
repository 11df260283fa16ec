import { SECOND } from "../../server/clock.ts";
import { AppError } from "../../server/errors.ts";
import { within } from "../../server/within.ts";
import type { Stdio } from "../commands/stdio.ts";

const DIAL_MS = 15 * SECOND;
const CHUNK = 65_536;

/** Opens a TCP connection. Throws `pod_unreachable` when it is refused, leads nowhere, or takes longer than 15 s. */
export async function dial(host: string, port: number): Promise<Deno.TcpConn> {
  const unreachable = (reason: string) =>
    new AppError("pod_unreachable", `The pod does not answer at ${host}:${port}: ${reason}`);
  let isLate = false;
  const dialled = Deno.connect({ hostname: host, port }).then((conn) => {
    if (isLate) conn.close();
    return conn;
  }, (error) => {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    return unreachable(reason);
  });
  const conn = await within(dialled, DIAL_MS, () => {
    isLate = true;
    return unreachable(`no answer within ${DIAL_MS / SECOND} s`);
  });
  if (conn instanceof AppError) throw conn;
  conn.setNoDelay(true);
  conn.setKeepAlive(true);
  return conn;
}

/** What the system says of a connection that was not made; null for what is no failure of the network. */
function reasonOf(error: unknown): string | null {
  if (!(error instanceof Error) || !/\(os error \d+\)|failed to lookup address/.test(error.message)) return null;
  return error.message.replace(/ \(os error \d+\)[\s\S]*$/, "");
}

/** Joins standard input and output with a connection until the other side ends it, byte for byte, at the reader's pace. */
export async function bridge(stdio: Pick<Stdio, "input" | "outBytes">, conn: Deno.TcpConn): Promise<void> {
  const reader = stdio.input().getReader();
  const sending = send(reader, conn);
  try {
    const buffer = new Uint8Array(CHUNK);
    for (let n = await conn.read(buffer); n !== null; n = await conn.read(buffer)) {
      if (!await stdio.outBytes(buffer.subarray(0, n))) break;
    }
  } catch (error) {
    if (!isGone(error)) throw error;
  } finally {
    // First the connection: a write that waits for the other side would never end.
    conn.close();
    await reader.cancel();
    await sending;
  }
}

async function send(reader: ReadableStreamDefaultReader<Uint8Array>, conn: Deno.TcpConn): Promise<void> {
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      for (let at = 0; at < part.value.length;) at += await conn.write(part.value.subarray(at));
    }
    await conn.closeWrite();
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** The other side went away, or this one closed: ssh sees the end of its stream and says so. */
function isGone(error: unknown): boolean {
  const { BadResource, BrokenPipe, ConnectionReset, ConnectionAborted, Interrupted, NotConnected, TimedOut } =
    Deno.errors;
  return [BadResource, BrokenPipe, ConnectionReset, ConnectionAborted, Interrupted, NotConnected, TimedOut].some((
    kind,
  ) => error instanceof kind);
}
