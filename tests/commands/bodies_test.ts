/** Bodies of the API client, both ways, on both of its ways to a server. */
import assert from "node:assert/strict";
import { connectRemote } from "../../admin/client/remote.ts";
import { Refusal } from "../../admin/client/refusal.ts";
import { NoAnswer, nodeFetch } from "../../admin/client/node_fetch.ts";

const BLOCK = 100_000;
const MANY = 1_000;
/** More than what lies in the sockets and in one or two parts, and much less than the whole. */
const A_FEW_MEGABYTES = 20_000_000;

async function withSocket(
  answer: (request: Request) => Promise<Response> | Response,
  use: (path: string) => Promise<void>,
) {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  const path = `${folder}/s`;
  const server = Deno.serve({ path, onListen: () => {} }, answer);
  try {
    await use(path);
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("nodeFetch carries method, path, headers and bodies both ways", async () => {
  await withSocket(async (request) => {
    const { pathname, search } = new URL(request.url);
    const facts = [request.method, pathname + search, request.headers.get("x-a"), await request.text()];
    return Response.json(facts, { status: 409, headers: { "x-b": "2" } });
  }, async (path) => {
    const body = "é".repeat(100_000);
    const send = nodeFetch({ socketPath: path });
    const answer = await send(
      new Request("http://operator/a/b?c=d", { method: "PATCH", headers: { "x-a": "1" }, body }),
    );
    assert.equal(answer.status, 409);
    assert.equal(answer.headers.get("x-b"), "2");
    assert.deepEqual(await answer.json(), ["PATCH", "/a/b?c=d", "1", body]);
  });
});

Deno.test("nodeFetch throws NoAnswer when nobody listens, when the answer is cut off, and when it is late", async () => {
  const noAnswer = (isLate: boolean) => (error: unknown) => error instanceof NoAnswer && error.isLate === isLate;
  const request = () => new Request("http://operator/");
  await assert.rejects(nodeFetch({ socketPath: "/nonexistent/socket" })(request()), noAnswer(false));
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  const listener = Deno.listen({ transport: "unix", path: `${folder}/s` });
  const half = (async () => {
    const first = await listener.accept();
    await first.read(new Uint8Array(1_000));
    await first.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"));
    first.close();
    return await listener.accept();
  })();
  try {
    await assert.rejects((await nodeFetch({ socketPath: `${folder}/s` })(request())).text(), noAnswer(false));
    await assert.rejects(nodeFetch({ socketPath: `${folder}/s` }, { answerMs: 50 })(request()), noAnswer(true));
  } finally {
    (await half).close();
    listener.close();
    await Deno.remove(folder, { recursive: true });
  }
});

type Send = (request: Request) => Promise<Response>;

/** Every way to a server in this process, one after the other; `way` names them. */
async function onEveryWay(
  answer: (request: Request) => Promise<Response> | Response,
  use: (send: Send, base: string, way: string) => Promise<void>,
): Promise<void> {
  await withSocket(answer, (path) => use(nodeFetch({ socketPath: path }), "http://operator", "socket"));
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  const url = `http://127.0.0.1:${server.addr.port}`;
  try {
    const token = "a-token-of-an-officer";
    await use(connectRemote({ url, token }).fetch, url, "address");
    await use(connectRemote({ url, token, isProxied: true }).fetch, url, "the runtime's own way");
  } finally {
    await server.shutdown();
  }
}

/** Blocks that are made when they are asked for. */
function blocks(count: number) {
  let made = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (made === count) return controller.close();
      made++;
      controller.enqueue(new Uint8Array(BLOCK).fill(made % 251));
    },
  }, { highWaterMark: 0 });
  return { body, made: () => made * BLOCK };
}

const upload = (base: string, body: ReadableStream<Uint8Array>) =>
  new Request(`${base}/up`, { method: "PUT", body, headers: { "content-type": "application/octet-stream" } });

Deno.test("nodeFetch sends a body with the length it is said to have, to an address too", async () => {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { byteLength } = await request.arrayBuffer();
    const names = ["content-length", "transfer-encoding", "host"];
    return Response.json([byteLength, ...names.map((name) => request.headers.get(name))]);
  });
  try {
    const base = `http://127.0.0.1:${server.addr.port}`;
    const headers = { "content-type": "application/octet-stream", "content-length": String(3 * BLOCK) };
    const request = new Request(base, { method: "PUT", body: blocks(3).body, headers });
    const answer = await (await nodeFetch("address")(request)).json();
    assert.deepEqual(answer, [3 * BLOCK, String(3 * BLOCK), null, `127.0.0.1:${server.addr.port}`]);
  } finally {
    await server.shutdown();
  }
});

