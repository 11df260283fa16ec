import assert from "node:assert/strict";
import { createBody } from "../../server/runpod/client.ts";
import { failure, KEY, problem, rawPod, testClient, withRawServer, withServer } from "./support.ts";

const BODY = createBody({
  name: "workshop-k3",
  image: "img",
  cloud: "SECURE",
  diskGb: 20,
  env: { TOKEN: "s3cr3t-value" },
  hardware: { kind: "gpu", gpuTypeId: "NVIDIA L4" },
});

const OK_POD = () => Response.json(rawPod());
const CUT =
  'HTTP/1.1 201 Created\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"id":"abc123", "env":{"TOKEN":"s3cr';

Deno.test("client sends key, agent and JSON when it creates a pod", async () => {
  await withServer([() => Response.json(rawPod({ id: "new1" }), { status: 201 })], async (server) => {
    const pod = await testClient(`${server.url}/`).client.create(BODY);
    assert.equal(pod.id, "new1");
    const [seen] = server.seen;
    assert.equal(seen?.method, "POST");
    assert.equal(seen?.path, "/v2/pods");
    assert.equal(seen?.headers.get("authorization"), `Bearer ${KEY}`);
    assert.equal(seen?.headers.get("user-agent"), "orgpods/1.2.3");
    assert.equal(seen?.headers.get("content-type"), "application/json");
    assert.deepEqual(JSON.parse(seen?.body ?? ""), BODY);
  });
});

Deno.test("client uses the action route with one word when it starts, stops or restarts", async () => {
  await withServer([OK_POD, OK_POD, OK_POD], async (server) => {
    const { client } = testClient(server.url);
    for (const action of ["start", "stop", "restart"] as const) {
      assert.equal((await client.act("abc123def456", action))?.status, "RUNNING");
    }
    assert.deepEqual(server.seen.map((seen) => [seen.method, seen.path, seen.body]), [
      ["POST", "/v2/pods/abc123def456/action", '{"action":"start"}'],
      ["POST", "/v2/pods/abc123def456/action", '{"action":"stop"}'],
      ["POST", "/v2/pods/abc123def456/action", '{"action":"restart"}'],
    ]);
  });
});

Deno.test("client.act gives null when the answer holds no pod", async () => {
  await withServer([() => new Response(null, { status: 204 }), () => Response.json({})], async (server) => {
    const { client } = testClient(server.url);
    assert.equal(await client.act("p1", "start"), null);
    assert.equal(await client.act("p1", "start"), null);
  });
});

Deno.test("client.patch sends the fields alone when env is replaced", async () => {
  await withServer([OK_POD], async (server) => {
    await testClient(server.url).client.patch("abc123def456", { env: { A: "b" } });
    assert.deepEqual(server.seen.map((seen) => [seen.method, seen.path, seen.body]), [
      ["PATCH", "/v2/pods/abc123def456", '{"env":{"A":"b"}}'],
    ]);
  });
});

Deno.test("client.terminate tells deleted from was_gone when RunPod answers 204, 200 without a body or 404", async () => {
  const answers = [
    () => new Response(null, { status: 204 }),
    () => new Response("", { status: 200, headers: { "content-type": "text/html" } }),
    () => problem(404, "pod not found"),
  ];
  await withServer(answers, async (server) => {
    const { client } = testClient(server.url);
    assert.equal(await client.terminate("p1"), "deleted");
    assert.equal(await client.terminate("p1"), "deleted");
    assert.equal(await client.terminate("p1"), "was_gone");
    assert.deepEqual(server.seen.map((seen) => seen.method), ["DELETE", "DELETE", "DELETE"]);
  });
});

Deno.test("client.terminate fails when the 404 is a page, which says nothing about the pod", async () => {
  const answer = () => new Response("<html>", { status: 404, headers: { "content-type": "text/html" } });
  await withServer([answer], async (server) => {
    assert.equal((await failure(testClient(server.url).client.terminate("p1"))).kind, "upstream");
  });
});

Deno.test("client encodes the pod id when it holds other characters, and refuses one that would change the path", async () => {
  await withServer([() => problem(404, "pod not found")], async (server) => {
    const { client } = testClient(server.url);
    assert.equal((await failure(client.get("a/../b?c"))).kind, "not_found");
    for (const id of ["", ".", ".."]) {
      for (const call of [() => client.get(id), () => client.terminate(id), () => client.act(id, "stop")]) {
        assert.equal((await failure(call())).kind, "not_found");
      }
    }
    assert.deepEqual(server.seen.map((seen) => seen.path), ["/v2/pods/a%2F..%2Fb%3Fc"]);
  });
});

