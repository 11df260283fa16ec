import { DeadlinePassed, limitCall, orAborted } from "../deadline.ts";
import * as answers from "./answers.ts";
import { call, timeoutError } from "./call.ts";
import { SftpError } from "./error.ts";
import { holdHandle, ignoreSftpError } from "./files.ts";
import type { DirectoryEntry, ListOptions } from "./interface.ts";
import { request } from "./packets.ts";
import { checkPath } from "./paths.ts";
import * as protocol from "./protocol.ts";
import type { Session } from "./session.ts";

/** READDIRs on their way: OpenSSH gives 100 entries for each, so one at a time would cost a round trip per 100. */
const AHEAD = 16;

/** The entries of a folder, see `Sftp.list`. The deadline is for the whole listing, default 30 s. */
export async function* listFolder(
  session: Session,
  path: Uint8Array,
  options: ListOptions = {},
): AsyncGenerator<readonly DirectoryEntry[], undefined> {
  const { deadlineMs = 30_000, maxEntries = 100_000, maxNameBytes = 8 * 1024 * 1024 } = options;
  const limit = limitCall(deadlineMs, options.signal);
  const undo = (late: Uint8Array) => holdHandle(session, late).drop();
  let drop = () => {};
  try {
    const bytes = await call(session, request(protocol.OPENDIR, checkPath(path)), answers.handle, {
      deadlineMs: deadlineMs + 1_000,
      signal: limit.signal,
    }, undo);
    const handle = holdHandle(session, bytes);
    drop = handle.drop;
    const pages: Promise<DirectoryEntry[] | undefined>[] = [];
    let entries = 0;
    let nameBytes = 0;
    for (;;) {
      while (pages.length < AHEAD) {
        const page = session.send(request(protocol.READDIR, bytes), answers.entries);
        // Those behind the end, or behind a failed one, are not looked at.
        page.catch(ignoreSftpError);
        pages.push(page);
      }
      const page = await orAborted(pages.shift()!, limit.signal);
      if (page === undefined) return;
      entries += page.length;
      nameBytes += page.reduce((sum, { name }) => sum + name.length, 0);
      if (entries > maxEntries) throw new SftpError("too_large", `The folder has more than ${maxEntries} entries`);
      if (nameBytes > maxNameBytes) {
        throw new SftpError("too_large", `The names in the folder have more than ${maxNameBytes} bytes`);
      }
      if (page.length > 0) yield page;
    }
  } catch (error) {
    if (!(error instanceof DeadlinePassed)) throw error;
    session.overdue();
    throw timeoutError(error.deadlineMs);
  } finally {
    drop();
    limit.end();
  }
}
