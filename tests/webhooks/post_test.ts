import assert from "node:assert/strict";
import type { HttpRequest } from "../../server/webhooks/http_call.ts";
import { createPost, type Outcome, type PostOptions, Stopped } from "../../server/webhooks/post.ts";
import { NoAddress, systemResolve } from "../../server/webhooks/resolve.ts";
import { eventually } from "../support/world.ts";
import { HANG, withRawServer, withReceiver } from "./support.ts";

const VECTORS = new URL("../vectors/webhooks/", import.meta.url);
const pem = (name: string) => Deno.readTextFileSync(new URL(name, VECTORS));

const requestTo = (url: string, body = "{}"): HttpRequest => ({
  url: new URL(url),
  headers: { "content-type": "application/json", "x-orgpods-event": "test" },
  body,
});
const loopback = () => Promise.resolve(["127.0.0.1"]);
const never = new AbortController().signal;

function post(url: string, options: Partial<PostOptions> = {}, body?: string): Promise<Outcome> {
  return createPost({ resolve: loopback, allowPrivate: true, ...options })(requestTo(url, body), never);
}

const failureOf = (outcome: Outcome) => "failure" in outcome ? outcome.failure : `status ${outcome.status}`;

Deno.test("post sends headers and body as they are, and reads status and headers", () =>
  withReceiver(async (receiver) => {
    receiver.answer(() => new Response("fine", { status: 202, headers: { "x-own": "a: b" } }));
    const body = JSON.stringify({ text: "naïve – 😀", long: "x".repeat(200_000) });
    const outcome = await post(`${receiver.origin}/a%20b?c=d`, {}, body);
    assert.ok("status" in outcome);
    assert.deepEqual([outcome.status, outcome.headers.get("x-own")], [202, "a: b"]);
    const [one] = receiver.received;
    assert.deepEqual([one!.path, one!.body], ["/a%20b?c=d", body]);
    assert.equal(one!.headers.get("content-type"), "application/json");
    assert.equal(one!.headers.get("host"), `127.0.0.1:${receiver.port}`);
  }));

Deno.test("post goes to the address that was judged, and resolves the name once", () =>
  withReceiver(async (receiver) => {
    const asked: string[] = [];
    const resolve = (name: string) => {
      asked.push(name);
      return Promise.resolve(asked.length === 1 ? ["127.0.0.1"] : []);
    };
    // The system knows no such name: only the resolver's answer leads to the receiver.
    const outcome = await post(`http://hooks.invalid:${receiver.port}/x`, { resolve });
    assert.equal(failureOf(outcome), "status 204");
    assert.deepEqual(asked, ["hooks.invalid"]);
    assert.equal(receiver.received[0]!.headers.get("host"), `hooks.invalid:${receiver.port}`);
  }));

const INSIDE = "The host leads to a private, local or reserved address, which is refused without " +
  "ORGPODS_WEBHOOKS_ALLOW_PRIVATE=true";

Deno.test("post refuses a name that leads inside, and an address that does, without connecting", () =>
  withReceiver(async (receiver) => {
    const cases: [string, string[]][] = [
      ["hooks.example.org", ["127.0.0.1"]],
      ["hooks.example.org", ["::1"]],
      ["hooks.example.org", ["10.0.0.1", "::ffff:127.0.0.1", "169.254.169.254"]],
      ["127.0.0.1", []],
      ["[::ffff:7f00:1]", []],
    ];
    for (const [host, addresses] of cases) {
      const resolve = () => Promise.resolve(addresses);
      const outcome = await post(`http://${host}:${receiver.port}/x`, { resolve, allowPrivate: false });
      assert.equal(failureOf(outcome), INSIDE, host);
    }
    assert.equal(receiver.received.length, 0);
  }));

Deno.test("post checks the certificate for the host name, not for the address it connects to", () =>
  withReceiver(async (receiver) => {
    const caCerts = [pem("authority.pem")];
    assert.equal(
      failureOf(await post(`https://hooks.example.org:${receiver.port}/x`, { caCerts })),
      "status 204",
    );
    // The names that the certificate holds are not told.
    const otherName = "the certificate is not valid for this host name";
    const unknown = "the certificate is not of an authority that this server trusts";
    for (
      const [host, certs, why] of [
        ["evil.example.org", caCerts, otherName],
        ["127.0.0.1", caCerts, otherName],
        ["hooks.example.org", [], unknown],
      ] as const
    ) {
      const outcome = await post(`https://${host}:${receiver.port}/x`, { caCerts: certs });
      assert.equal(failureOf(outcome), `The TLS connection failed: ${why}`, host);
    }
    assert.equal(receiver.received.length, 1);
  }, { cert: pem("server.pem"), key: pem("server_key.pem") }));

