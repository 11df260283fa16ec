import assert from "node:assert/strict";
import type { RunpodClient, RunpodErrorKind } from "../../server/runpod/client.ts";
import { createBody } from "../../server/runpod/client.ts";
import { failure, problem, testClient, withServer } from "./support.ts";

const BODY = createBody({
  name: "n",
  image: "i",
  cloud: "SECURE",
  diskGb: 20,
  env: {},
  hardware: { kind: "gpu", gpuTypeId: "NVIDIA L4" },
});

const CREATE = (client: RunpodClient) => client.create(BODY);
const START = (client: RunpodClient) => client.act("p1", "start");

function json(status: number, body: unknown, type = "application/json"): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": type } });
}

function page(status: number, type: string, text: string): Response {
  return new Response(text, { status, headers: { "content-type": type } });
}

const NO_INSTANCES =
  "There are no longer any instances available with the requested specifications. Please refresh and try again.";

interface Case {
  readonly name: string;
  readonly call: (client: RunpodClient) => Promise<unknown>;
  readonly answer: () => Response;
  readonly kind: RunpodErrorKind;
  readonly detail: string;
  readonly ambiguous?: boolean;
}

const CASES: readonly Case[] = [
  {
    name: "401",
    call: CREATE,
    answer: () => problem(401, "missing bearer token"),
    kind: "auth",
    detail: "missing bearer token",
  },
  {
    name: "402",
    call: CREATE,
    answer: () => problem(402, "balance too low"),
    kind: "balance",
    detail: "balance too low",
  },
  {
    name: "403 of the API",
    call: CREATE,
    answer: () => problem(403, "access denied"),
    kind: "auth",
    detail: "access denied",
  },
  {
    name: "403 without a body",
    call: CREATE,
    answer: () => new Response(null, { status: 403 }),
    kind: "auth",
    detail: "no reason given",
  },
  {
    name: "403 page of the edge",
    call: CREATE,
    answer: () =>
      page(
        403,
        "text/html; charset=UTF-8",
        "<!DOCTYPE html><html><head><title>Access denied | 1010</title></head></html>",
      ),
    kind: "upstream",
    detail: "Access denied | 1010",
  },
  {
    name: "403 text of the edge",
    call: CREATE,
    answer: () => page(403, "text/plain", "error code: 1010"),
    kind: "upstream",
    detail: "error code: 1010",
  },
  {
    name: "404 on create",
    call: CREATE,
    answer: () => problem(404, "template not found"),
    kind: "not_found",
    detail: "template not found",
  },
  {
    name: "404 that is not the API's",
    call: (c) => c.get("p1"),
    answer: () => page(404, "text/plain", "404 page not found"),
    kind: "upstream",
    detail: "404 page not found",
  },
  {
    name: "405",
    call: START,
    answer: () => problem(405, "not allowed here"),
    kind: "invalid",
    detail: "not allowed here",
  },
  { name: "409", call: START, answer: () => problem(409, "pod is locked"), kind: "conflict", detail: "pod is locked" },
  {
    name: "410",
    call: (c) => c.list(),
    answer: () => problem(410, "v2 is retired"),
    kind: "gone",
    detail: "v2 is retired",
  },
  {
    name: "413",
    call: CREATE,
    answer: () => problem(413, "body too large"),
    kind: "invalid",
    detail: "body too large",
  },
  {
    name: "422",
    call: CREATE,
    answer: () =>
      problem(422, "Request validation failed.", {
        errors: ["$: additional properties 'bogus' not allowed", "$.disk: must be at least 1"],
      }),
    kind: "invalid",
    detail: "Request validation failed: $: additional properties 'bogus' not allowed; $.disk: must be at least 1",
  },
  {
    name: "400 with a broken rule",
    call: CREATE,
    answer: () => problem(400, "exactly one of gpu and cpu"),
    kind: "invalid",
    detail: "exactly one of gpu and cpu",
  },
  {
    name: "400 about template id or pod configuration",
    call: CREATE,
    answer: () => problem(400, "check the template id or pod configuration parameters"),
    kind: "invalid",
    detail: "check the template id or pod configuration parameters",
  },
  {
    name: "400 without instances",
    call: CREATE,
    answer: () => problem(400, NO_INSTANCES),
    kind: "capacity",
    detail: NO_INSTANCES,
  },
  {
    name: "400 in capitals",
    call: CREATE,
    answer: () => problem(400, "NO INSTANCES CURRENTLY AVAILABLE"),
    kind: "capacity",
    detail: "NO INSTANCES CURRENTLY AVAILABLE",
  },
  {
    name: "400 other wording",
    call: CREATE,
    answer: () => json(400, { error: "no instances available" }),
    kind: "capacity",
    detail: "no instances available",
  },
  {
    name: "400 without resources",
    call: CREATE,
    answer: () => json(400, { message: "This machine does not have the resources to deploy your pod" }),
    kind: "capacity",
    detail: "This machine does not have the resources to deploy your pod",
  },
  {
    name: "400 with the reason in errors",
    call: CREATE,
    answer: () => problem(400, "request could not be processed", { errors: ["no instances available"] }),
    kind: "capacity",
    detail: "request could not be processed: no instances available",
  },
  {
    name: "400 on start",
    call: START,
    answer: () => json(400, { error: "not enough free GPUs on the host machine" }),
    kind: "capacity",
    detail: "not enough free GPUs on the host machine",
  },
  {
    name: "400 on start for another reason",
    call: START,
    answer: () => problem(400, "volume is being moved"),
    kind: "invalid",
    detail: "volume is being moved",
  },
  {
    name: "400 without JSON",
    call: CREATE,
    answer: () => page(400, "application/json", "{not json"),
    kind: "invalid",
    detail: "{not json",
  },
  {
    name: "title only",
    call: CREATE,
    answer: () => json(400, { title: "Bad Request", status: 400 }),
    kind: "invalid",
    detail: "Bad Request",
  },
  {
    name: "500",
    call: CREATE,
    answer: () => problem(500, "read back failed"),
    kind: "upstream",
    detail: "read back failed",
    ambiguous: true,
  },
  {
    name: "500 with a capacity text",
    call: CREATE,
    answer: () => problem(500, NO_INSTANCES),
    kind: "upstream",
    detail: NO_INSTANCES,
    ambiguous: true,
  },
  {
    name: "501",
    call: CREATE,
    answer: () => problem(501, "cpu pods"),
    kind: "upstream",
    detail: "not supported by RunPod (cpu pods)",
  },
  {
    name: "503 without a body",
    call: CREATE,
    answer: () => new Response(null, { status: 503 }),
    kind: "upstream",
    detail: "no reason given",
    ambiguous: true,
  },
  {
    name: "524 page",
    call: CREATE,
    answer: () => page(524, "text/html", "<html><body><h1>A timeout\n occurred</h1></body></html>"),
    kind: "upstream",
    detail: "A timeout occurred",
    ambiguous: true,
  },
  {
    name: "2xx page",
    call: CREATE,
    answer: () => page(200, "text/html", "<p>hello</p>"),
    kind: "upstream",
    detail: "RunPod sent a response that is not JSON",
    ambiguous: true,
  },
  {
    name: "2xx JSON under another type",
    call: CREATE,
    answer: () => page(201, "text/html", '{"id":"p1"}'),
    kind: "upstream",
    detail: "RunPod sent a response that is not JSON",
    ambiguous: true,
  },
  {
    name: "2xx that is no JSON",
    call: CREATE,
    answer: () => page(201, "application/json", '{"id": "abc'),
    kind: "upstream",
    detail: "RunPod sent a response that is not JSON",
    ambiguous: true,
  },
  {
    name: "201 without an id",
    call: CREATE,
    answer: () => json(201, { name: "n" }),
    kind: "upstream",
    detail: "RunPod did not return a pod id",
    ambiguous: true,
  },
  {
    name: "201 without a body",
    call: CREATE,
    answer: () => new Response(null, { status: 201 }),
    kind: "upstream",
    detail: "RunPod did not return a pod id",
    ambiguous: true,
  },
  {
    name: "another pod",
    call: (c) => c.get("p1"),
    answer: () => json(200, { id: "p2" }),
    kind: "upstream",
    detail: "RunPod sent a response that is not this pod",
    ambiguous: true,
  },
  {
    name: "a redirect",
    call: (c) => c.get("p1"),
    answer: () => new Response(null, { status: 302, headers: { location: "/v2/pods/p2" } }),
    kind: "upstream",
    detail: "a redirect, which is not followed",
  },
];

