import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type SshBehaviour, sshServer, tcpProxy } from "../support/hostile_ssh.ts";
import { lacks } from "../support/needs.ts";
import { errorOf, keyPair, targetAt, trustingPool } from "../support/ssh_pool.ts";
import { startSshd, type TestSshd, until } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const MB = 1024 * 1024;

async function withSshd(f: (sshd: TestSshd, pool: ReturnType<typeof trustingPool>) => Promise<void>) {
  const sshd = await startSshd();
  const pool = trustingPool();
  try {
    await f(sshd, pool);
  } finally {
    await pool.close();
    await sshd.stop();
  }
}

Deno.test(
  "exec returns exit code, signal, stdout and stderr as they were",
  needsSshd,
  () =>
    withSshd(async (sshd, pool) => {
      const exec = (command: string) => pool.exec(sshd.target(), command, { deadlineMs: 60_000 });
      const both = await exec("echo out; echo err >&2; exit 3");
      assert.deepEqual([both.exitCode, both.signal, text(both.stdout), text(both.stderr)], [3, null, "out\n", "err\n"]);
      assert.equal((await exec("no-such-command-here")).exitCode, 127);
      const killed = await exec("kill -TERM $$");
      assert.deepEqual([killed.exitCode, killed.signal, text(killed.stderr)], [null, "SIGTERM", ""]);
      const plain = await pool.exec(sshd.target(), "cat; echo $0 >&2", { deadlineMs: 60_000, killOnDeadline: false });
      assert.deepEqual([plain.exitCode, plain.stdout.length, plain.truncated], [0, 0, false]);
    }),
);

Deno.test("exec caps stdout and stderr while reading when 20 MB come", needsSshd, () =>
  withSshd(async (sshd, pool) => {
    const options = { deadlineMs: 60_000, maxOutputBytes: 100_000 };
    const out = await pool.exec(sshd.target(), `head -c ${20 * MB} /dev/zero; echo end >&2`, options);
    assert.deepEqual([out.exitCode, out.stdout.length, text(out.stderr), out.truncated], [0, 100_000, "end\n", true]);
    const err = await pool.exec(sshd.target(), `head -c ${2 * MB} /dev/zero >&2; exit 4`, options);
    assert.deepEqual([err.exitCode, err.stderr.length, err.truncated], [4, 100_000, true]);
    const exact = await pool.exec(sshd.target(), "head -c 100000 /dev/zero >&2", options);
    assert.deepEqual([exact.stderr.length, exact.truncated], [100_000, false]);
  }));

Deno.test(
  "exec passes 5 MB of stdin unchanged and does not mind a command that reads none",
  needsSshd,
  () =>
    withSshd(async (sshd, pool) => {
      const stdin = new Uint8Array(5 * MB).map((_, i) => (i * 7 + (i >> 11)) & 0xff);
      const sum = await pool.exec(sshd.target(), "sha256sum", { deadlineMs: 60_000, stdin });
      assert.equal(text(sum.stdout).split(" ")[0], createHash("sha256").update(stdin).digest("hex"));
      assert.equal((await pool.exec(sshd.target(), "exit 5", { deadlineMs: 60_000, stdin })).exitCode, 5);
      const words = await pool.exec(sshd.target(), "cat", { deadlineMs: 60_000, stdin: "größer\n" });
      assert.equal(text(words.stdout), "größer\n");
      assert.equal(pool.stats().channels, 0);
    }),
);

Deno.test(
  "exec ends the whole process group on the pod when its deadline passes",
  needsSshd,
  () =>
    withSshd(async (sshd, pool) => {
      await Deno.writeTextFile(`${sshd.home}/.bashrc`, "echo noise; echo noise >&2\n");
      const command = "trap '' TERM; echo started; sleep 41 & sleep 42; sleep 43";
      await pool.connect(sshd.target(), { deadlineMs: 60_000 });
      const running = errorOf(pool.exec(sshd.target(), command, { deadlineMs: 3_000 }));
      await until(() => sshd.hasProcess("sleep\u000041") && sshd.hasProcess("sleep\u000042"), "the command runs");
      const error = await running;
      assert.equal(error.code, "pod_command_failed");
      assert.match(error.details.hint ?? "", /the command did not end/);
      await until(
        () => !/sleep/.test(["41", "42", "43"].map((n) => sshd.hasProcess(`sleep\u0000${n}`) ? "sleep" : "").join()),
        "all its processes are gone",
      );
      await until(() => pool.stats().channels === 0, "its channel is given back");
      assert.equal((await pool.exec(sshd.target(), "true", { deadlineMs: 60_000 })).exitCode, 0);
    }),
);

