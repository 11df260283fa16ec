import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { lacks } from "../support/needs.ts";
import { path, sftpErrorOf, withSftp } from "../support/sftp.ts";
import { until } from "../support/sshd.ts";

const needsSshd = { ignore: lacks("sshd", "ssh-keygen", "root") };
const MB = 1_000_000;

async function hashOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}
const hashOfFile = async (name: string) => await hashOf((await Deno.open(name)).readable);

/** A file of random content that is not a whole number of blocks. */
async function randomFile(name: string, size: number) {
  using file = await Deno.open(name, { create: true, write: true });
  for (let left = size; left > 0; left -= 65536) {
    await file.write(crypto.getRandomValues(new Uint8Array(Math.min(left, 65536))));
  }
}

Deno.test("a big file comes back as it was sent, and both ways at once", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    const size = 40 * MB + 7;
    await randomFile(`${folder}/source`, size);
    const wanted = await hashOfFile(`${folder}/source`);
    const progress: number[] = [];
    const [sent, down, again] = await Promise.all([
      sftp.writeFrom(path(`${folder}/copy`), (await Deno.open(`${folder}/source`)).readable, {
        size,
        sync: true,
        onProgress: (bytes) => progress.push(bytes),
      }),
      hashOf(sftp.readStream(path(`${folder}/source`), { end: size })),
      hashOf(sftp.readStream(path(`${folder}/source`))),
    ]);
    assert.equal(sent, size);
    assert.deepEqual([down, again, await hashOfFile(`${folder}/copy`)], [wanted, wanted, wanted]);
    assert.equal(progress.at(-1), size);
    assert(progress.every((bytes, i) => i === 0 || bytes > progress[i - 1]!));
    await until(() => sftp.usage.handles === 0 && sftp.usage.pending === 0, "both files are closed");
  });
});

Deno.test("readStream gives exactly the range", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    await randomFile(`${folder}/f`, 700_000);
    const whole = await Deno.readFile(`${folder}/f`);
    const ranges = [[0, 0], [0, 1], [699_999, 700_000], [261_119, 261_121], [1, 699_999], [300_000, 300_000], [
      0,
      700_000,
    ]];
    for (const [start, end] of ranges as [number, number][]) {
      const got = await new Response(sftp.readStream(path(`${folder}/f`), { start, end })).bytes();
      assert.deepEqual(got, whole.slice(start, end), `${start} to ${end}`);
    }
    const open = await sftp.open(path(`${folder}/f`), "read");
    assert.deepEqual(await open.read(699_990, 100), whole.slice(699_990));
    assert.deepEqual(await open.read(0, 600_000), whole.slice(0, 600_000));
    assert.equal((await open.read(700_000, 10)).length, 0);
    assert.deepEqual(await new Response(sftp.readStream(open, { start: 699_000 })).bytes(), whole.slice(699_000));
    await until(() => sftp.usage.handles === 0, "the stream closed the file");
  });
});

Deno.test("an empty file, a file in /proc and a sparse file are read to their end", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    assert.equal(await sftp.writeFrom(path(`${folder}/empty`), new Blob([]).stream(), { size: 0 }), 0);
    assert.equal((await sftp.readAll(path(`${folder}/empty`), { maxBytes: 0 })).length, 0);
    const status = new TextDecoder().decode(await sftp.readAll(path("/proc/self/status"), { maxBytes: 100_000 }));
    assert.match(status, /^Name:\s+sshd[^]*VmRSS/);
    await Deno.writeTextFile(`${folder}/sparse`, "");
    await Deno.truncate(`${folder}/sparse`, 30 * MB);
    assert.equal(await hashOf(sftp.readStream(path(`${folder}/sparse`))), await hashOfFile(`${folder}/sparse`));
  });
});

Deno.test("readAll refuses what is longer than its limit and closes the file", needsSshd, async () => {
  await withSftp(async ({ sftp, folder }) => {
    await Deno.writeTextFile(`${folder}/f`, "12345");
    assert.equal((await sftp.readAll(path(`${folder}/f`), { maxBytes: 5 })).length, 5);
    const error = await sftpErrorOf(sftp.readAll(path(`${folder}/f`), { maxBytes: 4 }));
    assert.equal(error.kind, "too_large");
    await until(() => sftp.usage.handles === 0, "the file is closed");
  });
});

