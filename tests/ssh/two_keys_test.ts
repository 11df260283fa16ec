/** A login with two keys, as while one replaces the other. */
import assert from "node:assert/strict";
import type { SshPool } from "../../server/ssh/pool.ts";
import { lacks } from "../support/needs.ts";
import { errorOf, keyPair, trustingPool } from "../support/ssh_pool.ts";
import { startSshd, type TestSshd } from "../support/sshd.ts";

const ignore = lacks("root", "sshd", "ssh-keygen");
const CALL = { deadlineMs: 60_000 };

async function inScene(use: (sshd: TestSshd, pool: SshPool, letIn: string[]) => Promise<void>): Promise<void> {
  const sshd = await startSshd();
  const letIn: string[] = [];
  const pool = trustingPool({ onLogin: (_target, _fingerprint, _blob, privateKey) => void letIn.push(privateKey) });
  try {
    await use(sshd, pool, letIn);
  } finally {
    await pool.close();
    await sshd.stop();
  }
}

Deno.test({
  name: "a login whose first key is refused is let in by the other on the same connection, and holds nothing up",
  ignore,
  fn: () =>
    inScene(async (sshd, pool, letIn) => {
      const { privateKey, strangerKey } = sshd;
      const target = sshd.target({ privateKey: strangerKey, otherKey: privateKey });
      assert.equal((await pool.exec(target, "true", CALL)).exitCode, 0);
      await pool.handshake(target, CALL);
      assert.deepEqual(letIn, [privateKey, privateKey]);
      assert.equal(pool.stats().backingOff, 0);
      const log = await sshd.log();
      assert.equal(log.match(/Connection from/g)?.length, 2);
      assert.doesNotMatch(log, /Too many authentication failures/);
    }),
});

Deno.test({
  name: "the first key is used where the pod takes both",
  ignore,
  fn: () =>
    inScene(async (sshd, pool, letIn) => {
      await pool.exec(sshd.target({ otherKey: sshd.strangerKey }), "true", CALL);
      assert.deepEqual(letIn, [sshd.privateKey]);
    }),
});

Deno.test({
  name: "two keys that are both refused are one refusal, after which the pod is left alone",
  ignore,
  fn: () =>
    inScene(async (sshd, pool) => {
      const target = sshd.target({ privateKey: sshd.strangerKey, otherKey: keyPair().private });
      const first = await errorOf(pool.connect(target, CALL));
      assert.deepEqual([first.code, first.details.retryAfter], ["pod_unreachable", 20]);
      assert.equal((await sshd.log()).match(/Connection from/g)?.length, 1);
      await errorOf(pool.connect(target, CALL));
      assert.equal((await sshd.log()).match(/Connection from/g)?.length, 1, "it is not asked again");
    }),
});

Deno.test({
  name:
    "a connection stays in use when the order of the keys changes and when one of them goes, not when both are others",
  ignore,
  fn: () =>
    inScene(async (sshd, pool, letIn) => {
      const { privateKey, strangerKey } = sshd;
      const running = pool.exec(
        sshd.target({ privateKey: strangerKey, otherKey: privateKey }),
        "sleep 1; echo on",
        CALL,
      );
      await pool.exec(sshd.target({ privateKey, otherKey: strangerKey }), "true", CALL);
      await pool.exec(sshd.target({ privateKey }), "true", CALL);
      assert.equal(new TextDecoder().decode((await running).stdout), "on\n");
      assert.deepEqual(letIn, [privateKey]);
      await errorOf(pool.exec(sshd.target({ privateKey: keyPair().private }), "true", CALL));
    }),
});
