import { AppError } from "../errors.ts";
import { type Part } from "../http/multipart.ts";
import { SftpError } from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { bytesOf, joinPath, pathOf } from "./path.ts";
import { placeOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import { type NewContent, replaceFile } from "./replace_file.ts";
import { DEFAULT_FOLDER } from "./schemas.ts";

export interface Uploaded {
  readonly path: Uint8Array;
  readonly size: number;
  readonly etag: string;
}

const NO_FILE = "Send the file as multipart field file";
/** A path, or its base64. */
const MAX_FIELD = 8 * 1024;

export function uploadTooLarge(maxBytes: number): AppError {
  return new AppError("too_large", `Uploads are limited to ${maxBytes} bytes`);
}

/** Streams a whole body into the file at `path`. Errors as `replaceFile`, with the contract's sentence for the limit. */
export async function uploadTo(
  deps: FileDeps,
  session: PodSession,
  path: Uint8Array,
  content: Pick<NewContent, "source" | "size" | "ifMatch" | "mustBeNew">,
): Promise<Uploaded> {
  const { transfer: maxBytes } = deps.fileLimits;
  try {
    return { path, ...await replaceFile(deps, session, path, { ...content, maxBytes }) };
  } catch (error) {
    if (error instanceof SftpError && error.kind === "too_large") throw uploadTooLarge(maxBytes);
    throw error;
  }
}

/**
 * The upload of a form: the part `file` into the folder that the field `path` (or `path_b64`) names, or `folder`, or the
 * default. A folder that is named only after the file is known too late: the file then waits under a name of its own in
 * the default folder and is copied.
 */
export async function uploadForm(
  deps: FileDeps,
  session: PodSession,
  parts: AsyncIterable<Part>,
  given: Uint8Array | null,
): Promise<Uploaded> {
  const fields: { text: string | undefined; base64: string | undefined } = { text: undefined, base64: undefined };
  const folder = () =>
    given ?? (fields.text === undefined && fields.base64 === undefined ? null : pathOf("path", fields));
  let waiting: { readonly file: Uploaded; readonly name: Uint8Array } | undefined;
  let place: Uint8Array | undefined;
  let uploaded: Uploaded | undefined;
  try {
    for await (const part of parts) {
      if (part.filename === null) {
        if (part.name === "path") fields.text = await fieldText(part);
        if (part.name === "path_b64") fields.base64 = await fieldText(part);
      } else if (part.name === "file") {
        if (waiting !== undefined || uploaded !== undefined) throw new AppError("invalid_request", "Send one file");
        const name = plainName(part.filename);
        const into = folder();
        if (into !== null) {
          uploaded = await uploadTo(deps, session, joinPath(into, name), { source: part.content });
        } else {
          place = deps.temporaries.take(session.pod.id, bytesOf(DEFAULT_FOLDER));
          waiting = { name, file: await uploadTo(deps, session, place, { source: part.content }) };
        }
      }
    }
    if (uploaded !== undefined) return uploaded;
    if (waiting === undefined) throw new AppError("invalid_request", NO_FILE);
    // Where everybody writes in the default folder, what waited may be a link by now.
    const { path: from, user } = await placeOf(session.root, waiting.file.path, session.call);
    const source = (await session.as(user)).readStream(from, { end: waiting.file.size });
    const path = joinPath(folder() ?? bytesOf(DEFAULT_FOLDER), waiting.name);
    return await uploadTo(deps, session, path, { source, size: waiting.file.size });
  } finally {
    if (waiting !== undefined) await forget(deps, session, waiting.file.path);
    if (place !== undefined) deps.temporaries.done(session.pod.id, place);
  }
}

async function forget(deps: FileDeps, session: PodSession, path: Uint8Array): Promise<void> {
  try {
    await session.root.removeFile(path, session.call);
  } catch (error) {
    if (!(error instanceof SftpError)) throw error;
    deps.temporaries.leave(session.pod.id, { path, user: null, tries: 0 });
  }
}

async function fieldText(part: Part): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of part.content) {
    length += chunk.length;
    if (length > MAX_FIELD) throw new AppError("invalid_request", `${part.name} is too long`);
    chunks.push(chunk);
  }
  const text = await new Blob(chunks as Uint8Array<ArrayBuffer>[]).text();
  return text;
}

/** The name a client gives a file, which is never a path. */
function plainName(name: Uint8Array): Uint8Array {
  const isPlain = name.length > 0 && name.length <= 255 && !name.includes(0) && !name.includes(0x2f) &&
    ![".", ".."].some((dots) => new TextDecoder().decode(name) === dots);
  if (!isPlain) throw new AppError("invalid_request", "The file needs a plain name");
  return name;
}
