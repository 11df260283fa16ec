import assert from "node:assert/strict";
import { z } from "zod";
import { MAX_BODY, refusalOf } from "../../server/http/body.ts";
import { BASE_URL, type CallOptions } from "../support/world.ts";
import { pathOf, type Row, ROWS } from "./route_rows.ts";
import { cellOf, type ClockedWorld, freshAddress, freshToken, stoppedPod, withWorld } from "./support.ts";

const WRITES = Object.entries(ROWS).filter(([route]) => /^(POST|PUT|PATCH|DELETE) /.test(route));
const READING = WRITES.filter(([, row]) => row.body !== undefined);
const bytes = (text: string) => new TextEncoder().encode(text);

/** Calls a route as somebody whom it lets in. */
async function send(world: ClockedWorld, route: string, row: Row, pod: string, what: CallOptions) {
  const { method, path } = pathOf(route, row, pod);
  const who: CallOptions = row.guard === "member" || row.guard === "token_owner"
    ? { token: await freshToken(world, "member", "cli") }
    : { as: "operator" };
  return await world.call(method, path, { ...who, address: freshAddress(), ...what });
}

/** Runs `check` for each writing route with a body, and gathers what is wrong. */
function forEachBody(check: (world: ClockedWorld, route: string, row: Row, pod: string) => Promise<string[]>) {
  return withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const wrong: string[] = [];
    for (const [route, row] of READING) wrong.push(...await check(world, route, row, pod));
    assert.deepEqual(wrong, []);
  });
}

const MALFORMED: Record<string, string | Uint8Array<ArrayBuffer>> = {
  "half an object": '{"a": ',
  "a bare word": "enabled",
  "two objects": "{}{}",
  "a list": "[]",
  "null": "null",
  "a number": "1",
  "a text": '"{}"',
  "a raw NUL": bytes('{"a\0": 1}'),
  "an escaped NUL in a name": '{"a\\u0000": 1}',
  "an escaped NUL in a value": '{"name": "a\\u0000b", "public_key": "a\\u0000b"}',
  "bytes that are not UTF-8": new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  "UTF-16": new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]),
  "a form": "enabled=true",
  "only spaces": "   ",
};

Deno.test("every writing route answers 400 when the body is not a JSON object", () =>
  forEachBody(async (world, route, row, pod) => {
    const wrong: string[] = [];
    for (const [what, raw] of Object.entries(MALFORMED)) {
      const answer = await send(world, route, row, pod, { raw });
      const isNamed = !what.includes("escaped NUL") || answer.json?.error === "The body must not hold NUL characters";
      const isText = !what.includes("not UTF-8") || answer.json?.error === "The body is not UTF-8 text";
      if (cellOf(answer) !== "400 invalid_request" || !isNamed || !isText) {
        wrong.push(`${route}, ${what}: ${answer.text}`);
      }
    }
    return wrong;
  }));

Deno.test("every writing route answers 400 when the body is empty, and those with only optional fields take it", () =>
  forEachBody(async (world, route, row, pod) => {
    const answer = await send(world, route, row, pod, { raw: "" });
    const wanted = row.mayBeEmpty ? row.allowed : "400 invalid_request";
    return cellOf(answer) === wanted ? [] : [`${route}: ${cellOf(answer)}, wanted ${wanted}`];
  }));

/** A body that goes out in pieces, without a length. */
function pieces(total: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = total;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      const size = Math.min(left, 65_536);
      left -= size;
      controller.enqueue(bytes(" ".repeat(size)));
    },
  });
}

Deno.test("every writing route answers 413 when the body is over its limit, told by its length or only found while reading", () =>
  forEachBody(async (world, route, row, pod) => {
    const wrong: string[] = [];
    const { method, path } = pathOf(route, row, pod);
    const limit = Math.max(MAX_BODY, row.maxBytes ?? 0);
    const told = await send(world, route, row, pod, { raw: "{}", headers: { "content-length": String(limit + 1) } });
    if (cellOf(told) !== "413 too_large") wrong.push(`${route}, told: ${cellOf(told)}`);
    for (const length of [undefined, "2", "no number"]) {
      const member = row.guard === "member" ? await freshToken(world, "member", "cli") : null;
      const request = new Request(BASE_URL + path, {
        method,
        body: pieces(limit + 1),
        headers: {
          ...(member === null ? {} : { authorization: `Bearer ${member}` }),
          ...(length === undefined ? {} : { "content-length": length }),
        },
      });
      const peer = { isOperator: member === null, account: "test", address: freshAddress() };
      const answer = await world.app.fetch(request, peer);
      const body = await answer.json();
      if (answer.status !== 413 || body.code !== "too_large") {
        wrong.push(`${route}, length ${length}: ${answer.status}`);
      }
    }
    const most = row.maxBytes ?? MAX_BODY;
    const exact = await send(world, route, row, pod, { raw: JSON.stringify(row.body).padEnd(most) });
    if (cellOf(exact) !== row.allowed) wrong.push(`${route}, exactly ${most} bytes: ${cellOf(exact)}`);
    const over = await send(world, route, row, pod, { raw: JSON.stringify(row.body).padEnd(most + 1) });
    if (cellOf(over) !== "413 too_large") wrong.push(`${route}, ${most + 1} bytes: ${cellOf(over)}`);
    return wrong;
  }));

