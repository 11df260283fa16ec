import assert from "node:assert/strict";
import { bridge, dial } from "../../admin/member_ssh/bridge.ts";
import { AppError } from "../../server/errors.ts";

/** Serves one connection by `serve`, and gives its port. */
function oneConnection(serve: (conn: Deno.TcpConn) => Promise<void>): { port: number; done: Promise<void> } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const done = (async () => {
    const conn = await listener.accept();
    listener.close();
    await serve(conn);
  })();
  return { port: listener.addr.port, done };
}

function stdioOf(input: ReadableStream<Uint8Array>) {
  const parts: Uint8Array[] = [];
  return {
    input: () => input,
    outBytes: (bytes: Uint8Array) => {
      parts.push(bytes.slice());
      return Promise.resolve(true);
    },
    out: () => new Blob(parts as BlobPart[]).arrayBuffer(),
  };
}

Deno.test("bridge carries bytes both ways and the end of the input, and ends with the other side", async () => {
  const sent = Uint8Array.from({ length: 1_000_000 }, (_, index) => index * index >> 3);
  const { port, done } = oneConnection(async (conn) => {
    // Answers only after the end of what came: the end must have been passed on.
    const all = new Uint8Array(await new Response(conn.readable).arrayBuffer());
    assert.deepEqual(all, sent);
  });
  const stdio = stdioOf(new Blob([sent]).stream());
  await bridge(stdio, await dial("127.0.0.1", port));
  await done;
  assert.equal((await stdio.out()).byteLength, 0);
});

Deno.test("bridge ends when the other side closes although the input goes on", async () => {
  const { port, done } = oneConnection(async (conn) => {
    await conn.write(new TextEncoder().encode("SSH-2.0-test\r\n"));
    conn.close();
  });
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
  const stdio = stdioOf(endless);
  await bridge(stdio, await dial("127.0.0.1", port));
  await done;
  assert.equal(new TextDecoder().decode(await stdio.out()), "SSH-2.0-test\r\n");
  assert.ok(isCancelled);
});

Deno.test("dial says that nobody answers when the port is closed", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  await assert.rejects(
    dial("127.0.0.1", port),
    (error) =>
      error instanceof AppError && error.code === "pod_unreachable" &&
      error.message === `The pod does not answer at 127.0.0.1:${port}: Connection refused`,
  );
});
