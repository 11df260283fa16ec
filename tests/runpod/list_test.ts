import assert from "node:assert/strict";
import { failure, problem, rawPod, type Script, testClient, withServer } from "./support.ts";

function page(ids: readonly string[], pagination?: unknown): Script {
  const body = { pods: ids.map((id) => rawPod({ id })), ...(pagination === undefined ? {} : { pagination }) };
  return () => Response.json(body);
}

const next = (nextCursor: string) => ({ hasNextPage: true, nextCursor });
const END = { hasNextPage: false, nextCursor: null };

async function idsOf(scripts: readonly Script[]): Promise<{ ids: string[]; paths: string[] }> {
  let ids: string[] = [];
  let paths: string[] = [];
  await withServer(scripts, async (server) => {
    ids = (await testClient(server.url).client.list()).map((pod) => pod.id);
    paths = server.seen.map((seen) => seen.path);
  });
  return { ids, paths };
}

async function failureOf(scripts: readonly Script[]): Promise<string> {
  let detail = "";
  await withServer(scripts, async (server) => {
    const error = await failure(testClient(server.url, { limits: { attempts: 1 } }).client.list());
    assert.equal(error.kind, "upstream");
    detail = error.detail;
  });
  return detail;
}

Deno.test("client.list takes one page when pagination is missing or null", async () => {
  assert.deepEqual(await idsOf([page(["a", "b"])]), { ids: ["a", "b"], paths: ["/v2/pods?limit=250"] });
  assert.deepEqual((await idsOf([page(["a"], null)])).ids, ["a"]);
  assert.deepEqual((await idsOf([page([])])).ids, []);
});

Deno.test("client.list goes on while RunPod says so when pages are short or empty", async () => {
  const { ids, paths } = await idsOf([page(["a"], next("c/1=")), page([], next("c2")), page(["b"], END)]);
  assert.deepEqual(ids, ["a", "b"]);
  assert.deepEqual(paths, ["/v2/pods?limit=250", "/v2/pods?limit=250&cursor=c%2F1%3D", "/v2/pods?limit=250&cursor=c2"]);
});

Deno.test("client.list stops when hasNextPage is false, whatever the cursor says", async () => {
  assert.deepEqual((await idsOf([page(["a"], { hasNextPage: false, nextCursor: "c" })])).ids, ["a"]);
});

Deno.test("client.list gives a pod once when it moves from one page to the next", async () => {
  assert.deepEqual((await idsOf([page(["a", "b"], next("c")), page(["b", "d"], END)])).ids, ["a", "b", "d"]);
});

Deno.test("client.list reads a bare array when an old server sends one", async () => {
  assert.deepEqual((await idsOf([() => Response.json([{ id: "a" }])])).ids, ["a"]);
});

Deno.test("client.list fails when a cursor comes twice", async () => {
  assert.match(
    await failureOf([page(["a"], next("c")), page(["b"], next("d")), page(["e"], next("c"))]),
    /same cursor twice/,
  );
});

Deno.test("client.list fails when more pods follow without a cursor", async () => {
  assert.match(await failureOf([page(["a"], { hasNextPage: true, nextCursor: null })]), /no cursor/);
  assert.match(await failureOf([page(["a"], { hasNextPage: true })]), /no cursor/);
});

Deno.test("client.list fails after 200 pages when the list never ends", async () => {
  const endless = Array.from({ length: 201 }, (_, i) => page([`p${i}`], next(`c${i}`)));
  await withServer(endless, async (server) => {
    const error = await failure(testClient(server.url).client.list());
    assert.match(error.detail, /does not end after 200 pages/);
    assert.equal(server.seen.length, 200);
  });
});

Deno.test("client.list fails rather than give a part when a later page fails", async () => {
  assert.equal(await failureOf([page(["a"], next("c")), () => problem(500, "no page")]), "no page");
});

Deno.test("client.list fails when the answer is no list or hides a pod's id", async () => {
  for (const body of [{}, { pods: {} }, { pods: [], pagination: { hasNextPage: "yes" } }, "text"]) {
    assert.match(await failureOf([() => Response.json(body)]), /not a list of pods/);
  }
  assert.match(await failureOf([() => new Response(null, { status: 204 })]), /not a list of pods/);
  for (const pod of [{ name: "no id" }, null, { id: "" }, { id: 7 }]) {
    assert.match(await failureOf([() => Response.json({ pods: [rawPod(), pod] })]), /without an id/);
  }
});

Deno.test("client.list uses one time limit for all pages", async () => {
  const slow = (ids: string[], cursor: string): Script => async () => {
    await new Promise((resolve) => setTimeout(resolve, 60));
    return (page(ids, next(cursor)) as () => Response)();
  };
  const pages = Array.from({ length: 50 }, (_, i) => slow([`p${i}`], `c${i}`));
  await withServer(pages, async (server) => {
    const error = await failure(testClient(server.url).client.list({ timeoutMs: 250 }));
    assert.equal(error.kind, "timeout");
    assert.ok(server.seen.length < 50);
  });
});
