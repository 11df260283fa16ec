/**
 * What the rest of the program sees of a pod's files: one SFTP session as root. Paths and names are bytes, as they are on
 * the pod; relative paths start in root's home folder. Nothing here follows the pod's word on sizes, names or order.
 *
 * Every call settles. It rejects with
 * - an `SftpError` (see there for the kinds; `fileError` turns it into the answer for a caller);
 * - the reason of its signal when that is aborted.
 * A path that is empty, longer than 4096 bytes or has a NUL byte is refused before anything is sent (`invalid_path`).
 */

export interface CallOptions {
  /** Milliseconds until the pod must have answered, default 15 s. After that the session takes no new users. */
  readonly deadlineMs?: number;
  /** Gives the call up. What was sent already may still happen on the pod; handles are closed. */
  readonly signal?: AbortSignal;
}

/** Attributes as far as the pod told them. */
export interface Attributes {
  /** Bytes. What is beyond 2^53-1 is given as 2^53-1. Of no meaning for what is not a regular file, and 0 in /proc. */
  readonly size?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Type and permission bits as in `st_mode`. */
  readonly mode?: number;
  /** Seconds since 1970, unsigned 32 bits. */
  readonly atime?: number;
  readonly mtime?: number;
}

/** What may be set. `uid` goes with `gid`, `atime` with `mtime`; `mode` has permission bits only. */
export interface AttributeChanges {
  /** Cuts or extends the file. */
  readonly size?: number;
  readonly owner?: { readonly uid: number; readonly gid: number };
  readonly mode?: number;
  readonly times?: { readonly atime: number; readonly mtime: number };
}

export type FileKind = "file" | "directory" | "link" | "fifo" | "socket" | "device" | "unknown";

export interface DirectoryEntry {
  /** One part of a path: never empty, `.` or `..`, never with `/` or NUL. */
  readonly name: Uint8Array;
  /** Of the entry itself: a link is not followed. */
  readonly attributes: Attributes;
}

export interface ListOptions extends CallOptions {
  /** More entries are `too_large`. Default 100 000. */
  readonly maxEntries?: number;
  /** More bytes of names in all are `too_large`. Default 8 MiB. */
  readonly maxNameBytes?: number;
}

/**
 * - `read`: an existing regular file.
 * - `create`: a new file; one that exists, also as a link, is refused by the pod.
 * - `overwrite`: a regular file, emptied when it exists. Not atomic: write to a new name and `replace`.
 */
export type OpenMode = "read" | "create" | "overwrite";

export interface OpenOptions extends CallOptions {
  /** Permission bits of a new file before the pod's umask, default 0644. */
  readonly mode?: number;
}

/** An open file. Its handle is closed by `close`, by a stream's end, and with the session. */
export interface SftpFile {
  stat(options?: CallOptions): Promise<Attributes>;
  setStat(changes: AttributeChanges, options?: CallOptions): Promise<void>;
  /** At most `length` bytes, fewer only at the end of the file; none there. `length` at most 1 MiB. */
  read(offset: number, length: number, options?: CallOptions): Promise<Uint8Array>;
  write(offset: number, bytes: Uint8Array, options?: CallOptions): Promise<void>;
  /** fsync; `unsupported` where the pod's server has no such extension. */
  sync(options?: CallOptions): Promise<void>;
  /** Safe to call again. Tells what the pod says, for example a full quota. */
  close(options?: CallOptions): Promise<void>;
}

export interface TransferOptions {
  /** The transfer fails with `timeout` when no block was answered for so long. Default 30 s (15 s for opening and closing). There is no limit in all. */
  readonly stallMs?: number;
  readonly signal?: AbortSignal;
}

export interface ReadStreamOptions extends TransferOptions {
  /** First byte, default 0. */
  readonly start?: number;
  /**
   * The byte after the last one. With it the stream has exactly `end - start` bytes or fails with `changed`; without
   * it the stream goes on to the end of the file, whatever its size was said to be.
   */
  readonly end?: number;
}