for (const { name, call, answer, kind, detail, ambiguous } of CASES) {
  Deno.test(`client fails with ${kind} when RunPod answers ${name}`, async () => {
    await withServer([answer], async (server) => {
      const error = await failure(call(testClient(server.url, { limits: { attempts: 1 } }).client));
      assert.equal(error.kind, kind);
      assert.equal(error.detail, detail);
      assert.equal(error.ambiguous, ambiguous ?? false);
      assert.equal(server.seen.length, 1);
    });
  });
}

Deno.test("client cuts the reason at 300 characters when the page is 1 MB", async () => {
  const html = `<html><body>${"<p>down</p>".repeat(100_000)}</body></html>`;
  await withServer([() => page(502, "text/html", html)], async (server) => {
    const error = await failure(testClient(server.url).client.act("p1", "start"));
    assert.equal(error.status, 502);
    assert.equal(error.detail.length, 300);
    assert.match(error.detail, /^down down .*…$/);
  });
});

Deno.test("client stays quick when a page is nothing but opening brackets", async () => {
  await withServer([() => page(502, "text/html", "<".repeat(1_000_000))], async (server) => {
    const error = await failure(testClient(server.url).client.act("p1", "start"));
    assert.match(error.detail, /^<+…$/);
  });
});

Deno.test("client escapes control and direction characters when it quotes a reason", async () => {
  await withServer([() => problem(400, "a\u001b[31m\u202eb\r\nc\u0000")], async (server) => {
    const error = await failure(testClient(server.url).client.act("p1", "start"));
    assert.equal(error.detail, "a\\u001b[31m\\u202eb c\\u0000");
  });
});
