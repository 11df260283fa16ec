import { AppError } from "../errors.ts";
import { kindOf, SftpError } from "../ssh/sftp/mod.ts";
import type { FileDeps } from "./deps.ts";
import { contentTag } from "./etag.ts";
import { lossyText, pathFields, strictText } from "./path.ts";
import { placeOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";

export interface TextFile {
  readonly path: string;
  readonly path_b64?: string;
  readonly content: string;
  /** For `if_match` of a write. Not there for text with replaced bytes, which must not be written back. */
  readonly etag?: string;
  readonly lossy?: true;
}

/**
 * A whole text file. Throws `not_text` for bytes that are not UTF-8 unless `lossy`, `too_large`, and SftpErrors. The size
 * the pod tells is not trusted, so files of /proc have their content too.
 */
export async function readText(
  deps: FileDeps,
  session: PodSession,
  path: Uint8Array,
  { lossy }: { readonly lossy: boolean },
): Promise<TextFile> {
  const place = await placeOf(session.root, path, session.call);
  const sftp = await session.as(place.user);
  const { text: maxBytes } = deps.fileLimits;
  const tooLarge = () => new AppError("too_large", `The file is larger than ${maxBytes} bytes; download it instead`);
  const state = await sftp.stat(place.path, session.call);
  if (kindOf(state) === "directory") throw new AppError("pod_refused", "The path is a directory");
  if (kindOf(state) === "file" && (state.size ?? 0) > maxBytes) throw tooLarge();
  const content = await sftp.readAll(place.path, { maxBytes, stallMs: deps.fileTimings.callMs }).catch((error) => {
    throw error instanceof SftpError && error.kind === "too_large" ? tooLarge() : error;
  });
  const text = strictText(content);
  if (text !== null) return { ...pathFields(path), content: text, etag: contentTag(content) };
  if (lossy) return { ...pathFields(path), content: lossyText(content), lossy: true };
  throw new AppError(
    "not_text",
    "The file is not UTF-8 text. Download it, or read it with lossy, which cannot be saved",
  );
}
