import assert from "node:assert/strict";
import { dialError, DialFailure, type DialSight, explainDial } from "../../server/ssh/dial_failure.ts";
import { misbehaviours, sshServer, tcpServer } from "../support/hostile_ssh.ts";
import { lacks } from "../support/needs.ts";
import { errorOf, keyPair, targetAt, trustingPool } from "../support/ssh_pool.ts";
import { freePort, startSshd } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };

/** For those that stall; the others end by themselves. */
const STALL_MS = 700;
const hints: Record<string, RegExp> = {
  "says nothing": /did not let us in within 700 ms and said nothing/,
  "closes at once": /closed the connection before the login\. Three readings/,
  "resets": /closed the connection before the login\. Three readings/,
  "sends rubbish": /is not an SSH server/,
  "sends an endless banner": /is not an SSH server; it began with "welcome/,
  "sends an endless line": /is not an SSH server; it began with "xxxx/,
  "speaks HTTP": /is not an SSH server; it began with "HTTP\/1\.1 400/,
  "identifies itself and stalls": /did not let us in within 700 ms after it began to speak SSH/,
  "sends a huge packet": /^The SSH connection to 127\.0\.0\.1:\d+ failed: Bad packet length\.$/,
  "lets us in before the key exchange": /^The SSH handshake with .* failed: Received unexpected packet type 52\.$/,
};

for (const [name, behave] of Object.entries(misbehaviours)) {
  Deno.test(`connect says pod_unreachable when the server ${name}`, async () => {
    const server = tcpServer(behave);
    const pool = trustingPool(hints[name]!.source.includes(`${STALL_MS} ms`) ? { readyTimeoutMs: STALL_MS } : {});
    try {
      const error = await errorOf(pool.connect(targetAt(server.port), { deadlineMs: 60_000 }));
      assert.equal(error.code, "pod_unreachable");
      assert.equal(error.message, "Could not connect to the pod");
      assert.match(error.details.hint ?? "", hints[name]!);
      assert.equal(pool.stats().channels, 0);
    } finally {
      await pool.close();
      await server.close();
    }
    assert.equal(pool.stats().connections, 0);
  });
}

