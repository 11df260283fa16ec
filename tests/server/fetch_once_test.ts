import assert from "node:assert/strict";
import { createOutward } from "../../server/fetch_once.ts";

/** Answers `whole` requests on a connection, then reads one more and cuts the connection without an answer. */
function cuttingServer(whole: number) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: string[] = [];
  const kept = new Set<Deno.Conn>();
  const serve = async (connection: Deno.Conn) => {
    kept.add(connection);
    const buffer = new Uint8Array(64 * 1024);
    for (let count = 0;; count++) {
      const size = await connection.read(buffer).catch(() => null); // Closed by the test's end.
      if (size === null) break;
      requests.push(new TextDecoder().decode(buffer.subarray(0, size)).split(" ")[0]!);
      if (count >= whole) break;
      await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"));
    }
    if (kept.delete(connection)) connection.close();
  };
  const served: Promise<void>[] = [];
  const running = (async () => {
    for await (const connection of listener) served.push(serve(connection));
    await Promise.all(served);
  })();
  const { port } = listener.addr as Deno.NetAddr;
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    async close() {
      listener.close();
      for (const connection of kept) connection.close();
      kept.clear();
      await running;
    },
  };
}

Deno.test("the outward fetch sends a POST once though a connection that was kept open would be cut", async () => {
  const server = cuttingServer(1);
  const outward = createOutward();
  try {
    assert.equal(await (await outward.fetch(server.url)).text(), "ok");
    assert.equal(await (await outward.fetch(server.url, { method: "POST", body: "1" })).text(), "ok");
    assert.equal(await (await outward.fetch(server.url, { method: "POST", body: "2" })).text(), "ok");
    // On a kept connection a POST would be cut, and Deno would send it again by itself.
    assert.deepEqual(server.requests, ["GET", "POST", "POST"]);
  } finally {
    outward.close();
    await server.close();
  }
});
