import assert from "node:assert/strict";
import vectors from "../vectors/webhooks/addresses.json" with { type: "json" };
import { isPublicAddress } from "../../server/webhooks/addresses.ts";
import { checkUrl, urlHint } from "../../server/webhooks/url.ts";

const STRICT = { allowPrivate: false, testDiscord: null };
const LENIENT = { allowPrivate: true, testDiscord: null };
const INSIDE = "url must not lead to a private, local or reserved address without ORGPODS_WEBHOOKS_ALLOW_PRIVATE=true";

Deno.test("isPublicAddress tells public addresses from all others", () => {
  const wrong = vectors.addresses.filter((one) => isPublicAddress(one.address) !== one.public);
  assert.deepEqual(wrong, []);
});

Deno.test("checkUrl refuses every spelling of an address that leads inside, unless the operator allows it", () => {
  for (const url of vectors.urls_inside) {
    assert.throws(() => checkUrl(url, "signed", STRICT), { code: "invalid_request", message: INSIDE }, url);
    assert.ok(checkUrl(url, "signed", LENIENT), url);
  }
});

Deno.test("checkUrl takes https addresses, and http only to loopback where the operator allows it", () => {
  for (const url of ["https://hooks.example.org/x?y=1", "https://8.8.8.8/", "https://[2606:4700:4700::1111]:8443/a"]) {
    assert.equal(checkUrl(url, "signed", STRICT).href, url);
  }
  assert.equal(checkUrl("http://127.0.0.1:9/x", "signed", LENIENT).href, "http://127.0.0.1:9/x");
  const https = "url must be an https address";
  const plain = `${https}; plain http is for loopback, with ORGPODS_WEBHOOKS_ALLOW_PRIVATE=true`;
  const more = "url must not hold a user name, a password or a fragment";
  const refused: [string, string][] = [
    ["http://127.0.0.1:9/x", plain],
    ["http://hooks.example.org/x", plain],
    ["ftp://hooks.example.org/x", https],
    ["file:///etc/passwd", https],
    ["hooks.example.org/x", https],
    ["", https],
    ["https://user@hooks.example.org/x", more],
    ["https://user:pass@hooks.example.org/x", more],
    ["https://hooks.example.org/x#y", more],
  ];
  for (const [url, message] of refused) {
    assert.throws(() => checkUrl(url, "signed", STRICT), { code: "invalid_request", message }, url);
  }
  assert.throws(() => checkUrl("http://hooks.example.org/x", "signed", LENIENT), { message: plain });
  assert.throws(() => checkUrl("http://10.0.0.1/x", "signed", LENIENT), { message: plain });
});

Deno.test("checkUrl takes only Discord's own webhook addresses for the format discord", () => {
  const good = "https://discord.com/api/webhooks/123456789012345678/abc-DEF_123";
  assert.equal(checkUrl(good, "discord", STRICT).href, good);
  assert.ok(checkUrl(good.replace("discord.com", "discordapp.com"), "discord", STRICT));
  const refused = [
    good.replace("https:", "http:"),
    good.replace("discord.com", "discord.com.evil.org"),
    good.replace("discord.com", "evil.org"),
    good.replace("discord.com", "discord.com@evil.org"),
    good.replace("discord.com", "discord.com:8443"),
    good.replace("discord.com", "canary.discord.com"),
    `${good}?wait=true`,
    `${good}#x`,
    `${good}/slack`,
    "https://discord.com/api/webhooks/123456789012345678",
    "https://discord.com/api/users/@me",
    "https://127.0.0.1/api/webhooks/123456789012345678/abc",
    good.replace("/api/", "/x/../api/../"),
  ];
  for (const url of refused) {
    assert.throws(() => checkUrl(url, "discord", STRICT), {
      message: "url must be a Discord webhook: https://discord.com/api/webhooks/<id>/<token>",
    }, url);
    assert.throws(() => checkUrl(url, "discord", LENIENT), { code: "invalid_request" }, url);
  }
});

Deno.test("urlHint shows the host and four characters", () => {
  const url = new URL("https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnop");
  assert.equal(urlHint(url), "discord.com …mnop");
});
