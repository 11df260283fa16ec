/** The walk along a path has an end, whatever links it meets. */
import assert from "node:assert/strict";
import { bytesOf } from "../../server/files/path.ts";
import { placeOf } from "../../server/files/place.ts";
import { type CallOptions, type Sftp, SftpError } from "../../server/ssh/sftp/mod.ts";

const FOLDER = { mode: 0o040755, uid: 0, gid: 0 };
const LINK = { mode: 0o120777, uid: 0, gid: 0 };

/** Root's files: everything is a folder but the links. Tells each path that is asked for to `asked`. */
function filesWith(links: Record<string, string>, asked: (path: string, options: CallOptions) => void): Sftp {
  const text = (path: Uint8Array) => new TextDecoder().decode(path);
  const files: Pick<Sftp, "lstat" | "readLink"> = {
    lstat(path, options = {}) {
      asked(text(path), options);
      return Promise.resolve(text(path) in links ? LINK : FOLDER);
    },
    readLink: (path) => Promise.resolve(bytesOf(links[text(path)]!)),
  };
  return files as Sftp;
}

const walk = (files: Sftp, path: string, options: CallOptions = {}) => placeOf(files, bytesOf(path), options);
const isKind = (kind: string) => (error: unknown) => error instanceof SftpError && error.kind === kind;

Deno.test("placeOf asks for nothing after a `..` before it has gone up", async () => {
  const asked: string[] = [];
  const files = filesWith({ "/l": "/a/../b/c" }, (path) => asked.push(path));
  assert.deepEqual(await walk(files, "/l/d"), { path: bytesOf("/b/c/d"), user: null });
  assert.deepEqual(asked, ["/l", "/l/d", "/a", "/b", "/b/c", "/b/c/d"]);
});

Deno.test("placeOf gives up when links make one path thousands of folders long", async () => {
  let asked = 0;
  const files = filesWith({ "/l": `/${"a/../".repeat(815)}l` }, () => asked++);
  await assert.rejects(walk(files, "/l"), isKind("invalid_path"));
  assert.ok(asked <= 5_000, `${asked} questions`);
});

Deno.test("placeOf follows the longest path that there can be, and as many links as the kernel", async () => {
  const long = "/a".repeat(2048);
  assert.deepEqual(await walk(filesWith({}, () => {}), long), { path: bytesOf(long), user: null });
  const links = Object.fromEntries(Array.from({ length: 41 }, (_, at) => [`/l${at}`, `l${at + 1}`]));
  assert.deepEqual(await walk(filesWith(links, () => {}), "/l1"), { path: bytesOf("/l41"), user: null });
  await assert.rejects(walk(filesWith(links, () => {}), "/l0"), isKind("not_found"));
});

Deno.test("placeOf has one deadline for the whole walk", async () => {
  const signals = new Set<AbortSignal | undefined>();
  const files = filesWith({ "/l": "/m", "/m": "/n" }, (_path, { signal }) => signals.add(signal));
  const lstat = files.lstat;
  files.lstat = async (path, options = {}) => {
    const attributes = await lstat(path, options);
    const { signal } = options;
    assert.ok(signal);
    // The last one never answers.
    if (new TextDecoder().decode(path) !== "/n") return attributes;
    return await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  };
  await assert.rejects(walk(files, "/l", { deadlineMs: 50 }), isKind("timeout"));
  assert.equal(signals.size, 1);
});