export interface WriteOptions extends TransferOptions {
  /** Used when the target is a path; default `create`. */
  readonly open?: "create" | "overwrite";
  /** Permission bits of a new file, default 0644. */
  readonly mode?: number;
  /** Bytes the source must have; another number is `changed`. */
  readonly size?: number;
  /** A longer source is `too_large`, before the byte that is too many is sent. */
  readonly maxBytes?: number;
  /** fsync before the close where the pod's server can do it. Default false. */
  readonly sync?: boolean;
  /** Called with the bytes that the pod has acknowledged so far. */
  readonly onProgress?: (bytes: number) => void;
}

export interface FileSystemState {
  readonly blockSize: number;
  /** Bytes in all, free for root, free for others. */
  readonly size: number;
  readonly free: number;
  readonly available: number;
  /** Inodes in all, 0 where the file system does not count them. */
  readonly inodes: number;
  readonly freeInodes: number;
  readonly readOnly: boolean;
  /** Tells mounts apart; 0 on some file systems. */
  readonly id: bigint;
}

export interface Sftp {
  /** The server's extensions: name to version. */
  readonly extensions: ReadonlyMap<string, string>;
  /** The absolute path with links and `..` resolved. Links lead anywhere: a check of its beginning is no jail. */
  realPath(path: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Of what a link leads to. A broken link and a loop are `not_found`. */
  stat(path: Uint8Array, options?: CallOptions): Promise<Attributes>;
  lstat(path: Uint8Array, options?: CallOptions): Promise<Attributes>;
  /** Follows links. */
  setStat(path: Uint8Array, changes: AttributeChanges, options?: CallOptions): Promise<void>;
  /** The entries in pages, in the pod's order, as they come. Ending the loop early closes the folder. */
  list(path: Uint8Array, options?: ListOptions): AsyncIterableIterator<readonly DirectoryEntry[]>;
  /**
   * Opens regular files only (`not_a_file`): a FIFO would hang the pod's whole server process. Should the file be
   * swapped for one in between, the call ends by its deadline and takes the session with it.
   */
  open(path: Uint8Array, mode: OpenMode, options?: OpenOptions): Promise<SftpFile>;
  /** `mode` defaults to 0755. */
  makeDirectory(path: Uint8Array, options?: OpenOptions): Promise<void>;
  removeDirectory(path: Uint8Array, options?: CallOptions): Promise<void>;
  /** Unlinks; a link itself, not what it leads to. */
  removeFile(path: Uint8Array, options?: CallOptions): Promise<void>;
  /** An existing target is refused with `failure`, which is all the pod tells. */
  rename(from: Uint8Array, to: Uint8Array, options?: CallOptions): Promise<void>;
  /** Renames over the target in one step; `unsupported` where the pod's server has no posix-rename. */
  replace(from: Uint8Array, to: Uint8Array, options?: CallOptions): Promise<void>;
  readLink(path: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** statvfs; `unsupported` where the pod's server has no such extension. */
  fileSystem(path: Uint8Array, options?: CallOptions): Promise<FileSystemState>;
  /**
   * The bytes of a regular file with a few megabytes on their way at most, as fast as they are taken. The handle is
   * closed when the stream ends, fails or is cancelled, also that of a file that was passed open.
   */
  readStream(source: SftpFile | Uint8Array, options?: ReadStreamOptions): ReadableStream<Uint8Array>;
  /** A whole file of at most `maxBytes`; a longer one is `too_large`. Trusts no size, so it can read /proc. */
  readAll(path: Uint8Array, options: TransferOptions & { readonly maxBytes: number }): Promise<Uint8Array>;
  /**
   * Writes the source from the file's first byte on and returns its length. All blocks are acknowledged, the file's size
   * on the pod is compared, and the file is closed by then, also when it was passed open and when the call fails. A
   * failure cancels the source and leaves a part of the file. A failed source: its error comes through as it is.
   */
  writeFrom(
    target: SftpFile | Uint8Array,
    source: ReadableStream<Uint8Array>,
    options?: WriteOptions,
  ): Promise<number>;
  /** Why the session takes no calls any more, or undefined. */
  readonly ended: Error | undefined;
  /** Requests without an answer and open handles. */
  readonly usage: { readonly pending: number; readonly handles: number };
}
