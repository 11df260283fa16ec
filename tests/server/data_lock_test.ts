import assert from "node:assert/strict";
import { dataDirAt } from "../../server/data_dir.ts";
import { isWanted, type Lock, lockForServer, takeLock, tryLock, waitForLock } from "../../server/data_lock.ts";
import type { AppError } from "../../server/errors.ts";
import { untilTrue } from "../support/server_process.ts";

const HOUR = 3_600_000;

async function withDir(work: (dir: ReturnType<typeof dataDirAt>) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(dataDirAt(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("takeLock refuses while the lock is held, and takes it when it was released", () =>
  withDir((dir) => {
    const first = takeLock(dir);
    assert.equal(tryLock(dir), null);
    assert.throws(() => takeLock(dir), (error: AppError) => error.code === "already_running");
    first.release();
    takeLock(dir).release();
  }));

Deno.test("waitForLock says that the lock is wanted, and has it as soon as it was released", () =>
  withDir(async (dir) => {
    const first = takeLock(dir);
    assert.equal(isWanted(dir), false);
    const waiting = waitForLock(dir, 60_000);
    await untilTrue("the lock is wanted", () => Promise.resolve(isWanted(dir)));
    first.release();
    const second = await waiting;
    assert(second !== null);
    assert.equal(isWanted(dir), false);
    assert.equal(tryLock(dir), null);
    second.release();
  }));

Deno.test("waitForLock gives up when a server begins to answer, and when the time is over", () =>
  withDir(async (dir) => {
    const lock = takeLock(dir);
    assert.equal(await waitForLock(dir, 0), null);
    const ended: (Lock | null)[] = [];
    const waiting = waitForLock(dir, HOUR).then((taken) => void ended.push(taken));
    await untilTrue("the lock is wanted", () => Promise.resolve(isWanted(dir)));
    const listener = Deno.listen({ transport: "unix", path: dir.socket });
    try {
      // Long before its time is over.
      await untilTrue("it gives up", () => ended.length > 0);
      await waiting;
      assert.deepEqual(ended, [null]);
      const refused: unknown[] = [];
      void lockForServer(dir, HOUR).catch((error) => refused.push(error));
      await untilTrue("a server is refused", () => refused.length > 0);
      const [error] = refused as AppError[];
      assert.equal(error?.code, "already_running");
      assert.match(String(error.details.hint), /It is a server/);
    } finally {
      listener.close();
      lock.release();
    }
    assert.equal(isWanted(dir), false);
  }));

Deno.test("lockForServer refuses when a command keeps the directory for too long", () =>
  withDir(async (dir) => {
    const lock = takeLock(dir);
    await assert.rejects(lockForServer(dir, 0), (error: AppError) => {
      assert.equal(error.code, "already_running");
      return /It is a command/.test(String(error.details.hint));
    });
    lock.release();
    (await lockForServer(dir, 0)).release();
  }));