Deno.test("exec says pod_unreachable by its own deadline when the server says nothing", async () => {
  const server = tcpServer(misbehaviours["says nothing"]!);
  const pool = trustingPool();
  try {
    const error = await errorOf(pool.exec(targetAt(server.port), "true", { deadlineMs: 150 }));
    assert.equal(error.code, "pod_unreachable");
    assert.match(error.details.hint ?? "", /within this call's 150 ms/);
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("connect says which when nothing listens or the port is impossible", async () => {
  const pool = trustingPool();
  try {
    const refused = await errorOf(pool.connect(targetAt(freePort()), { deadlineMs: 60_000 }));
    assert.match(refused.details.hint ?? "", /^Nothing listens at 127\.0\.0\.1:\d+/);
    const port = await errorOf(pool.connect(targetAt(70_000), { deadlineMs: 60_000 }));
    assert.equal(port.code, "pod_unreachable");
    assert.match(port.details.hint ?? "", /Port should be/);
  } finally {
    await pool.close();
  }
});

Deno.test("explainDial tells the kinds apart when given errors of the socket and of ssh2", () => {
  const sight = {
    address: "pod:22",
    readyTimeoutMs: 10,
    firstBytes: new Uint8Array(),
    handshakeDone: false,
    refusedFingerprint: undefined,
  };
  const kind = (fields: Record<string, unknown>, seen: Partial<DialSight> = {}) =>
    explainDial(Object.assign(new Error("some words"), fields), { ...sight, ...seen }).kind;
  assert.equal(kind({ code: "ENOTFOUND", level: "client-socket" }), "dns");
  assert.equal(kind({ code: "EHOSTUNREACH", level: "client-socket" }), "network");
  assert.equal(kind({ code: "ECONNRESET", level: "client-socket" }), "reset");
  assert.equal(kind({ level: "client-authentication" }), "login");
  assert.equal(kind({ code: 2 }, { handshakeDone: true }), "login");
  assert.equal(kind({ code: 2 }), "network");
  assert.equal(kind({ level: "handshake" }), "handshake");
  assert.equal(kind({ level: "handshake" }, { refusedFingerprint: "SHA256:x" }), "host_key");
});

Deno.test("dialError says which reading of a reset is likely when a login was refused shortly before", () => {
  const reset = new DialFailure("reset", "Three readings.", undefined);
  assert.equal(dialError(reset, undefined, false).details.hint, "Three readings.");
  assert.match(dialError(reset, undefined, true).details.hint ?? "", /refused shortly before, so the second is likely/);
});

Deno.test("connect says backend_key_unreadable when the private key is none", async () => {
  const pool = trustingPool();
  try {
    for (const privateKey of ["", "rubbish", keyPair().public, keyPair("secret").private]) {
      const error = await errorOf(pool.connect(targetAt(freePort(), { privateKey }), { deadlineMs: 60_000 }));
      assert.equal(error.code, "backend_key_unreadable");
      assert.equal(pool.stats().backingOff, 0);
    }
  } finally {
    await pool.close();
  }
});

Deno.test("connect refuses and tells the fingerprint when the verifier says no", async () => {
  const server = await sshServer({ hostKey: keyPair().private });
  const seen: string[] = [];
  const pool = trustingPool({
    verifyHostKey: (target, fingerprint, blob) => {
      seen.push(`${target.podKey} ${fingerprint} ${blob.length}`);
      return false;
    },
  });
  try {
    const error = await errorOf(pool.exec(targetAt(server.port), "true", { deadlineMs: 60_000 }));
    assert.equal(error.code, "host_key_changed");
    assert.equal(error.message, "The pod's SSH host key changed while the pod was running");
    assert.equal(error.details.retryAfter, 20);
    assert.equal(seen.length, 1);
    assert.match(seen[0]!, /^pod-1 SHA256:[A-Za-z0-9+/]{43} 51$/);
    assert(error.details.hint?.includes(seen[0]!.split(" ")[1]!));
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("connect passes on what the verifier throws", async () => {
  const server = await sshServer({ hostKey: keyPair().private });
  const pool = trustingPool({
    verifyHostKey: () => {
      throw new Error("The pins cannot be read");
    },
  });
  try {
    await assert.rejects(pool.connect(targetAt(server.port), { deadlineMs: 60_000 }), /The pins cannot be read/);
    assert.equal(pool.stats().backingOff, 0);
  } finally {
    await pool.close();
    await server.close();
  }
});

Deno.test("connect returns the fingerprint ssh-keygen prints", needsSshd, async () => {
  const sshd = await startSshd();
  const logins: string[] = [];
  const pool = trustingPool({
    verifyHostKey: (_target, fingerprint) => fingerprint === sshd.fingerprint(),
    onLogin: (target, fingerprint) => logins.push(`${target.startKey} ${fingerprint}`),
  });
  try {
    const [first, second] = await Promise.all([
      pool.connect(sshd.target(), { deadlineMs: 60_000 }),
      pool.connect(sshd.target(), { deadlineMs: 60_000 }),
    ]);
    assert.equal(first.fingerprint, sshd.fingerprint());
    assert.equal(second.fingerprint, sshd.fingerprint());
    assert.deepEqual(logins, [`start-1 ${sshd.fingerprint()}`]);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("connect refuses another host key at the same address", needsSshd, async () => {
  const sshd = await startSshd();
  const pinned = sshd.fingerprint();
  const pool = trustingPool({ verifyHostKey: (_target, fingerprint) => fingerprint === pinned });
  try {
    await pool.connect(sshd.target(), { deadlineMs: 60_000 });
    pool.drop("pod-1");
    await sshd.replaceHostKey();
    assert.notEqual(sshd.fingerprint(), pinned);
    const error = await errorOf(pool.connect(sshd.target(), { deadlineMs: 60_000 }));
    assert.equal(error.code, "host_key_changed");
    assert(error.details.hint?.includes(sshd.fingerprint()));
  } finally {
    await pool.close();
    await sshd.stop();
  }
});
