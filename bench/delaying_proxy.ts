/**
 * A TCP proxy that hands every byte on after half a round-trip time, each way, without a limit on bandwidth. Both sides
 * of a comparison go through the same one. `deno run -A bench/delaying_proxy.ts <host> <port> <round trip in ms>` prints
 * `proxy on <port>` and runs until it is ended.
 */

/** Bytes on their way in one direction; what is read faster than that waits in the kernel. */
const MAX_ON_WAY = 64 * 1024 * 1024;

async function main([host = "", port = "", roundTripMs = ""]: readonly string[]): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  console.log(`proxy on ${listener.addr.port}`);
  for await (const near of listener) {
    relay(near, { hostname: host, port: Number(port) }, Number(roundTripMs) / 2);
  }
}

/** Joins a connection with one of its own to the target; the end of either half ends the other. */
async function relay(near: Deno.TcpConn, target: Deno.ConnectOptions, delayMs: number): Promise<void> {
  const far = await Deno.connect(target);
  near.setNoDelay(true);
  far.setNoDelay(true);
  await Promise.allSettled([hand(near, far, delayMs), hand(far, near, delayMs)]);
  near.close();
  far.close();
}

async function hand(from: Deno.TcpConn, to: Deno.TcpConn, delayMs: number): Promise<void> {
  const queue: { readonly due: number; readonly bytes: Uint8Array | null }[] = [];
  let onWay = 0;
  let wake = Promise.withResolvers<void>();
  const changed = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const read = async () => {
    for (;;) {
      const buffer = new Uint8Array(262_144);
      const count = await readOrEnd(from, buffer);
      queue.push({ due: performance.now() + delayMs, bytes: count === null ? null : buffer.subarray(0, count) });
      changed();
      if (count === null) return;
      onWay += count;
      while (onWay > MAX_ON_WAY) await wake.promise;
    }
  };
  const write = async () => {
    for (;;) {
      const next = queue.shift();
      if (next === undefined) {
        await wake.promise;
        continue;
      }
      const early = next.due - performance.now();
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
      if (next.bytes === null) return await to.closeWrite();
      for (let sent = 0; sent < next.bytes.length;) sent += await to.write(next.bytes.subarray(sent));
      onWay -= next.bytes.length;
      changed();
    }
  };
  await Promise.all([read(), write()]);
}

/** Null at the end, also at one that is a reset. */
async function readOrEnd(from: Deno.TcpConn, buffer: Uint8Array): Promise<number | null> {
  try {
    return await from.read(buffer);
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BadResource) return null;
    throw error;
  }
}

await main(Deno.args);
