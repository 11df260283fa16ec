import { AppError } from "../errors.ts";
import { type Attributes, kindOf, type Sftp, type SftpFile } from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { stateTag } from "./etag.ts";
import { attachmentHeaders, watchedBody } from "./outgoing.ts";
import { splitPath } from "./path.ts";
import { placeOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import { type ByteRange, rangeOf } from "./range.ts";

export interface DownloadRequest {
  readonly path: Uint8Array;
  readonly isHead: boolean;
  /** Request headers by lower-case name. */
  header(name: string): string | undefined;
}

/** The first bytes of a file whose size is 0 are asked for, because files of /proc and /sys do not tell theirs. */
const PEEK = 64 * 1024;

/**
 * A regular file as an answer: whole (200), a range (206), nothing new (304) or no such range (416). The length is that of
 * the beginning; a file that grows meanwhile does not change it, and one that shrinks ends the connection. Throws
 * `pod_refused` for what is no file, `too_large`, and SftpErrors.
 */
export async function download(deps: FileDeps, session: PodSession, request: DownloadRequest): Promise<Response> {
  const place = await placeOf(session.root, request.path, session.call);
  const sftp = await session.as(place.user);
  const before = await sftp.stat(place.path, session.call);
  if (kindOf(before) === "directory") {
    throw new AppError("pod_refused", "The path is a directory; download it as an archive");
  }
  const file = await sftp.open(place.path, "read", session.call);
  try {
    const state = await file.stat(session.call);
    const name = splitPath(request.path)?.name ?? new Uint8Array();
    const headers = attachmentHeaders(name, "application/octet-stream");
    if ((state.size ?? 0) === 0 && (await file.read(0, PEEK, session.call)).length > 0) {
      return endless(deps, session, sftp, file, headers, request);
    }
    return await sized(deps, session, { sftp, file, state, headers }, request);
  } catch (error) {
    await closeQuietly(file, session);
    throw error;
  }
}

interface Opened {
  readonly sftp: Sftp;
  readonly file: SftpFile;
  readonly state: Attributes;
  readonly headers: Headers;
}

async function sized(
  deps: FileDeps,
  session: PodSession,
  { sftp, file, state, headers }: Opened,
  request: DownloadRequest,
): Promise<Response> {
  const { size = 0, mtime = 0 } = state;
  const etag = stateTag(state);
  headers.set("etag", etag);
  headers.set("last-modified", new Date(mtime * 1000).toUTCString());
  headers.set("accept-ranges", "bytes");
  if (request.header("if-none-match") === etag) {
    await file.close(session.call);
    return new Response(null, { status: 304, headers });
  }
  const condition = request.header("if-range");
  const range = condition === undefined || condition === etag ? rangeOf(request.header("range"), size) : null;
  if (range === "unsatisfiable") {
    const sentence = `The file has ${size} bytes, none of them in the range`;
    throw new AppError("range_not_satisfiable", sentence, { headers: { "content-range": `bytes */${size}` } });
  }
  const { start, end }: ByteRange = range ?? { start: 0, end: size };
  refuseTooLarge(deps, end - start);
  headers.set("content-length", String(end - start));
  if (range !== null) headers.set("content-range", `bytes ${start}-${end - 1}/${size}`);
  const status = range === null ? 200 : 206;
  if (request.isHead || end === start) {
    await file.close(session.call);
    return new Response(null, { status, headers });
  }
  const body = sftp.readStream(file, { start, end, stallMs: deps.fileTimings.stallMs });
  return new Response(watchedBody(body, end - start, deps.log, { pod: session.pod.id }), { status, headers });
}

/** A file that has more bytes than it says: without length, ETag and ranges, up to the limit. */
async function endless(
  deps: FileDeps,
  session: PodSession,
  sftp: Sftp,
  file: SftpFile,
  headers: Headers,
  request: DownloadRequest,
): Promise<Response> {
  if (request.isHead) {
    await file.close(session.call);
    return new Response(null, { headers });
  }
  const body = sftp.readStream(file, { stallMs: deps.fileTimings.stallMs });
  const { transfer } = deps.fileLimits;
  return new Response(watchedBody(body, transfer, deps.log, { pod: session.pod.id }), { headers });
}

function refuseTooLarge(deps: FileDeps, length: number): void {
  const { transfer } = deps.fileLimits;
  if (length > transfer) throw new AppError("too_large", `The file is larger than ${transfer} bytes`);
}

/** The error on its way says more than that the file cannot be closed either. */
async function closeQuietly(file: SftpFile, session: PodSession): Promise<void> {
  await file.close(session.call).catch(() => {});
}
