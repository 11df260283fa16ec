import assert from "node:assert/strict";
import { tlsFailure } from "../../server/webhooks/tls_failure.ts";

/** Messages of rustls, of several versions. */
const MESSAGES: readonly [string, string][] = [
  [
    'certificate not valid for name "a.example"; certificate is only valid for DnsName("vault.corp.example")',
    "the certificate is not valid for this host name",
  ],
  ["NotValidForName", "the certificate is not valid for this host name"],
  [
    "certificate expired: verification time 1742381579 (UNIX), but certificate is not valid after 1428883199",
    "the certificate has expired",
  ],
  ["Expired", "the certificate has expired"],
  [
    "certificate not valid yet: verification time 1742381579 (UNIX), but certificate is not valid before 1942381579",
    "the certificate is not valid yet",
  ],
  ["NotValidYet", "the certificate is not valid yet"],
  ["UnknownIssuer", "the certificate is not of an authority that this server trusts"],
  ['Other(OtherError("vault.corp.example"))', "the certificate is not accepted"],
];

Deno.test("tlsFailure tells what is wrong with a certificate and nothing of what it holds", () => {
  for (const [message, sentence] of MESSAGES) {
    assert.equal(tlsFailure(`invalid peer certificate: ${message}`), sentence);
  }
});

Deno.test("tlsFailure leaves what is said of the protocol as it is", () => {
  const message = "received corrupt message of type InvalidContentType";
  assert.equal(tlsFailure(message), message);
});