Deno.test("client follows no redirect when one is sent, so the key stays here", async () => {
  await withServer([], async (other) => {
    const answer = () => new Response(null, { status: 307, headers: { location: `${other.url}/pods` } });
    await withServer([answer], async (server) => {
      const error = await failure(testClient(server.url).client.create(BODY));
      assert.equal(error.kind, "upstream");
      assert.equal(other.seen.length, 0);
    });
  });
});

Deno.test("client fails with timeout when no answer comes, and sends a create once", async () => {
  await withRawServer("", "hang", async (server) => {
    const error = await failure(testClient(server.url).client.create(BODY, { timeoutMs: 100 }));
    assert.equal(error.kind, "timeout");
    assert.equal(error.ambiguous, true);
    assert.equal(error.detail, "RunPod did not answer within 0.1 s");
    assert.equal(server.connections(), 1);
  });
});

Deno.test("client fails with timeout when the body stops coming", async () => {
  const start = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"pods":[';
  await withRawServer(start, "hang", async (server) => {
    const error = await failure(testClient(server.url).client.list({ timeoutMs: 100 }));
    assert.equal(error.kind, "timeout");
    assert.equal(error.status, 200);
  });
});

Deno.test("client keeps the status of a refusal when its body stops coming", async () => {
  const start =
    "HTTP/1.1 402 Payment Required\r\ncontent-type: application/problem+json\r\ncontent-length: 5000\r\n\r\n{";
  await withRawServer(start, "hang", async (server) => {
    const error = await failure(testClient(server.url).client.create(BODY, { timeoutMs: 100 }));
    assert.equal(error.kind, "balance");
    assert.equal(error.ambiguous, false);
  });
});

Deno.test("client fails with an ambiguous network error when the answer to a create is cut, and quotes none of it", async () => {
  await withRawServer(CUT, "close", async (server) => {
    const { client, lines } = testClient(server.url);
    const error = await failure(client.create(BODY));
    assert.equal(error.kind, "network");
    assert.equal(error.status, 201);
    assert.equal(error.ambiguous, true);
    assert.equal(server.connections(), 1);
    assert.doesNotMatch(JSON.stringify([error, error.message, error.stack, lines]), /s3cr|abc123/);
  });
});

Deno.test("client fails with an ambiguous network error when the connection closes without an answer", async () => {
  await withRawServer("", "close", async (server) => {
    const error = await failure(testClient(server.url).client.create(BODY));
    assert.equal(error.kind, "network");
    assert.equal(error.ambiguous, true);
    assert.equal(server.connections(), 1);
  });
});

Deno.test("client fails with an unambiguous network error when nobody listens", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const error = await failure(testClient(`http://127.0.0.1:${port}/v2`).client.create(BODY));
  assert.equal(error.kind, "network");
  assert.equal(error.status, null);
  assert.equal(error.ambiguous, false);
});

Deno.test("client gives up when the caller's signal aborts, and sends nothing when it had aborted before", async () => {
  await withRawServer("", "hang", async (server) => {
    const { client } = testClient(server.url);
    const controller = new AbortController();
    const call = failure(client.create(BODY, { signal: controller.signal }));
    while (server.connections() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort();
    assert.equal((await call).kind, "timeout");
    assert.equal((await call).detail, "The call to RunPod was given up");
    assert.equal((await call).ambiguous, true);
    const late = await failure(client.create(BODY, { signal: controller.signal }));
    assert.equal(late.kind, "timeout");
    assert.equal(late.ambiguous, false);
    assert.equal(server.connections(), 1);
  });
});

Deno.test("client stops reading when a success is larger than 2 MB", async () => {
  const answer = () => Response.json({ pods: [], filler: "x".repeat(2 * 1024 * 1024) });
  await withServer([answer], async (server) => {
    const error = await failure(testClient(server.url).client.list());
    assert.equal(error.detail, "RunPod sent a response that is too large");
    assert.equal(error.kind, "upstream");
  });
});

Deno.test("client accepts any JSON content type when it reads a success", async () => {
  const answer = () =>
    new Response(JSON.stringify(rawPod()), {
      headers: { "content-type": "Application/vnd.runpod+JSON; charset=utf-8" },
    });
  await withServer([answer], async (server) => {
    assert.equal((await testClient(server.url).client.get("abc123def456")).id, "abc123def456");
  });
});

Deno.test("client sends nothing when the API key could not stand in a header", async () => {
  await withServer([], async (server) => {
    const error = await failure(testClient(server.url, { apiKey: "rpa_secret\nX: y" }).client.list());
    assert.equal(error.kind, "auth");
    assert.doesNotMatch(`${error.message}${error.stack}`, /rpa_secret/);
    assert.equal(server.seen.length, 0);
  });
});

Deno.test("client lets a programming error through when fetch throws something else", async () => {
  const broken = () => Promise.reject(new RangeError("not a network error"));
  await assert.rejects(testClient("http://127.0.0.1:9/v2", { fetch: broken }).client.list(), RangeError);
});