Deno.test("post tells a name without an address, and a port where nobody listens", async () => {
  const none = () => Promise.reject(new NoAddress("The host name has no address (ENOTFOUND)"));
  assert.equal(
    failureOf(await post("http://a.invalid/x", { resolve: none })),
    "The host name has no address (ENOTFOUND)",
  );
  assert.equal(
    failureOf(await post("http://a.invalid/x", { resolve: () => Promise.resolve([]) })),
    "The host name has no address",
  );
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  assert.match(failureOf(await post(`http://127.0.0.1:${port}/x`)), /^The connection failed: Connection refused/);
});

Deno.test("post tries the next address when one takes no connection", () =>
  withReceiver(async (receiver) => {
    const resolve = () => Promise.resolve(["::1", "127.0.0.2", "127.0.0.1"]);
    assert.equal(failureOf(await post(`http://a.invalid:${receiver.port}/x`, { resolve })), "status 204");
  }));

Deno.test("systemResolve knows the names of this machine, and says when there is no address", async () => {
  assert.ok((await systemResolve("localhost")).some((address) => address === "127.0.0.1" || address === "::1"));
  await assert.rejects(systemResolve("no-such-host.invalid"), { name: "NoAddress", message: /^The host name has no/ });
});

Deno.test("post gives up a receiver that takes the request and never answers", () =>
  withReceiver(async (receiver) => {
    receiver.answer(HANG);
    const outcome = await post(receiver.origin, { limitMs: 100 });
    assert.equal(failureOf(outcome), "There was no answer within 0.1 seconds");
  }));

Deno.test("post gives up a TLS handshake, and a name server, that say nothing", async () => {
  await withRawServer(null, async (origin) => {
    const outcome = await post(origin.replace("http:", "https:"), { limitMs: 100 });
    assert.equal(failureOf(outcome), "There was no answer within 0.1 seconds");
  });
  const outcome = await post("http://a.invalid/", { limitMs: 100, resolve: () => new Promise(() => {}) });
  assert.equal(failureOf(outcome), "There was no answer within 0.1 seconds");
});

Deno.test("post rejects with Stopped when it is given up", () =>
  withReceiver(async (receiver) => {
    receiver.answer(HANG);
    const stop = new AbortController();
    const sending = createPost({ resolve: loopback, allowPrivate: true })(requestTo(receiver.origin), stop.signal);
    const rejected = assert.rejects(sending, Stopped);
    await eventually(() => receiver.received.length === 1, "the request arrives");
    stop.abort();
    await rejected;
  }));

Deno.test("post does not follow a redirect", () =>
  withReceiver(async (receiver) => {
    receiver.answer(() => new Response(null, { status: 302, headers: { location: `${receiver.origin}/other` } }));
    assert.equal(failureOf(await post(`${receiver.origin}/first`)), "status 302");
    assert.deepEqual(receiver.received.map((one) => one.path), ["/first"]);
  }));

Deno.test("post does not read an endless body", () =>
  withReceiver(async (receiver) => {
    const chunk = new Uint8Array(65_536);
    let pulled = 0;
    receiver.answer(() =>
      new Response(
        new ReadableStream({
          pull(controller) {
            pulled++;
            controller.enqueue(chunk);
          },
        }),
      )
    );
    assert.equal(failureOf(await post(receiver.origin)), "status 200");
    assert.ok(pulled < 1_000, `${pulled} chunks`);
  }));

const RAW: [string, string, string][] = [
  [
    "an answer after interim ones",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\nHTTP/1.0 200 OK\r\n\r\n",
    "status 200",
  ],
  ["a status without words", "HTTP/1.1 204\r\n\r\n", "status 204"],
  ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "The answer is not HTTP"],
  ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "The answer is not HTTP"],
  ["nothing", "", "The connection was closed without an answer"],
  ["half a head", "HTTP/1.1 200 OK\r\ncontent-", "The connection was closed without an answer"],
  [
    "endless headers",
    `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(10_000)}`,
    "The answer's headers are longer than 16384 bytes",
  ],
];
for (const [what, bytes, wanted] of RAW) {
  Deno.test(`post takes ${what} as: ${wanted}`, () =>
    withRawServer(bytes, async (origin) => assert.equal(failureOf(await post(origin)), wanted)));
}
