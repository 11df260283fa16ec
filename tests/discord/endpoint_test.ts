import assert from "node:assert/strict";
import { createDirectory } from "../../server/discord/directory.ts";
import { checkedEndpoint } from "../../server/discord/endpoint.ts";
import { createOAuth } from "../../server/discord/oauth.ts";
import { AppError } from "../../server/errors.ts";
import { silentLog } from "../../server/log.ts";
import { testClock } from "./support.ts";

const usage = (part: string) => (error: unknown) =>
  error instanceof AppError && error.code === "usage" && error.message.includes(part);

Deno.test("checkedEndpoint takes https anywhere and http on loopback", () => {
  assert.deepEqual(checkedEndpoint("X", "https://discord.com/api/v10/"), {
    href: "https://discord.com/api/v10",
    insecure: false,
  });
  for (const host of ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"]) {
    assert.equal(checkedEndpoint("X", `http://${host}:8080/api/v10`).insecure, true, host);
  }
});

Deno.test("checkedEndpoint refuses an address that a token must not travel to", () => {
  for (
    const address of ["http://discord.com/api/v10", "http://127.0.0.1.evil.example/", "http://localhost.evil.example"]
  ) {
    assert.throws(() => checkedEndpoint("DISCORD_API_URL", address), usage("must use https"), address);
  }
  for (const address of ["discord.com", "ftp://discord.com", "", "file:///etc/passwd"]) {
    assert.throws(() => checkedEndpoint("DISCORD_API_URL", address), usage("must be an https address"), address);
  }
  assert.throws(() => checkedEndpoint("X", "https://a:b@discord.com"), usage("must not carry"));
});

Deno.test("createDirectory and createOAuth refuse plain http to another machine", () => {
  const parts = { version: "1", clock: testClock(), log: silentLog };
  const plain = "http://192.0.2.1/api/v10";
  assert.throws(() => createDirectory({ ...parts, apiUrl: plain, botToken: "t" }), usage("DISCORD_API_URL"));
  const client = { ...parts, clientId: "1", clientSecret: "s" };
  const real = { apiUrl: "https://discord.com/api/v10", siteUrl: "https://discord.com" };
  assert.throws(() => createOAuth({ ...client, ...real, apiUrl: plain }), usage("DISCORD_API_URL"));
  assert.throws(() => createOAuth({ ...client, ...real, siteUrl: plain }), usage("DISCORD_URL"));
});