Deno.test(
  "exec leaves the command running when killOnDeadline is false",
  needsSshd,
  () =>
    withSshd(async (sshd, pool) => {
      await pool.connect(sshd.target(), { deadlineMs: 60_000 });
      const options = { deadlineMs: 1_500, killOnDeadline: false };
      assert.equal((await errorOf(pool.exec(sshd.target(), "sleep 44", options))).code, "pod_command_failed");
      await pool.close();
      assert.equal(sshd.hasProcess("sleep\u000044"), true);
    }),
);

Deno.test(
  "exec rejects with the signal's reason and ends the command when it is given up",
  needsSshd,
  () =>
    withSshd(async (sshd, pool) => {
      const abort = new AbortController();
      const running = pool.exec(sshd.target(), "sleep 45", { deadlineMs: 60_000, signal: abort.signal });
      await until(() => sshd.hasProcess("sleep\u000045"), "the command runs");
      // The line with the process id is on its way.
      abort.abort(new Error("no longer wanted"));
      await assert.rejects(running, /no longer wanted/);
      await assert.rejects(
        pool.exec(sshd.target(), "true", { deadlineMs: 60_000, signal: AbortSignal.abort(new Error("before")) }),
        /before/,
      );
    }),
);

for (const how of ["cut", "stall"] as const) {
  Deno.test(
    `exec is never a success when the link is ${how === "cut" ? "cut" : "stalled"} in the middle`,
    needsSshd,
    () =>
      withSshd(async (sshd, pool) => {
        const proxy = tcpProxy(sshd.port);
        try {
          const target = sshd.target({ port: proxy.port });
          await pool.connect(target, { deadlineMs: 60_000 });
          const running = errorOf(pool.exec(target, "echo begun; sleep 46", { deadlineMs: 3_000 }));
          await until(() => sshd.hasProcess("sleep\u000046"), "the command runs");
          proxy[how]();
          const error = await running;
          assert.equal(error.code, "pod_command_failed");
          assert.match(
            error.details.hint ?? "",
            how === "cut" ? /SSH connection to .* ended/ : /the command did not end/,
          );
        } finally {
          await pool.close();
          await proxy.close();
        }
      }),
  );
}

const hostile: Record<string, Omit<SshBehaviour, "hostKey">> = {
  "never answers the request for a channel": { ignoreSessions: true },
  "refuses the channel": { refuseSessions: true },
  "never answers the command": { exec: () => {} },
  "refuses the command": { exec: (_accept, reject) => reject() },
  "ends the channel without an exit code": { exec: (accept) => accept().end() },
  "sends an exit code and never closes": { exec: (accept) => accept().exit(0) },
  "sends output without end": {
    exec: (accept) => {
      const channel = accept();
      const more = () => {
        while (channel.writable && channel.write(new Uint8Array(32768)));
      };
      channel.on("drain", more).on("close", () => channel.off("drain", more));
      more();
    },
  },
  "ends the connection": { exec: (_accept, _reject, connection) => connection.end() },
};

for (const [name, behaviour] of Object.entries(hostile)) {
  Deno.test(`exec says pod_command_failed by its deadline when the server ${name}`, async () => {
    const server = await sshServer({ ...behaviour, hostKey: keyPair().private });
    const pool = trustingPool();
    try {
      await pool.connect(targetAt(server.port), { deadlineMs: 60_000 });
      const calls = [1, 2, 3].map(() => errorOf(pool.exec(targetAt(server.port), "true", { deadlineMs: 800 })));
      for (const error of await Promise.all(calls)) assert.equal(error.code, "pod_command_failed");
      assert.equal(pool.stats().waiting, 0);
    } finally {
      await pool.close();
      await server.close();
    }
    assert.deepEqual(pool.stats(), { connections: 0, channels: 0, waiting: 0, backingOff: 0 });
  });
}
