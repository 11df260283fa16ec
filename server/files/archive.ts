import { AppError } from "../errors.ts";
import type { FileDeps } from "./deps.ts";
import { attachmentHeaders, watchedBody } from "./outgoing.ts";
import { bytesOf, splitPath } from "./path.ts";
import { placeOf } from "./place.ts";
import type { PodSession } from "./pod_session.ts";
import { commandFailure, nulEnded, runAs, streamAs } from "./run_as.ts";

/** Counts bytes as tar would store them, on one file system. */
const MEASURE = "xargs -0 du -sbx --";
/**
 * The pod's own tar: it walks by open folders, so that no part of a path can be swapped for a link under it, stores links
 * as links and opens no device. It ends with 1 when a file changed while it was read, which is no failure.
 */
const PACK = `xargs -0 sh -c 'tar --one-file-system -czf - -C "$0" -- "$1" || test $? -eq 1'`;
/** Headers and padding of an archive are not counted by the measure; past this the pod is up to something. */
const overhead = (bytes: number) => 2 * bytes + 64 * 1024 * 1024;

/**
 * A folder (or a file) as tar.gz, streamed as the pod packs it. Throws `too_large` when it holds more than the limit,
 * `command_failed`, and SftpErrors. A failure later cuts the answer off, without the end that gzip asks for.
 */
export async function archive(deps: FileDeps, session: PodSession, path: Uint8Array): Promise<Response> {
  const place = await placeOf(session.root, path, session.call);
  const sftp = await session.as(place.user);
  const real = await sftp.realPath(place.path, session.call);
  await sftp.stat(real, session.call);
  const { user } = place;
  const { transfer } = deps.fileLimits;
  const { commandMs, stallMs } = deps.fileTimings;

  const measure = { user, command: MEASURE, stdin: nulEnded(real) };
  const measured = await runAs(deps.ssh, session.target, measure, commandMs);
  const size = /^(\d{1,19})\t/.exec(measured.stdout)?.[1];
  if (size === undefined) throw commandFailure(measured.stderr);
  if (Number(size) > transfer) throw new AppError("too_large", `The folder holds more than ${transfer} bytes`);

  const { parent, name } = splitPath(real) ?? { parent: real, name: bytesOf(".") };
  const pack = { user, command: PACK, stdin: nulEnded(parent, name) };
  const body = await streamAs(deps.ssh, session.target, pack, stallMs);
  const shownAs = splitPath(path)?.name ?? bytesOf("pod");
  const headers = attachmentHeaders(Uint8Array.from([...shownAs, ...bytesOf(".tar.gz")]), "application/gzip");
  return new Response(watchedBody(body, overhead(transfer), deps.log, { pod: session.pod.id }), { headers });
}
