import assert from "node:assert/strict";
import type { Connection } from "../../admin/client/connection.ts";
import { createHandover } from "../../admin/client/handover.ts";
import { createOwnProcess, type OwnProcess } from "../../admin/client/own_process.ts";
import { Refusal } from "../../admin/client/refusal.ts";
import { type DataDir, dataDirAt } from "../../server/data_dir.ts";
import { type Lock, takeLock, tryLock, waitForLock } from "../../server/data_lock.ts";
import { AppError } from "../../server/errors.ts";
import type { InProcess } from "../../server/in_process.ts";
import { untilTrue } from "../support/server_process.ts";

const SOON = { lookMs: 10, drainMs: 10 };
const LATE = { lookMs: 10, drainMs: 60_000 };
const request = () => new Request("http://operator/");

async function withDir(work: (dir: DataDir) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(dataDirAt(folder));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** An App over the lock that gives every request the same answer. */
const appWith = (lock: Lock, answer: () => Promise<Response>): InProcess => ({
  fetch: answer,
  close: () => Promise.resolve(lock.release()),
});

/** The lock, as a server that starts gets it. */
async function takenBy(dir: DataDir): Promise<Lock> {
  const lock = await waitForLock(dir, 60_000);
  assert(lock !== null, "the directory is given away");
  return lock;
}

Deno.test("a request under way is answered to its last byte before the directory is given away", () =>
  withDir(async (dir) => {
    const { promise: answer, resolve: give } = Promise.withResolvers<Response>();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const own = createOwnProcess(appWith(takeLock(dir), () => answer), dir, LATE);
    const asked = own.fetch(request());
    const taken = takenBy(dir);
    give(new Response(readable, { status: 201 }));
    const response = await asked;
    assert.equal(response.status, 201);
    const text = response.text();
    const writer = writable.getWriter();
    await writer.write(new TextEncoder().encode("all "));
    // It is about to be given away, and waits for the rest.
    await untilTrue("the directory is being given away", () => !own.isOpen);
    assert.equal(tryLock(dir), null);
    await writer.write(new TextEncoder().encode("of it"));
    await writer.close();
    assert.equal(await text, "all of it");
    (await taken).release();
    assert.equal(own.isOpen, false);
    await own.close();
  }));

Deno.test("what is under way for too long is refused as unknown, an answer and a body alike", () =>
  withDir(async (dir) => {
    const answers = [Promise.withResolvers<Response>().promise, Promise.resolve(new Response(new ReadableStream()))];
    const own = createOwnProcess(appWith(takeLock(dir), () => answers.shift()!), dir, SOON);
    const isUnknown = (error: unknown) =>
      error instanceof Refusal && error.status === undefined && /whether .* is not known/.test(error.message);
    const neverAnswered = assert.rejects(own.fetch(request()), isUnknown);
    const neverWhole = assert.rejects((await own.fetch(request())).text(), isUnknown);
    const lock = await takenBy(dir);
    await neverAnswered;
    await neverWhole;
    lock.release();
  }));

Deno.test("an own process that is closed leaves the directory free at once", () =>
  withDir(async (dir) => {
    const own = createOwnProcess(appWith(takeLock(dir), () => Promise.resolve(new Response())), dir, LATE);
    await own.close();
    takeLock(dir).release();
  }));

Deno.test("a connection goes on in this process after a command, and over the socket for good after a server", async () => {
  const asked: string[] = [];
  const { promise: given, resolve: giveAway } = Promise.withResolvers<void>();
  let isOpen = true;
  const first: OwnProcess = {
    get isOpen() {
      return isOpen;
    },
    given,
    fetch: () => Promise.resolve(new Response("first")),
    close: () => Promise.resolve(),
  };
  const second: OwnProcess = { ...first, isOpen: true, fetch: () => Promise.resolve(new Response("second")) };
  const socket: Connection = {
    baseUrl: "http://operator",
    isOperator: true,
    fetch: () => Promise.resolve(new Response("socket")),
    close: () => Promise.resolve(),
  };
  let next: () => Promise<OwnProcess | null> = () => Promise.resolve(second);
  const open = () => {
    asked.push("open");
    return next();
  };
  const connection = createHandover(first, { open, overSocket: () => socket });
  const answer = async () => await (await connection.fetch(request())).text();
  assert.equal(await answer(), "first");
  isOpen = false;
  const both = Promise.all([answer(), answer()]);
  giveAway();
  assert.deepEqual(await both, ["second", "second"]);
  assert.deepEqual(asked, ["open"], "two requests open it once");
  assert.equal(connection.isOwnProcess, true);

  Object.defineProperty(second, "isOpen", { value: false });
  next = () => Promise.reject(new AppError("already_running", "Another orgpods uses the data directory"));
  await assert.rejects(answer(), (error) => error instanceof Refusal && error.status === undefined);
  next = () => Promise.resolve(null);
  assert.equal(await answer(), "socket");
  assert.equal(connection.isOwnProcess, false);
  assert.deepEqual(asked, ["open", "open", "open"]);
  assert.equal(await answer(), "socket");
  await connection.close();
  assert.deepEqual(asked, ["open", "open", "open"]);
});
