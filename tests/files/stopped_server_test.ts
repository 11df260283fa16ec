/** Members can stop the SFTP servers that run as them; that costs nobody else a channel of the pod for long. */
import assert from "node:assert/strict";
import { createOwnerSessions } from "../../server/files/owner_sessions.ts";
import { createPlaces } from "../../server/files/places.ts";
import { lacks } from "../support/needs.ts";
import { path } from "../support/sftp.ts";
import { trustingPool } from "../support/ssh_pool.ts";
import { startSshd, until } from "../support/sshd.ts";

const needs = { ignore: lacks("sshd", "ssh-keygen", "setpriv", "root") };
const soon = { deadlineMs: 60_000 };
/** Users of this process alone: servers are looked for on the whole machine. */
const user = (number: number) => ({ uid: 100_000 + 10 * Deno.pid + number, gid: 100_000 });

/** Pids of the SFTP servers that act as the user. */
function serversOf(uid: number): number[] {
  return [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter((pid) => {
    try {
      const status = Deno.readTextFileSync(`/proc/${pid}/status`);
      return /^Name:\tsftp-server$/m.test(status) && new RegExp(`^Uid:\t\\d+\t${uid}\t`, "m").test(status);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
      // A process that ends while it is read.
      if (error instanceof Error && /os error 3\b/.test(error.message)) return false;
      throw error;
    }
  });
}

Deno.test("a stopped SFTP server of a member is ended, and the connection goes on", needs, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  let stopped: number[] = [];
  try {
    const owners = createOwnerSessions(pool);
    const [alice, bob] = [user(1), user(2)];
    const session = await owners.sftp(sshd.target(), alice, soon);
    await session.stat(path("/"));
    stopped = serversOf(alice.uid);
    assert.equal(stopped.length, 1);
    Deno.kill(stopped[0]!, "SIGSTOP");
    await assert.rejects(session.stat(path("/"), { deadlineMs: 200 }), { kind: "timeout" });
    assert.notEqual(await owners.sftp(sshd.target(), alice, soon), session);
    await until(() => !serversOf(alice.uid).includes(stopped[0]!), "the stopped server is gone");
    stopped = [];
    await (await owners.sftp(sshd.target(), bob, soon)).stat(path("/"));
    await until(() => pool.stats().channels === 0, "every channel is given back");
    assert.equal((await sshd.log()).match(/Accepted publickey/g)?.length, 1);
  } finally {
    for (const pid of stopped) Deno.kill(pid, "SIGKILL");
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("a channel that the pod does not close takes its connection out of use", needs, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  const stopped: number[] = [];
  try {
    // As on a pod where root may not end the processes of others.
    const owners = createOwnerSessions({
      ...pool,
      exec: (target, _command, options) => pool.exec(target, "false", options),
    });
    const alice = user(3);
    const session = await owners.sftp(sshd.target(), alice, soon);
    stopped.push(...serversOf(alice.uid));
    for (const pid of stopped) Deno.kill(pid, "SIGSTOP");
    await assert.rejects(session.stat(path("/"), { deadlineMs: 200 }), { kind: "timeout" });
    await until(() => pool.stats().connections === 0, "the connection has ended");
    await (await owners.sftp(sshd.target(), alice, soon)).stat(path("/"));
  } finally {
    for (const pid of stopped) Deno.kill(pid, "SIGKILL");
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("the sessions of many users share three channels of a pod", needs, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  let most = 0;
  try {
    const owners = createOwnerSessions(pool);
    await Promise.all([1, 2, 3, 4, 5].map(async (at) => {
      const session = await owners.sftp(sshd.target(), user(at), soon);
      most = Math.max(most, pool.stats().channels);
      await session.stat(path("/"));
    }));
    assert(most > 0 && most <= 3, `${most} channels`);
    await pool.exec(sshd.target(), "true", soon);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("createPlaces lets so many work at a time for each name, in order, also after failures", async () => {
  const places = createPlaces(2);
  const order: string[] = [];
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const work = (name: string, label: string) => {
    const gate = Promise.withResolvers<void>();
    gates.set(label, gate);
    return places.take(name, () => (order.push(label), gate.promise));
  };
  const all = ["1", "2", "3", "4"].map((label) => work("a", label));
  const other = work("b", "other");
  await Promise.resolve();
  assert.deepEqual(order, ["1", "2", "other"]);
  gates.get("2")!.reject(new Error("failed"));
  await assert.rejects(all[1]!, /failed/);
  assert.deepEqual(order, ["1", "2", "other", "3"]);
  for (const gate of gates.values()) gate.resolve();
  await Promise.all([all[0], all[2], all[3], other]);
  assert.deepEqual(order, ["1", "2", "other", "3", "4"]);
});