Deno.test("nodeFetch says whether an answer had begun, and why there was none", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const cutting = (async () => {
    using conn = await listener.accept();
    await conn.read(new Uint8Array(1_000));
    await conn.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"));
  })();
  const half = await nodeFetch("address")(new Request(url));
  await assert.rejects(half.text(), (error) => error instanceof NoAnswer && error.hasBegun);
  await cutting;
  listener.close();
  await assert.rejects(nodeFetch("address")(new Request(url)), (error) => {
    return error instanceof NoAnswer && !error.hasBegun && /ECONNREFUSED/.test(String(error.cause));
  });
});

Deno.test("a body is sent as the server takes it, and whole", async () => {
  for (const count of [0, 1, MANY]) {
    const started = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    await onEveryWay(async (request) => {
      let bytes = 0;
      let sum = 0;
      started.resolve();
      await goOn.promise;
      for await (const part of request.body ?? new Blob([]).stream()) {
        bytes += part.length;
        for (let at = 0; at < part.length; at += 1_000) sum += part[at]!;
      }
      return Response.json({ bytes, isSent: sum > 0 });
    }, async (send, base, way) => {
      const source = blocks(count);
      const answer = send(upload(base, source.body));
      await started.promise;
      assert(source.made() < A_FEW_MEGABYTES, `${way}: ${source.made()} bytes were taken from the source`);
      goOn.resolve();
      assert.deepEqual(await (await answer).json(), { bytes: count * BLOCK, isSent: count > 0 }, way);
    });
  }
});

Deno.test("an answer is read as it is taken, and whole", async () => {
  let source = blocks(0);
  await onEveryWay(() => {
    source = blocks(MANY);
    return new Response(source.body);
  }, async (send, base, way) => {
    const answer = await send(new Request(`${base}/down`));
    let bytes = 0;
    for await (const part of answer.body!) {
      bytes += part.length;
      assert(source.made() - bytes < A_FEW_MEGABYTES, `${way}: ${source.made() - bytes} bytes were made ahead`);
    }
    assert.equal(bytes, MANY * BLOCK, way);
  });
});

Deno.test("a refusal that comes before the body was taken is the answer", async () => {
  await onEveryWay(() => Response.json({ error: "Too large" }, { status: 413 }), async (send, base, way) => {
    const source = blocks(MANY);
    const answer = await send(upload(base, source.body));
    assert.equal(answer.status, 413, way);
    assert.deepEqual(await answer.json(), { error: "Too large" }, way);
    assert(source.made() < A_FEW_MEGABYTES, `${way}: ${source.made()} bytes were sent`);
  });
});

Deno.test("an answer that breaks off fails and is never taken for a whole one", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  const head = new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf");
  const unix = Deno.listen({ transport: "unix", path: `${folder}/s` });
  const tcp = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${tcp.addr.port}`;
  const cutting = [unix, tcp].map(async (listener) => {
    const conn = await listener.accept();
    await conn.read(new Uint8Array(10_000));
    await conn.write(head);
    conn.close();
  });
  try {
    const bySocket = await nodeFetch({ socketPath: `${folder}/s` })(new Request("http://operator/"));
    await assert.rejects(bySocket.text(), NoAnswer);
    const byAddress = await connectRemote({ url, token: "a-token-of-an-officer" }).fetch(new Request(`${url}/`));
    await assert.rejects(
      byAddress.text(),
      (error) => error instanceof Refusal && /went away before/.test(error.message),
    );
  } finally {
    await Promise.all(cutting);
    unix.close();
    tcp.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a source that fails fails the request", async () => {
  await onEveryWay(async (request) => new Response(await request.text()), async (send, base, way) => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(10)),
      pull: () => Promise.reject(new Error("The disk is gone")),
    }, { highWaterMark: 0 });
    await assert.rejects(send(upload(base, body)), way === "the runtime's own way" ? Error : /The disk is gone/, way);
  });
});
