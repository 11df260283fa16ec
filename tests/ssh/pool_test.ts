import assert from "node:assert/strict";
import { createBackoff } from "../../server/ssh/backoff.ts";
import { DialFailure } from "../../server/ssh/dial_failure.ts";
import { sshServer, tcpProxy } from "../support/hostile_ssh.ts";
import { lacks } from "../support/needs.ts";
import { errorOf, keyPair, settableClock, targetAt, trustingPool } from "../support/ssh_pool.ts";
import { startSshd, until } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("exec runs 40 commands at once over one connection when MaxSessions is 10", needsSshd, async () => {
  const sshd = await startSshd("MaxSessions 10");
  const pool = trustingPool();
  let most = 0;
  try {
    const results = await Promise.all(Array.from({ length: 40 }, async (_, i) => {
      const result = await pool.exec(sshd.target(), `echo ${i}`, { deadlineMs: 60_000 });
      most = Math.max(most, pool.stats().channels);
      return Number(text(result.stdout));
    }));
    assert.deepEqual(results, Array.from({ length: 40 }, (_, i) => i));
    assert.equal(most, 8);
    assert.equal((await sshd.log()).match(/Accepted publickey/g)?.length, 1);
    assert.deepEqual(pool.stats(), { connections: 1, channels: 0, waiting: 0, backingOff: 0 });
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("exec gives waiting calls their turn in order of arrival", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool({ maxChannels: 1 });
  const order: number[] = [];
  try {
    await Promise.all([0, 1, 2, 3, 4].map(async (i) => {
      await pool.exec(sshd.target(), "true", { deadlineMs: 60_000 });
      order.push(i);
    }));
    assert.deepEqual(order, [0, 1, 2, 3, 4]);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("exec counts the wait for a channel against the deadline and leaves the queue then", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool({ maxChannels: 1 });
  const abort = new AbortController();
  try {
    await pool.connect(sshd.target(), { deadlineMs: 60_000 });
    const busy = pool.exec(sshd.target(), "read line; echo done", {
      deadlineMs: 60_000,
      signal: abort.signal,
      stdin: "",
    });
    const held = pool.withClient(sshd.target(), (_client, signal) => {
      return new Promise((resolve) => signal.addEventListener("abort", resolve));
    }, { deadlineMs: 60_000, signal: abort.signal });
    await busy;
    await until(() => pool.stats().channels === 1, "the only channel is taken");
    const error = await errorOf(pool.exec(sshd.target(), "true", { deadlineMs: 100 }));
    assert.equal(error.code, "pod_command_failed");
    assert.match(error.details.hint ?? "", /no channel to the pod was free/);
    assert.equal(pool.stats().waiting, 0);
    abort.abort(new Error("enough"));
    await assert.rejects(held, /enough/);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("exec goes on with the connection when the pod refuses a further channel", needsSshd, async () => {
  const sshd = await startSshd("MaxSessions 2");
  const pool = trustingPool();
  try {
    const outcomes = await Promise.allSettled(
      [1, 2, 3].map(() => pool.exec(sshd.target(), "sleep 4", { deadlineMs: 60_000 })),
    );
    assert.deepEqual(outcomes.map((o) => o.status), ["fulfilled", "fulfilled", "rejected"]);
    const refused = outcomes[2];
    assert(refused?.status === "rejected");
    assert.equal(refused.reason.code, "pod_command_failed");
    assert.match(refused.reason.details.hint, /opened no further channel \(MaxSessions\)/);
    assert.equal((await pool.exec(sshd.target(), "true", { deadlineMs: 60_000 })).exitCode, 0);
    assert.equal((await sshd.log()).match(/Accepted publickey/g)?.length, 1);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("the pool makes another connection when start, address or key change", needsSshd, async () => {
  const sshd = await startSshd();
  await Deno.writeTextFile(
    `${sshd.folder}/authorized_keys`,
    await Deno.readTextFile(`${sshd.folder}/root.pub`) + await Deno.readTextFile(`${sshd.folder}/stranger.pub`),
  );
  const proxy = tcpProxy(sshd.port);
  const logins: string[] = [];
  const pool = trustingPool({ onLogin: (target) => logins.push(`${target.startKey} ${target.port}`) });
  try {
    const call = (changes = {}) => pool.exec(sshd.target(changes), "true", { deadlineMs: 60_000 });
    await call();
    await call();
    await call({ startKey: "start-2" });
    await call({ startKey: "start-2", port: proxy.port });
    await call({ startKey: "start-2", port: proxy.port, privateKey: sshd.strangerKey });
    assert.deepEqual(logins, [
      `start-1 ${sshd.port}`,
      `start-2 ${sshd.port}`,
      `start-2 ${proxy.port}`,
      `start-2 ${proxy.port}`,
    ]);
    await until(() => pool.stats().connections === 1, "the older connections are closed");
  } finally {
    await pool.close();
    await proxy.close();
    await sshd.stop();
  }
});

Deno.test("the pool ends a running command of the former start when the start changes", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  try {
    const cut = errorOf(pool.exec(sshd.target(), "sleep 20", { deadlineMs: 60_000 }));
    await until(() => sshd.hasProcess("sleep\u000020"), "the command runs");
    await pool.exec(sshd.target({ startKey: "start-2" }), "true", { deadlineMs: 60_000 });
    assert.equal((await cut).code, "pod_command_failed");
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("the pool leaves a pod alone after a refused login, 20 s, then 40 s", needsSshd, async () => {
  const sshd = await startSshd();
  const clock = settableClock();
  const pool = trustingPool({ clock });
  const attempts = async () => (await sshd.log()).match(/Connection from 127\.0\.0\.1/g)?.length ?? 0;
  const stranger = sshd.target({ privateKey: sshd.strangerKey });
  const connect = (target = stranger) => pool.connect(target, { deadlineMs: 60_000 });
  try {
    const first = await errorOf(connect());
    assert.equal(first.code, "pod_unreachable");
    assert.match(first.message, /^The pod refused the server's key/);
    assert.equal(first.details.retryAfter, 20);
    assert.equal(await attempts(), 1);

    clock.advance(12_000);
    const held = await errorOf(connect());
    assert.match(held.message, /^The pod refused the server's key; the next attempt is possible in 8 seconds$/);
    assert.equal(held.details.retryAfter, 8);
    // The right key is held back too: sshd's penalty is for the address.
    assert.equal((await errorOf(connect(sshd.target()))).details.retryAfter, 8);
    assert.equal(await attempts(), 1);
    assert.equal(pool.stats().backingOff, 1);

    clock.advance(8_000);
    assert.equal((await errorOf(connect())).details.retryAfter, 40);
    assert.equal(await attempts(), 2);

    clock.advance(40_000);
    await connect(sshd.target());
    assert.equal((await errorOf(connect())).details.retryAfter, 20, "a success begins anew");
    pool.drop("pod-1");
    await connect(sshd.target());
    // Another start of the pod has no history.
    await connect(sshd.target({ startKey: "start-2" }));
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("createBackoff doubles up to 300 s and forgets on success and on another start", () => {
  const clock = settableClock();
  const backoff = createBackoff(clock);
  const pod = { podKey: "a", startKey: "1" };
  const failure = new DialFailure("login", "no", undefined);
  const waits = [1, 2, 3, 4, 5, 6].map(() => backoff.refused(pod, failure));
  assert.deepEqual(waits, [20, 40, 80, 160, 300, 300]);
  assert.equal(backoff.held({ ...pod, startKey: "2" }), undefined);
  assert.equal(backoff.held({ ...pod, podKey: "b" }), undefined);
  clock.advance(299_001);
  assert.equal(backoff.held(pod)?.retryAfter, 1);
  clock.advance(999);
  assert.equal(backoff.held(pod), undefined);
  assert.equal(backoff.refusedLately(pod), true);
  clock.advance(300_000);
  assert.equal(backoff.refusedLately(pod), false);
  backoff.succeeded(pod);
  assert.equal(backoff.refused(pod, failure), 20);
  backoff.forget("a");
  assert.equal(backoff.count(), 0);
});

Deno.test("the pool closes a connection that nobody uses", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool({ idleMs: 50 });
  try {
    await pool.exec(sshd.target(), "sleep 0.2", { deadlineMs: 60_000 });
    await until(() => pool.stats().connections === 0, "the idle connection is closed");
    await pool.exec(sshd.target(), "true", { deadlineMs: 60_000 });
    assert.equal((await sshd.log()).match(/Accepted publickey/g)?.length, 2);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test(
  "the pool keeps the unused connection of a pod that somebody may be on, and closes it after",
  needsSshd,
  async () => {
    const sshd = await startSshd();
    const asked: string[] = [];
    let isKept = true;
    const pool = trustingPool({ idleMs: 20, isKept: (podKey) => asked.push(podKey) > 0 && isKept });
    try {
      await pool.exec(sshd.target(), "true", { deadlineMs: 60_000 });
      await until(() => asked.length >= 3, "it was unused for long enough to be closed");
      assert.equal(pool.stats().connections, 1);
      await pool.exec(sshd.target(), "true", { deadlineMs: 60_000 });
      assert.equal((await sshd.log()).match(/Accepted publickey/g)?.length, 1);
      isKept = false;
      await until(() => pool.stats().connections === 0, "the idle connection is closed");
      assert.deepEqual(new Set(asked), new Set([sshd.target().podKey]));
    } finally {
      await pool.close();
      await sshd.stop();
    }
  },
);

Deno.test("withClient lends the live client, passes errors through and ends with its deadline", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  const options = { deadlineMs: 60_000 };
  try {
    const first = await pool.withClient(sshd.target(), (client) => Promise.resolve(client), options);
    const second = await pool.withClient(sshd.target(), (client) => Promise.resolve(client), options);
    assert.equal(first, second);
    const mine = new RangeError("mine");
    await assert.rejects(pool.withClient(sshd.target(), () => Promise.reject(mine), options), (e) => e === mine);
    assert.equal(pool.stats().channels, 0);

    const error = await errorOf(pool.withClient(sshd.target(), () => new Promise(() => {}), { deadlineMs: 100 }));
    assert.equal(error.code, "pod_command_failed");
    const third = await pool.withClient(sshd.target(), (client) => Promise.resolve(client), options);
    assert.notEqual(third, first, "a connection with an unfinished guest takes no new calls");
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("drop and close end running calls and leave nothing open", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  try {
    for (const end of [() => pool.drop("pod-1"), () => pool.close()]) {
      const running = errorOf(pool.exec(sshd.target(), "sleep 21", { deadlineMs: 60_000 }));
      await until(() => pool.stats().channels === 1, "the command holds its channel");
      await end();
      const error = await running;
      assert.equal(error.code, "pod_command_failed");
      assert.match(error.details.hint ?? "", /This server ended the connection/);
    }
    assert.deepEqual(pool.stats(), { connections: 0, channels: 0, waiting: 0, backingOff: 0 });
    assert.equal((await errorOf(pool.connect(sshd.target(), { deadlineMs: 60_000 }))).code, "pod_unreachable");
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("exec gives up when the pod lets us in and ends each connection", async () => {
  const server = await sshServer({ hostKey: keyPair().private, endAfterLogin: true });
  const pool = trustingPool();
  try {
    const error = await errorOf(pool.exec(targetAt(server.port), "true", { deadlineMs: 60_000 }));
    assert(["pod_unreachable", "pod_command_failed"].includes(error.code), error.code);
    assert(server.count() <= 3);
  } finally {
    await pool.close();
    await server.close();
  }
});