Deno.test(
  "readStream fails with changed when the file is cut meanwhile, and ends at the asked end when it grows",
  needsSshd,
  async () => {
    await withSftp(async ({ sftp, folder }) => {
      await randomFile(`${folder}/f`, 20 * MB);
      const reader = sftp.readStream(path(`${folder}/f`), { end: 20 * MB }).getReader();
      await reader.read();
      await Deno.truncate(`${folder}/f`, 1 * MB);
      const error = await sftpErrorOf((async () => {
        while (!(await reader.read()).done);
      })());
      assert.equal(error.kind, "changed");

      const second = sftp.readStream(path(`${folder}/f`), { end: MB }).getReader();
      let length = (await second.read()).value!.length;
      await Deno.truncate(`${folder}/f`, 9 * MB);
      for (let part = await second.read(); !part.done; part = await second.read()) length += part.value.length;
      assert.equal(length, MB);
      await until(() => sftp.usage.handles === 0, "the files are closed");
    });
  },
);

Deno.test(
  "an aborted download and an aborted upload fail with the reason and close their files",
  needsSshd,
  async () => {
    await withSftp(async ({ sftp, folder }) => {
      await randomFile(`${folder}/f`, 10 * MB);
      const abort = new AbortController();
      const down = sftp.readStream(path(`${folder}/f`), { signal: abort.signal }).getReader();
      await down.read();
      let cancelled: unknown;
      const endless = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(65536)),
        cancel: (reason) => void (cancelled = reason),
      });
      let moved = 0;
      const up = sftp.writeFrom(path(`${folder}/up`), endless, {
        signal: abort.signal,
        onProgress: (bytes) => (moved = bytes),
      });
      await until(() => moved > MB, "the upload moves");
      const reason = new Error("the caller went away");
      abort.abort(reason);
      await assert.rejects(up, reason);
      await assert.rejects(
        (async () => {
          while (!(await down.read()).done);
        })(),
        reason,
      );
      assert.equal(cancelled, reason);
      await until(() => sftp.usage.handles === 0 && sftp.usage.pending === 0, "both files are closed");
      assert.equal(sftp.ended, undefined);
      await assert.rejects(
        sftp.writeFrom(path(`${folder}/x`), new Blob([]).stream(), { signal: abort.signal }),
        reason,
      );
    });
  },
);

Deno.test(
  "writeFrom passes its source's error on, and refuses a source that is too long or has another size",
  needsSshd,
  async () => {
    await withSftp(async ({ sftp, folder }) => {
      const broken = new Error("the client's connection broke");
      let pulls = 0;
      const source = new ReadableStream<Uint8Array>({
        pull: (controller) => ++pulls > 5 ? controller.error(broken) : controller.enqueue(new Uint8Array(300_000)),
      });
      await assert.rejects(sftp.writeFrom(path(`${folder}/a`), source), broken);
      const blob = new Blob([new Uint8Array(500_000)]);
      const long = await sftpErrorOf(sftp.writeFrom(path(`${folder}/b`), blob.stream(), { maxBytes: 499_999 }));
      assert.equal(long.kind, "too_large");
      const other = await sftpErrorOf(sftp.writeFrom(path(`${folder}/c`), blob.stream(), { size: 500_001 }));
      assert.equal(other.kind, "changed");
      await until(() => sftp.usage.handles === 0, "the files are closed");
      assert.equal(
        await sftp.writeFrom(path(`${folder}/d`), blob.stream(), { size: 500_000, maxBytes: 500_000 }),
        500_000,
      );
      // `create` leaves what is there alone, `overwrite` empties it first.
      assert.equal((await sftpErrorOf(sftp.writeFrom(path(`${folder}/d`), new Blob(["x"]).stream()))).kind, "failure");
      await sftp.writeFrom(path(`${folder}/d`), new Blob(["x"]).stream(), { open: "overwrite" });
      assert.equal(await Deno.readTextFile(`${folder}/d`), "x");
    });
  },
);
