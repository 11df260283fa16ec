/** Blocks of files: their sizes, their order, how many are on the way, and what a stall does. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { answer, honest, type SftpScript, TYPE } from "../support/hostile_sftp.ts";
import { path, sftpErrorOf } from "../support/sftp.ts";
import { until } from "../support/sshd.ts";
import { onRead, readAll, withServer } from "./scripted_server.ts";

Deno.test("short reads are put together in order", async () => {
  const file = crypto.getRandomValues(new Uint8Array(50_000));
  const script = onRead(({ id, body, reply }) => {
    const offset = Number(body.readBigUInt64BE(body.length - 12));
    const asked = body.readUInt32BE(body.length - 4);
    const part = file.subarray(offset, offset + Math.min(asked, 777));
    reply(part.length === 0 ? answer.status(id, 1) : answer.data(id, part));
  });
  await withServer(script, async (sftp) => {
    assert.deepEqual(Buffer.from(await sftp.readAll(path("/f"), { maxBytes: 60_000 })), Buffer.from(file));
    const part = await new Response(sftp.readStream(path("/f"), { start: 10, end: 40_000 })).bytes();
    assert.deepEqual(Buffer.from(part), Buffer.from(file.subarray(10, 40_000)));
    const file2 = await sftp.open(path("/f"), "read");
    assert.deepEqual(Buffer.from(await file2.read(49_000, 5_000)), Buffer.from(file.subarray(49_000)));
    await file2.close();
  });
});

Deno.test("a file that is shorter than its range fails with changed", async () => {
  const script = onRead(({ id, body, reply }) =>
    body.readBigUInt64BE(body.length - 12) === 0n
      ? reply(answer.data(id, Buffer.alloc(500)))
      : reply(answer.status(id, 1))
  );
  await withServer(script, async (sftp) => {
    assert.equal((await sftpErrorOf(readAll(sftp, { end: 1_000 }))).kind, "changed");
    assert.equal(await readAll(sftp), 500);
  });
});

Deno.test("blocks keep to the limits that the server tells", async () => {
  const lengths: number[] = [];
  const script: SftpScript = {
    version: answer.version(3, "limits@openssh.com"),
    on: (request) => {
      const { type, id, body, reply } = request;
      if (type === TYPE.extended) return reply(answer.limits(id, 1000, 500));
      if (type === TYPE.read) lengths.push(body.readUInt32BE(body.length - 4));
      if (type === TYPE.write) lengths.push(body.readUInt32BE(body.length - 504));
      honest(request, 2_000);
    },
  };
  await withServer(script, async (sftp) => {
    await readAll(sftp);
    assert.deepEqual(new Set(lengths), new Set([1000]));
    await until(() => sftp.usage.pending === 0, "the reads are answered");
    lengths.length = 0;
    await sftp.writeFrom(path("/f"), new Blob([new Uint8Array(2_000)]).stream());
    assert.deepEqual(lengths, [500, 500, 500, 500]);
  });
});

Deno.test("writeFrom fails with changed when the file on the pod has another size at the end", async () => {
  await withServer({ on: (request) => honest(request, 9) }, async (sftp) => {
    const error = await sftpErrorOf(sftp.writeFrom(path("/f"), new Blob(["ten bytes."]).stream()));
    assert.equal(error.kind, "changed");
    assert.match(error.message, /has 9 bytes after 10 were written/);
    await until(() => sftp.usage.handles === 0, "the handle is closed");
  });
});

Deno.test("writeFrom stops at a refused block, cancels its source and closes the file", async () => {
  const script: SftpScript = {
    on: (request) =>
      request.type === TYPE.write
        ? request.reply(answer.status(request.id, 4, "No space left on device"))
        : honest(request),
  };
  await withServer(script, async (sftp, { seen }) => {
    let cancelled: unknown;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65536)),
      cancel: (reason) => void (cancelled = reason),
    });
    const error = await sftpErrorOf(sftp.writeFrom(path("/f"), source));
    assert.equal(error.kind, "no_space");
    assert.equal(cancelled, error);
    await until(() => seen.includes(TYPE.close) && sftp.usage.handles === 0, "the handle is closed");
  });
});

Deno.test("writeFrom has 4 MB on the way at most when the server does not acknowledge, and fails by its stall", async () => {
  let written = 0;
  const script: SftpScript = {
    on: (request) => request.type === TYPE.write ? void (written += request.body.length) : honest(request),
  };
  await withServer(script, async (sftp, { again }) => {
    let pulled = 0;
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => (pulled += 65536, controller.enqueue(new Uint8Array(65536))),
    });
    const error = await sftpErrorOf(sftp.writeFrom(path("/f"), source, { stallMs: 500 }));
    assert.equal(error.kind, "timeout");
    assert(pulled < 5 * 1024 * 1024 && written < 5 * 1024 * 1024, `${pulled} pulled, ${written} written`);
    assert.notEqual(await again(), sftp);
  });
});

Deno.test("readStream asks for 4 MB ahead at most and fails by its stall when the server goes silent", async () => {
  let asked = 0;
  const script = onRead(({ id, body, reply }) => {
    asked += body.readUInt32BE(body.length - 4);
    if (asked < 100_000) reply(answer.data(id, new Uint8Array(32_768)));
  });
  await withServer(script, async (sftp) => {
    const error = await sftpErrorOf(readAll(sftp, { end: 1e9, stallMs: 300 }));
    assert.equal(error.kind, "timeout");
    assert(asked < 5 * 1024 * 1024, `${asked} bytes were asked for`);
  });
});

/** Reads a few blocks of a file without end, waits until all that was asked for has come, and gives up. */
async function askedAhead(roundTripMs: number): Promise<number> {
  let asked = 0;
  const script = onRead(({ id, body, reply }) => {
    const length = body.readUInt32BE(body.length - 4);
    asked += length;
    const send = () => reply(answer.data(id, new Uint8Array(length)));
    if (roundTripMs === 0) send();
    else setTimeout(send, roundTripMs);
  });
  await withServer(script, async (sftp, { seen }) => {
    const reader = sftp.readStream(path("/f"), { end: 1e9 }).getReader();
    for (let block = 0; block < 4; block++) await reader.read();
    await until(() => sftp.usage.pending === 0, "what was asked for has come");
    await reader.cancel(new Error("enough"));
    await until(() => seen.includes(TYPE.close) && sftp.usage.handles === 0, "the file is closed");
  });
  return asked;
}

Deno.test("readStream asks a far pod for 4 MB ahead of its reader, and a cancel closes the file", async () => {
  const asked = await askedAhead(100);
  assert(asked > 3 * 1024 * 1024 && asked < 5 * 1024 * 1024, `${asked} bytes were asked for`);
});

Deno.test("readStream asks a near pod for 1 MB ahead of its reader at least and 4 MB at most", async () => {
  const asked = await askedAhead(0);
  assert(asked > 1024 * 1024 && asked < 5 * 1024 * 1024, `${asked} bytes were asked for`);
});
