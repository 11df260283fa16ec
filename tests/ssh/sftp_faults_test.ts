/** Each call under each fault of the link settles with an error in time and leaves nothing open. */
import assert from "node:assert/strict";
import { type Sftp, SftpError } from "../../server/ssh/sftp/mod.ts";
import { resettingProxy, tcpProxy, type TestServer } from "../support/hostile_ssh.ts";
import { lacks } from "../support/needs.ts";
import { path } from "../support/sftp.ts";
import { trustingPool } from "../support/ssh_pool.ts";
import { startSshd, until } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };
interface Limits {
  readonly limit: { readonly deadlineMs: number };
  readonly transfer: { readonly stallMs: number };
}
/** Only a stall is ended by the limits. */
const short: Limits = { limit: { deadlineMs: 1_000 }, transfer: { stallMs: 1_000 } };
const long: Limits = { limit: { deadlineMs: 60_000 }, transfer: { stallMs: 60_000 } };

const endless = () =>
  new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(65536)) }, {
    highWaterMark: 0,
  });

/** Goes on until it fails. */
async function repeat(call: () => Promise<unknown>): Promise<never> {
  for (;;) await call();
}

const calls: Readonly<Record<string, (sftp: Sftp, folder: string, limits: Limits) => Promise<unknown>>> = {
  list: (sftp, folder, { limit }) =>
    repeat(async () => {
      for await (const page of sftp.list(path(folder), limit)) assert(page.length > 0);
    }),
  stat: (sftp, folder, { limit }) => repeat(() => sftp.stat(path(folder), limit)),
  read: (sftp, folder, { limit }) =>
    repeat(async () => {
      const file = await sftp.open(path(`${folder}/f`), "read", limit);
      await file.read(0, 100_000, limit);
      await file.close(limit);
    }),
  write: (sftp, folder, { limit }) =>
    repeat(async () => {
      const file = await sftp.open(path(`${folder}/w`), "overwrite", limit);
      await file.write(0, new Uint8Array(100_000), limit);
      await file.close(limit);
    }),
  upload: (sftp, folder, { transfer }) =>
    sftp.writeFrom(path(`${folder}/up`), endless(), { ...transfer, open: "overwrite" }),
  download: (sftp, folder, { transfer }) =>
    repeat(() => sftp.readAll(path(`${folder}/f`), { ...transfer, maxBytes: 1e9 })),
  mkdir: (sftp, folder, { limit }) =>
    repeat(async () => {
      await sftp.makeDirectory(path(`${folder}/d`), limit);
      await sftp.removeDirectory(path(`${folder}/d`), limit);
    }),
  rename: (sftp, folder, { limit }) =>
    repeat(async () => {
      await sftp.replace(path(`${folder}/r`), path(`${folder}/r2`), limit);
      await sftp.replace(path(`${folder}/r2`), path(`${folder}/r`), limit);
    }),
  remove: (sftp, folder, { limit }) =>
    repeat(async () => {
      await (await sftp.open(path(`${folder}/x`), "create", limit)).close(limit);
      await sftp.removeFile(path(`${folder}/x`), limit);
    }),
};

interface Fault {
  readonly proxy: (port: number) => Promise<TestServer & { readonly cut: () => void; readonly stall?: () => void }>;
  readonly strike: "cut" | "stall" | "kill";
}

const ending = (port: number) => Promise.resolve(tcpProxy(port));
const faults: Readonly<Record<string, Fault>> = {
  close: { proxy: ending, strike: "cut" },
  reset: { proxy: resettingProxy, strike: "cut" },
  stall: { proxy: ending, strike: "stall" },
  kill: { proxy: ending, strike: "kill" },
};

for (const [fault, { proxy: start, strike }] of Object.entries(faults)) {
  Deno.test(`every SFTP call settles when the link suffers a ${fault}`, needsSshd, async () => {
    const sshd = await startSshd();
    const proxies: TestServer[] = [];
    let running = 0;
    const pool = trustingPool();
    try {
      await Promise.all(
        Object.entries(calls).map(async ([name, call]) => {
          const folder = `${sshd.folder}/${name}`;
          await Deno.mkdir(folder);
          await Deno.writeFile(`${folder}/f`, new Uint8Array(3_000_000));
          await Deno.writeTextFile(`${folder}/r`, "");
          const proxy = await start(sshd.port);
          proxies.push(proxy);
          const sftp = await pool.sftp(sshd.target({ podKey: name, port: proxy.port }), { deadlineMs: 60_000 });
          const outcome = call(sftp, folder, fault === "stall" ? short : long).then(() => "no error", (error) => error);
          await sftp.stat(path(folder));
          running++;
          if (strike === "cut") proxy.cut();
          else if (strike === "stall") proxy.stall?.();
          // One blow ends all connections, once the last one works.
          else if (running === Object.keys(calls).length) await sshd.killSessions();

          const error = await outcome;
          assert(error instanceof SftpError, `${name}: ${error instanceof Error ? error.stack : error}`);
          assert.equal(error.kind, fault === "stall" ? "timeout" : "lost", name);
          if (fault !== "stall") assert.equal(sftp.usage.pending, 0, name);
        }),
      );
      if (fault !== "stall") await until(() => pool.stats().channels === 0, "no channel is held");
    } finally {
      await pool.close();
      for (const proxy of proxies) await proxy.close();
      await sshd.stop();
    }
    assert.deepEqual(pool.stats(), { connections: 0, channels: 0, waiting: 0, backingOff: 0 });
  });
}

Deno.test("after a lost link the next caller gets a session of a new connection", needsSshd, async () => {
  const sshd = await startSshd();
  const proxy = tcpProxy(sshd.port);
  const pool = trustingPool();
  const session = () => pool.sftp(sshd.target({ port: proxy.port }), { deadlineMs: 60_000 });
  try {
    const first = await session();
    proxy.cut();
    await until(() => first.ended !== undefined, "the session hears of it");
    const second = await session();
    assert.notEqual(second, first);
    assert((await second.stat(path("/"))).mode);
  } finally {
    await pool.close();
    await proxy.close();
    await sshd.stop();
  }
});
