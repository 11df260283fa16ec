import assert from "node:assert/strict";
import { connectRemote } from "../../admin/client/remote.ts";
import { NoAnswer, nodeFetch } from "../../admin/client/node_fetch.ts";

/** A server that answers nothing until the caller goes away. */
async function withHanging(
  options: Deno.ServeTcpOptions | Deno.ServeUnixOptions,
  use: (address: Deno.Addr) => Promise<void>,
) {
  const gone = Promise.withResolvers<Response>();
  const handler = (request: Request) => {
    request.signal.addEventListener("abort", () => gone.resolve(new Response(null)));
    return gone.promise;
  };
  const server = "path" in options
    ? Deno.serve({ ...options, onListen: () => {} }, handler)
    : Deno.serve({ ...options, onListen: () => {} }, handler);
  try {
    await use(server.addr);
  } finally {
    gone.resolve(new Response(null));
    await server.shutdown();
  }
}

Deno.test("a request over the socket ends when its signal is aborted", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orgpods-test-" });
  try {
    await withHanging({ path: `${folder}/s` }, async () => {
      const stop = new AbortController();
      const call = nodeFetch({ socketPath: `${folder}/s` })(new Request("http://operator/x", { signal: stop.signal }));
      stop.abort();
      await assert.rejects(call, NoAnswer);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a request to a server elsewhere ends when its signal is aborted", async () => {
  await withHanging({ hostname: "127.0.0.1", port: 0 }, async (address) => {
    const stop = new AbortController();
    const url = `http://127.0.0.1:${(address as Deno.NetAddr).port}`;
    const call = connectRemote({ url, token: "plat_x" }).fetch(new Request(`${url}/x`, { signal: stop.signal }));
    stop.abort();
    await assert.rejects(call, { name: "AbortError" });
  });
});

Deno.test("a server that goes away after the request was sent is no server that cannot be reached", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}`;
  const hangUps = (async () => {
    for (let times = 0; times < 2; times++) {
      const connection = await listener.accept();
      await connection.read(new Uint8Array(10_000));
      connection.close();
    }
  })();
  const call = (isProxied: boolean) =>
    connectRemote({ url, token: "plat_x", isProxied }).fetch(
      new Request(`${url}/x`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }),
    );
  const unknown = { message: `${url} went away before it answered; whether the request was carried out is not known` };
  // By the two fetches that there are.
  await assert.rejects(call(false), unknown);
  await assert.rejects(call(true), unknown);
  await hangUps;
  listener.close();
  const away = { message: new RegExp(`^${url} cannot be reached: `) };
  await assert.rejects(call(false), away);
  await assert.rejects(call(true), away);
});
