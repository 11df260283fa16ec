import * as answers from "./answers.ts";
import { attributeBytes } from "./attributes.ts";
import { call } from "./call.ts";
import { SftpError } from "./error.ts";
import { type BlockLimits, createFiles, requireExtension } from "./files.ts";
import type { CallOptions, Sftp } from "./interface.ts";
import { listFolder } from "./listing.ts";
import { extended, request } from "./packets.ts";
import { checkPath } from "./paths.ts";
import * as protocol from "./protocol.ts";
import { readStream } from "./read_stream.ts";
import type { Session } from "./session.ts";
import { callOptions } from "./stall.ts";
import { writeFrom } from "./write_from.ts";

/** The calls of a session that has told its version. */
export function createClient(session: Session, extensions: ReadonlyMap<string, string>, limits: BlockLimits): Sftp {
  const onPath = <T>(type: number, read: (answer: answers.Answer) => T) => async (path: Uint8Array, o?: CallOptions) =>
    await call(session, request(type, checkPath(path)), read, o);
  const stat = onPath(protocol.STAT, answers.attributes);
  const files = createFiles(session, limits, stat);

  const client: Sftp = {
    extensions,
    stat,
    lstat: onPath(protocol.LSTAT, answers.attributes),
    realPath: onPath(protocol.REALPATH, answers.path),
    readLink: onPath(protocol.READLINK, answers.path),
    removeFile: onPath(protocol.REMOVE, answers.done),
    removeDirectory: onPath(protocol.RMDIR, answers.done),
    async setStat(path, changes, options) {
      const packet = request(protocol.SETSTAT, checkPath(path), { raw: attributeBytes(changes) });
      await call(session, packet, answers.done, options);
    },
    async makeDirectory(path, options) {
      const attributes = attributeBytes({ mode: options?.mode ?? 0o755 });
      await call(session, request(protocol.MKDIR, checkPath(path), { raw: attributes }), answers.done, options);
    },
    async rename(from, to, options) {
      await call(session, request(protocol.RENAME, checkPath(from), checkPath(to)), answers.done, options);
    },
    async replace(from, to, options) {
      const name = "posix-rename@openssh.com";
      requireExtension(extensions, name);
      await call(session, extended(name, checkPath(from), checkPath(to)), answers.done, options);
    },
    async fileSystem(path, options) {
      const name = "statvfs@openssh.com";
      requireExtension(extensions, name);
      return await call(session, extended(name, checkPath(path)), answers.fileSystem, options);
    },
    list: (path, options) => listFolder(session, path, options),
    open: files.open,
    readStream(source, options = {}) {
      const open = async () => {
        if (!(source instanceof Uint8Array)) return files.handleOf(source);
        return files.handleOf(await files.open(source, "read", callOptions(options)));
      };
      return readStream(session, limits, open, options);
    },
    async readAll(path, options) {
      const { maxBytes, ...transfer } = options;
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of client.readStream(path, transfer)) {
        length += chunk.length;
        if (length > maxBytes) throw new SftpError("too_large", `The file is larger than ${maxBytes} bytes`);
        chunks.push(chunk);
      }
      return joined(chunks, length);
    },
    writeFrom(target, source, options = {}) {
      const { open: mode = "create", mode: permissions = 0o644 } = options;
      const open = async () => {
        const file = target instanceof Uint8Array
          ? await files.open(target, mode, { ...callOptions(options), mode: permissions })
          : target;
        return { file, handle: files.handleOf(file) };
      };
      return writeFrom(session, limits, open, source, options);
    },
    get ended() {
      return session.ended;
    },
    get usage() {
      return { pending: session.pending, handles: session.holds };
    },
  };
  return client;
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
