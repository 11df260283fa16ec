/** Open files of a session. A handle is closed exactly once, also when the open was given up before its answer came. */
import { AppError } from "../../errors.ts";
import * as answers from "./answers.ts";
import { attributeBytes, kindOf } from "./attributes.ts";
import { call } from "./call.ts";
import { SftpError } from "./error.ts";
import type { Attributes, CallOptions, OpenMode, OpenOptions, SftpFile } from "./interface.ts";
import { extended, request, writeBlock } from "./packets.ts";
import { checkPath } from "./paths.ts";
import * as protocol from "./protocol.ts";
import type { Session } from "./session.ts";

/** What a transfer needs of an open file beside its methods. */
export interface OpenHandle {
  readonly bytes: Uint8Array;
  /** Closes without waiting; what the pod says to it is of no interest. */
  drop(): void;
}

export interface BlockLimits {
  readonly read: number;
  readonly write: number;
}

const MAX_READ = 1024 * 1024;

const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: protocol.FOR_READING,
  create: protocol.FOR_WRITING | protocol.CREATE | protocol.EXCLUSIVE,
  overwrite: protocol.FOR_WRITING | protocol.CREATE | protocol.TRUNCATE,
};

export interface Files {
  open(path: Uint8Array, mode: OpenMode, options?: OpenOptions): Promise<SftpFile>;
  /** Of a file that `open` of this session gave. Throws a TypeError for another. */
  handleOf(file: SftpFile): OpenHandle;
}

/** Takes a handle for as long as the server has it open. */
export function holdHandle(session: Session, bytes: Uint8Array): OpenHandle & {
  close(options?: CallOptions): Promise<void>;
} {
  const release = session.hold();
  let closing: Promise<void> | undefined;
  const close = (options?: CallOptions) => {
    if (closing) return closing;
    // Not with the caller's signal: a transfer that was given up must give its handle back all the same.
    const { deadlineMs } = options ?? {};
    closing = call(
      session,
      request(protocol.CLOSE, bytes),
      answers.done,
      deadlineMs === undefined ? {} : { deadlineMs },
    );
    closing.then(release, release);
    return closing;
  };
  return { bytes, close, drop: () => void close().catch(ignoreSftpError) };
}

/** For a promise whose outcome nobody needs: what the session or the pod says is dropped, a fault of ours is not. */
export function ignoreSftpError(error: unknown): void {
  if (!(error instanceof SftpError || error instanceof AppError)) throw error;
}

export function createFiles(session: Session, limits: BlockLimits, stat: StatCall): Files {
  const handles = new WeakMap<SftpFile, OpenHandle>();

  const fileOf = (bytes: Uint8Array): SftpFile => {
    const handle = holdHandle(session, bytes);
    const file: SftpFile = {
      stat: (options) => call(session, request(protocol.FSTAT, bytes), answers.attributes, options),
      setStat: (changes, options) =>
        call(session, request(protocol.FSETSTAT, bytes, { raw: attributeBytes(changes) }), answers.done, options),
      async read(offset, length, options) {
        if (length > MAX_READ) throw new RangeError(`A read has at most ${MAX_READ} bytes`);
        const part = (at: number, size: number) =>
          call(
            session,
            request(protocol.READ, bytes, BigInt(at), size),
            (answer) => answers.data(answer, size),
            options,
          );
        return await readFully(part, offset, length, limits.read);
      },
      async write(offset, content, options) {
        for (let at = 0; at < content.length;) {
          const block = writeBlock(bytes, offset + at, Math.min(limits.write, content.length - at));
          at += block.add(content.subarray(at));
          await call(session, block.packet(), answers.done, options);
        }
      },
      async sync(options) {
        requireExtension(await session.version, "fsync@openssh.com");
        await call(session, extended("fsync@openssh.com", bytes), answers.done, options);
      },
      close: handle.close,
    };
    handles.set(file, handle);
    return file;
  };

  const openFile = (path: Uint8Array, mode: OpenMode, options: OpenOptions) => {
    const attributes = attributeBytes(mode === "read" ? {} : { mode: options.mode ?? 0o644 });
    const packet = request(protocol.OPEN, path, FLAGS[mode], { raw: attributes });
    return call(session, packet, (answer) => fileOf(answers.handle(answer)), options, (late) => {
      late.close().catch(ignoreSftpError);
    });
  };

  return {
    async open(path, mode, options = {}) {
      checkPath(path);
      // An exclusive create opens nothing that is there already.
      if (mode === "create") return await openFile(path, mode, options);
      const before = await statOrMissing(stat, path, options);
      if (before) refuseOtherKinds(before);
      const file = await openFile(path, mode, options);
      try {
        refuseOtherKinds(await file.stat(options));
        return file;
      } catch (error) {
        file.close().catch(ignoreSftpError);
        throw error;
      }
    },
    handleOf(file) {
      const handle = handles.get(file);
      if (!handle) throw new TypeError("The file was opened in another session");
      return handle;
    },
  };
}

export type StatCall = (path: Uint8Array, options?: CallOptions) => Promise<Attributes>;

async function statOrMissing(stat: StatCall, path: Uint8Array, options: CallOptions): Promise<Attributes | undefined> {
  try {
    return await stat(path, options);
  } catch (error) {
    // The open says the same, or makes the file.
    if (error instanceof SftpError && error.kind === "not_found") return undefined;
    throw error;
  }
}

function refuseOtherKinds(attributes: Attributes): void {
  const kind = kindOf(attributes);
  if (kind === "file") return;
  throw new SftpError("not_a_file", `Not a regular file but a ${kind === "unknown" ? "thing of unknown type" : kind}`);
}

/** Throws `unsupported` unless the server named the extension. */
export function requireExtension(extensions: ReadonlyMap<string, string>, name: string): void {
  if (extensions.has(name)) return;
  throw new SftpError("unsupported", `The pod's SFTP server does not have the extension ${name}`);
}

/**
 * Reads until `length` bytes are there or the file ends: a server may answer with fewer bytes than were asked for.
 * `part` reads at most so many bytes at an offset, or gives undefined at the end of the file.
 */
export async function readFully(
  part: (offset: number, length: number) => Promise<Uint8Array | undefined>,
  offset: number,
  length: number,
  block: number,
): Promise<Uint8Array> {
  const first = await part(offset, Math.min(length, block));
  if (first === undefined) return new Uint8Array();
  if (first.length === length) return first;
  const whole = new Uint8Array(length);
  whole.set(first);
  let filled = first.length;
  while (filled < length) {
    const next = await part(offset + filled, Math.min(length - filled, block));
    if (next === undefined) break;
    whole.set(next, filled);
    filled += next.length;
  }
  return whole.subarray(0, filled);
}
