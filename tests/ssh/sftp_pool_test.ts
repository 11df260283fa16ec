import assert from "node:assert/strict";
import { kindOf } from "../../server/ssh/sftp/mod.ts";
import { lacks } from "../support/needs.ts";
import { path, sftpErrorOf, withSftp } from "../support/sftp.ts";
import { errorOf, trustingPool } from "../support/ssh_pool.ts";
import { startSshd, until } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };
const soon = { deadlineMs: 60_000 };

Deno.test("sftp gives all callers one session on one channel", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool();
  try {
    const sessions = await Promise.all(Array.from({ length: 20 }, () => pool.sftp(sshd.target(), soon)));
    assert.equal(new Set(sessions).size, 1);
    assert.deepEqual(pool.stats(), { connections: 1, channels: 1, waiting: 0, backingOff: 0 });
    await pool.exec(sshd.target(), "true", soon);
    const states = await Promise.all(Array.from({ length: 200 }, () => sessions[0]!.stat(path("/"))));
    assert(states.every((state) => kindOf(state) === "directory"));
    assert.equal((await sshd.log()).match(/Accepted publickey/g)?.length, 1);
    assert.equal((await sshd.log()).match(/Starting session: subsystem 'sftp'/g)?.length, 1);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("an idle session gives its channel back, an open file keeps it", needsSshd, async () => {
  await withSftp(async ({ sftp, pool, sshd, folder }) => {
    await Deno.writeTextFile(`${folder}/f`, "content");
    const file = await sftp.open(path(`${folder}/f`), "read");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(sftp.ended, undefined);
    assert.equal((await file.read(0, 7)).length, 7);
    await file.close();
    await until(() => sftp.ended !== undefined, "the session ends");
    await until(() => pool.stats().channels === 0, "the channel is given back");
    assert.equal((await sftpErrorOf(sftp.stat(path("/")))).kind, "lost");
    const next = await pool.sftp(sshd.target(), soon);
    assert.notEqual(next, sftp);
    assert.equal(pool.stats().connections, 1);
    assert.equal((await sshd.log()).match(/Accepted publickey/g)?.length, 1);
  }, { pool: { sftpIdleMs: 1_000 } });
});

Deno.test("sftp says that no channel is to be had when MaxSessions is reached", needsSshd, async () => {
  const sshd = await startSshd("MaxSessions 1");
  const pool = trustingPool();
  try {
    const busy = pool.exec(sshd.target(), "sleep 5", { deadlineMs: 60_000 });
    await until(() => sshd.hasProcess("sleep\u00005"), "the only session is taken");
    const error = await errorOf(pool.sftp(sshd.target(), soon));
    assert.equal(error.code, "pod_command_failed");
    assert.match(error.details.hint ?? "", /opened no further channel \(MaxSessions\)/);
    assert.equal((await busy).exitCode, 0);
    assert((await pool.sftp(sshd.target(), soon)).extensions.size > 0);
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("sftp waits in line for a channel and gives up by its deadline", needsSshd, async () => {
  const sshd = await startSshd();
  const pool = trustingPool({ maxChannels: 1 });
  try {
    await pool.connect(sshd.target(), soon);
    const busy = pool.exec(sshd.target(), "sleep 2", { deadlineMs: 60_000 });
    await until(() => pool.stats().channels === 1, "the only channel is taken");
    const error = await errorOf(pool.sftp(sshd.target(), { deadlineMs: 200 }));
    assert.equal(error.code, "pod_command_failed");
    const sftp = await pool.sftp(sshd.target(), soon);
    assert.equal((await busy).exitCode, 0);
    assert.equal(kindOf(await sftp.stat(path("/"))), "directory");
  } finally {
    await pool.close();
    await sshd.stop();
  }
});

Deno.test("a session whose connection takes no new calls goes on for those who use it", needsSshd, async () => {
  await withSftp(async ({ sftp, pool, sshd, folder }) => {
    await Deno.writeTextFile(`${folder}/f`, "content");
    const file = await sftp.open(path(`${folder}/f`), "read");
    // A command that is given up retires the connection.
    await errorOf(pool.exec(sshd.target(), "sleep 3", { deadlineMs: 300, killOnDeadline: false }));
    assert.equal((await file.read(0, 7)).length, 7);
    const next = await pool.sftp(sshd.target(), soon);
    assert.notEqual(next, sftp);
    assert.equal(pool.stats().connections, 2);
    await file.close();
    await until(() => sftp.ended !== undefined, "the former session ends when it is not used");
    await until(() => pool.stats().connections === 1, "the former connection ends");
    assert.equal(kindOf(await next.stat(path("/"))), "directory");
  });
});

Deno.test("drop ends the session and the calls on it", needsSshd, async () => {
  await withSftp(async ({ sftp, pool, sshd }) => {
    const endless = new ReadableStream<Uint8Array>({ pull: (c) => c.enqueue(new Uint8Array(65536)) });
    let moved = 0;
    const upload = sftpErrorOf(
      sftp.writeFrom(path(`${sshd.folder}/up`), endless, { onProgress: (bytes) => (moved = bytes) }),
    );
    await until(() => moved > 0, "the upload moves");
    pool.drop("pod-1");
    assert.equal((await upload).kind, "lost");
    assert.equal((await sftpErrorOf(sftp.stat(path("/")))).kind, "lost");
  });
});

Deno.test(
  "a file that is swapped for a FIFO ends its open by the deadline, and others get a new session",
  needsSshd,
  async () => {
    await withSftp(async ({ sftp, pool, sshd, folder }) => {
      await Deno.writeTextFile(`${folder}/f`, "content");
      await pool.exec(sshd.target(), `mkfifo ${folder}/fifo`, soon);
      // Swaps the file for the FIFO and back without an end, until one open falls between.
      const abort = new AbortController();
      const swapping = pool.exec(
        sshd.target(),
        `cd ${folder} && while :; do mv fifo g; mv f fifo; mv g f; mv f g; mv fifo f; mv g fifo; done`,
        { deadlineMs: 60_000, signal: abort.signal },
      ).catch((error) => error);
      const kinds = new Set<string>();
      try {
        await until(
          async () => {
            const error = await sftp.open(path(`${folder}/f`), "read", { deadlineMs: 500 }).then(
              (file) => file.close({ deadlineMs: 500 }),
              (reason) => reason,
            );
            if (error) kinds.add((error as { kind: string }).kind);
            return kinds.has("timeout");
          },
          "an open met the FIFO",
          30_000,
        );
      } finally {
        abort.abort(new Error("enough"));
        await swapping;
      }
      const next = await pool.sftp(sshd.target(), soon);
      assert.equal(kindOf(await next.stat(path("/"))), "directory");
    });
  },
);
