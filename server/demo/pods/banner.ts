/** Waiting for an SSH server to answer. */

/**
 * True when 127.0.0.1:`port` answers with an SSH banner. False when nobody listens or the connection closes without
 * one. Rejects with `signal`'s reason when that comes first.
 */
export async function answersWithBanner(port: number, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  let connection: Deno.TcpConn;
  try {
    connection = await Deno.connect({ hostname: "127.0.0.1", port });
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
  let closed = false;
  const close = () => {
    if (!closed) connection.close();
    closed = true;
  };
  signal.addEventListener("abort", close);
  try {
    let text = "";
    const bytes = new Uint8Array(256);
    while (text.length < 4096) {
      const count = await connection.read(bytes);
      if (count === null) return false;
      text += new TextDecoder("latin1").decode(bytes.subarray(0, count));
      if (/^SSH-2\.0-/m.test(text)) return true;
    }
    return false;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Deno.errors.ConnectionReset) return false;
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}