const auditRows = (world: ClockedWorld) => world.db.get<{ n: number }>("select count(*) as n from audit_log")!.n;

Deno.test("every writing route names an unknown field and does nothing, and connect ignores it", () =>
  forEachBody(async (world, route, row, pod) => {
    const wrong: string[] = [];
    for (const field of ["is_publik", "Enabled", "constructor", "__proto__"]) {
      const raw = `{${JSON.stringify(row.body).slice(1, -1)}, ${JSON.stringify(field)}: {"x": 1}}`;
      const before = auditRows(world);
      const answer = await send(world, route, row, pod, { raw });
      if (!row.isLenient) assert.equal(auditRows(world), before, `${route} did something`);
      const wanted = row.isLenient ? row.allowed : "400 invalid_request";
      const isNamed = row.isLenient || String(answer.json?.error).includes(field);
      if (cellOf(answer) !== wanted || !isNamed) wrong.push(`${route}, ${field}: ${answer.status} ${answer.text}`);
    }
    return wrong;
  }));

Deno.test("every writing route but connect calls a body that is no JSON by its name", () =>
  forEachBody(async (world, route, row, pod) => {
    const answer = await send(world, route, row, pod, { raw: '{"a": ' });
    const wanted = route.endsWith("/connect") ? "A valid SSH public key is required" : "The body is not JSON";
    return answer.json.error === wanted ? [] : [`${route}: ${answer.json.error}`];
  }));

Deno.test("no refusal of a body is in the words of the library that checks it, and an unknown field comes first", () =>
  forEachBody(async (world, route, row, pod) => {
    const wrong: string[] = [];
    const fields = [...new Set([...Object.keys(row.body!), ...row.fields ?? []])];
    const bodies = [
      {},
      { start: "2099-10-09T18:00:00Z" },
      ...fields.map((field) => ({ ...row.body, [field]: undefined })),
      ...fields.flatMap((field) => [null, 0.5, -1, [], {}].map((value) => ({ ...row.body, [field]: value }))),
    ];
    for (const body of bodies) {
      const { text, json } = await send(world, route, row, pod, { body });
      const hasUnknown = "start" in body && !row.isLenient;
      const isNamed = !hasUnknown || json.error === "Unknown field: start";
      if (/Invalid input|expected |received /.test(text) || !isNamed) {
        wrong.push(`${route}, ${JSON.stringify(body)}: ${text.slice(0, 200)}`);
      }
    }
    return wrong;
  }));

Deno.test("refusalOf has a sentence of its own where a schema has none", () => {
  const schema = z.strictObject({ a: z.string(), b: z.object({ c: z.int() }) });
  const sentence = (value: unknown) => refusalOf(schema.safeParse(value).error!).message;
  assert.equal(sentence({ b: { c: 1 } }), "a is missing or of a wrong kind");
  assert.equal(sentence({ a: "", b: { c: "1" } }), "b.c is missing or of a wrong kind");
  assert.equal(sentence(5), "The request is missing or of a wrong kind");
  assert.equal(sentence({ d: 1 }), "Unknown field: d");
});

const SECRET = "Sup3rS3cretV4lue";
const WRONG_TYPES: unknown[] = [{ [SECRET]: SECRET }, [[SECRET]], [{ a: SECRET }], SECRET.repeat(300)];

Deno.test("every field of every writing route names itself when its value is of a wrong type, and never shows the value", () =>
  forEachBody(async (world, route, row, pod) => {
    const wrong: string[] = [];
    assert.ok(row.fields !== undefined, `${route} has a body and no list of fields`);
    for (const field of row.fields) {
      for (const value of WRONG_TYPES) {
        if (field === "content" && typeof value === "string") continue;
        if (field === "env" && !Array.isArray(value) && typeof value === "object") continue;
        const answer = await send(world, route, row, pod, { body: { ...row.body, [field]: value } });
        const names = route.endsWith("/connect") ? "SSH public key" : field;
        const isFine = cellOf(answer) === "400 invalid_request" && answer.json.error.includes(names);
        if (!isFine || answer.text.includes(SECRET)) {
          wrong.push(`${route}, ${field} = ${JSON.stringify(value).slice(0, 40)}: ${answer.text.slice(0, 200)}`);
        }
      }
    }
    return wrong;
  }));

