/** Files sent to a server elsewhere: its certificate must be one that this machine trusts, and for its name. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { startProgram } from "../support/process.ts";

const vector = (name: string) => new URL(`../vectors/tls/${name}`, import.meta.url);
const AUTHORITY = { NODE_EXTRA_CA_CERTS: fileURLToPath(vector("authority.pem")) };
const TOKEN = "plat_" + "x".repeat(43);

async function uploaded(url: string, env: Record<string, string>): Promise<string> {
  const program = startProgram("tests/support/upload_program.ts", { args: [url, TOKEN], env });
  try {
    await program.ended();
    return program.stdout().trim() || program.stderr();
  } finally {
    await program.close();
  }
}

Deno.test("an upload over TLS goes out with its length and the token, and only to a server that is trusted by its name", async () => {
  const seen: string[] = [];
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: Deno.readTextFileSync(vector("localhost.pem")),
    key: Deno.readTextFileSync(vector("localhost_key.pem")),
    onListen: () => {},
  }, async (request) => {
    const { byteLength } = await request.arrayBuffer();
    const [length, token] = ["content-length", "authorization"].map((name) => request.headers.get(name));
    seen.push(`${byteLength} ${length} ${token}`);
    return new Response("taken");
  });
  try {
    const [named, byAddress] = ["localhost", "127.0.0.1"].map((name) => `https://${name}:${server.addr.port}`);
    assert.equal(await uploaded(named!, AUTHORITY), "taken");
    assert.deepEqual(seen, [`3000000 3000000 Bearer ${TOKEN}`]);
    assert.match(await uploaded(named!, {}), /^refused: https:\/\/localhost:\d+ cannot be reached: .+/);
    assert.match(await uploaded(byAddress!, AUTHORITY), /^refused: https:\/\/127\.0\.0\.1:\d+ cannot be reached: .+/);
    assert.match(
      await uploaded(named!, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }),
      /^refused: /,
      "whatever the environment says",
    );
    assert.equal(seen.length, 1, "nothing reached the server");
  } finally {
    await server.shutdown();
  }
});
