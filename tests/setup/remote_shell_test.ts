import assert from "node:assert/strict";
import { failureIn, putCall } from "../../server/setup/remote_shell.ts";
import { remoteFile } from "../../server/setup/trust.ts";

Deno.test("failureIn says what a pod's disk has in plain words, and takes nothing else from the pod", () => {
  assert.equal(failureIn("wrote /a\nend\n"), null);
  assert.equal(
    failureIn("failed /etc/ssh/x sh: cannot create: No space left on device"),
    "its disk is full (/etc/ssh/x)",
  );
  assert.equal(failureIn("failed /etc/x Read-only file system"), "its disk is read-only (/etc/x)");
  assert.equal(failureIn("failed /etc/x Permission denied"), "/etc/x could not be written");
  const unknown = "the commands for it did not run to their end";
  for (const path of ["\x1b[31m/etc/x", `/${"a".repeat(60_000)}`, "", "/etc/\u202ex"]) {
    assert.equal(failureIn(`failed ${path} No space left on device`), unknown);
  }
});

Deno.test("putCall refuses a path that a shell would read as more than a path", () => {
  for (const path of ["/etc/a b", "/etc/$(id)", "etc/a", "/etc/'a"]) {
    assert.throws(() => putCall(remoteFile(path, 0o644, "x")), TypeError);
  }
  assert.match(
    putCall(remoteFile("/etc/a", 0o644, "x")),
    /^put \/etc\/a 644 [0-9a-f]{64} <<'END-OF-FILE'\neA==\nEND-OF-FILE\n$/,
  );
});