Deno.test("every writing route takes a field that is there twice by its last value, and checks that one", () =>
  forEachBody(async (world, route, row, pod) => {
    const [field = "", value] = Object.entries(row.body!)[0]!;
    const pair = (what: unknown) => `${JSON.stringify(field)}: ${JSON.stringify(what)}`;
    const rest = Object.entries(row.body!).slice(1).map(([name, kept]) =>
      `, ${JSON.stringify(name)}: ${JSON.stringify(kept)}`
    )
      .join("");
    const good = await send(world, route, row, pod, { raw: `{${pair([])}, ${pair(value)}${rest}}` });
    const bad = await send(world, route, row, pod, { raw: `{${pair(value)}, ${pair({})}${rest}}` });
    return cellOf(good) === row.allowed && cellOf(bad) === "400 invalid_request"
      ? []
      : [`${route}: last good ${cellOf(good)}, last bad ${cellOf(bad)}`];
  }));

Deno.test("every writing route refuses a body nested a hundred thousand deep with 400", () =>
  forEachBody(async (world, route, row, pod) => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const [field = ""] = row.fields ?? [];
    const answer = await send(world, route, row, pod, { raw: `{${JSON.stringify(field)}: ${deep}}` });
    const wanted = (row.maxBytes ?? MAX_BODY) < 200_000 ? "413 too_large" : "400 invalid_request";
    return cellOf(answer) === wanted ? [] : [`${route}: ${cellOf(answer)}`];
  }));

Deno.test("a writing route without a body answers as ever when it gets one", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    const without = WRITES.filter(([, row]) => row.body === undefined);
    assert.ok(without.length >= 4);
    for (const [route, row] of without) {
      if (route.endsWith("/session/logout")) continue; // Its credential is a cookie; it is tested with the sign-ins.
      const answer = await send(world, route, row, pod, { raw: "}{" });
      assert.equal(cellOf(answer), row.allowed, route);
    }
  }));

Deno.test("the body is not read when the caller is refused", () =>
  withWorld(async (world) => {
    const pod = await stoppedPod(world);
    for (const [route, row] of READING) {
      const { method, path } = pathOf(route, row, pod);
      const answer = await world.call(method, path, { raw: "}{", address: freshAddress() });
      assert.match(cellOf(answer), /^(401 sign_in_required|403 not_the_operator)$/, route);
    }
  }));

Deno.test("no answer and no log line holds a secret that was sent in a body or a header", () =>
  withWorld(async (world) => {
    const secrets = ["rpa_wrong_0123456789abcdef", "plat_" + "s".repeat(43), "cookie-0123456789-secret"];
    const [key, token, cookie] = secrets;
    const tries: [string, string, CallOptions][] = [
      ["PUT", "/api/compute/org/integrations/runpod", { as: "officer", body: { api_key: key } }],
      ["PUT", "/api/compute/org/integrations/runpod", { as: "officer", body: { api_key: `${key} ${key}` } }],
      ["PUT", "/api/compute/org/integrations/runpod", { as: "officer", body: { api_key: [key] } }],
      ["PUT", "/api/operator/orgs/org/secrets/runpod_api_key", { as: "operator", body: { value: key } }],
      ["PUT", "/api/operator/orgs/org/secrets/runpod_api_key", { as: "operator", body: { value: { a: key } } }],
      ["GET", "/api/compute/org/pods", { token: token! }],
      ["GET", "/api/compute/org/me/pods", { token: token! }],
      ["GET", "/api/compute/org/me/pods", { token: `${token}\u00e9` }],
      ["GET", "/api/compute/org/pods", { headers: { cookie: `orgpods_session=${cookie}` } }],
      ["GET", `/api/compute/cli/callback?state=${cookie}&code=${cookie}`, {
        headers: { cookie: `orgpods_sign_in=${cookie}` },
      }],
      ["POST", "/api/compute/org/pods", { as: "officer", body: { env: { TOKEN: `${key}\u0007`, "BAD-NAME": key } } }],
    ];
    for (const [method, path, options] of tries) {
      const answer = await world.call(method, path, options);
      assert.ok(answer.status >= 400, `${method} ${path} ${answer.status}`);
      for (const secret of secrets) assert.ok(!answer.text.includes(secret), `${method} ${path}: ${answer.text}`);
    }
    const audit = JSON.stringify(world.db.all("select * from audit_log"));
    for (const secret of secrets) {
      assert.ok(!world.logLines.join("\n").includes(secret), "the log holds a secret");
      assert.ok(!audit.includes(secret), "the audit holds a secret");
    }
  }));
