import assert from "node:assert/strict";
import { createBody, toAppError } from "../../server/runpod/client.ts";
import { createRedact, plain } from "../../server/runpod/redact.ts";
import { failure, KEY, problem, testClient, withServer } from "./support.ts";

const SECRET = "hf_abcdefghijklmnopqrstuvwxyz";

Deno.test("redact takes a secret out when it stands anywhere in a text", () => {
  const redact = createRedact([SECRET, "hunter2"]);
  assert.equal(redact(`a ${SECRET} b ${SECRET}, hunter2!`), "a [redacted] b [redacted], [redacted]!");
});

Deno.test("redact takes the beginning of a secret out when a service cuts it short", () => {
  assert.equal(
    createRedact([SECRET])(`value '${SECRET.slice(0, 15)}...' is too long`),
    "value '[redacted]...' is too long",
  );
});

Deno.test("redact takes escaped forms out when a secret holds quotes, breaks or marks", () => {
  const secret = 'pa"ss<word>\n& more';
  const redact = createRedact([secret]);
  for (
    const form of [secret, JSON.stringify(secret), encodeURIComponent(secret), "pa&quot;ss&lt;word&gt;\n&amp; more"]
  ) {
    assert.doesNotMatch(redact(`x ${form} y`), /ss.*word/, form);
  }
});

Deno.test("redact takes single lines out when a secret has many", () => {
  const redact = createRedact(["-----BEGIN KEY-----\nAAAAB3NzaC1yc2EAAAA\n-----END KEY-----"]);
  assert.equal(redact("bad line AAAAB3NzaC1yc2EAAAA"), "bad line [redacted]");
});

Deno.test("redact leaves plain words alone when a value is very short, but not where it stands as a value", () => {
  const redact = createRedact(["1", "$&("]);
  assert.equal(
    redact("disk must be at least 1 GB, got '1', N=1, M: 12"),
    "disk must be at least 1 GB, got '[redacted]', N=[redacted], M: 12",
  );
  assert.equal(redact('bad "$&("'), 'bad "[redacted]"');
});

Deno.test("redact takes the longer one when one secret holds another", () => {
  assert.equal(createRedact(["pass", "password-1"])("password-1 pass"), "[redacted] [redacted]");
});

Deno.test("redact changes nothing when there is nothing to hide", () => {
  assert.equal(createRedact([""])("text"), "text");
});

Deno.test("plain gives well-formed text of the limit when it cuts a pair in two", () => {
  const cut = plain("😀".repeat(20), 10);
  assert.ok(cut.isWellFormed());
  assert.ok(cut.length <= 10);
});

Deno.test("errors show neither key nor env when RunPod quotes them", async () => {
  const env = { HF_TOKEN: SECRET, PIN: "42", PASSWORD: "hunter2" };
  // The quoted secret crosses the 300th character.
  const detail = `Bearer ${KEY} ${"x".repeat(246)} ${SECRET}`;
  const errors = [
    `$.env.HF_TOKEN: '${SECRET}' is not allowed`,
    `$.env.PIN: "42"`,
    `hunter2 and ${encodeURIComponent(SECRET)}`,
  ];
  const body = createBody({
    name: "n",
    image: "i",
    cloud: "SECURE",
    diskGb: 20,
    env,
    hardware: { kind: "gpu", gpuTypeId: "g" },
  });
  await withServer([() => problem(422, detail, { errors }), () => problem(422, detail, { errors })], async (server) => {
    const { client, lines } = testClient(server.url);
    for (const call of [client.create(body), client.patch("p1", { env })]) {
      const error = await failure(call);
      const app = toAppError(error);
      const all = JSON.stringify([
        error,
        error.message,
        error.stack,
        error.detail,
        error.errors,
        app.message,
        app.details.hint,
        lines,
      ]);
      assert.doesNotMatch(all, /TESTKEY|hf_abc|hf_|hunter2|42"/);
      assert.ok(error.detail.length <= 300);
      assert.match(error.errors[0] ?? "", /^\$\.env\.HF_TOKEN: '\[redacted\]' is not allowed$/);
    }
  });
});

Deno.test("errors and log show no key when repeats are logged and GraphQL quotes it", async () => {
  const down = () => problem(502, `upstream refused ${KEY}`);
  const refused = () => Response.json({ errors: [{ message: `bad key ${KEY}` }] });
  await withServer([down, down, down, refused], async (server) => {
    const { client, lines } = testClient(server.url);
    const first = await failure(client.get("p1"));
    const second = await failure(client.balance());
    assert.equal(lines.length, 2);
    assert.doesNotMatch(JSON.stringify([first, first.message, second, second.message, lines]), /TESTKEY/);
    assert.match(second.detail, /bad key \[redacted\]/);
  });
});
