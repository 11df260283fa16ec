/** Temporary files of writes: their names, which of them are in use, and the removal of those that were left behind. */
import { Buffer } from "node:buffer";
import type { Log } from "../log.ts";
import { kindOf, type Sftp, SftpError } from "../ssh/sftp/mod.ts";
import type { PodUser } from "./as_owner.ts";
import { auditPath, bytesOf, joinPath } from "./path.ts";

/** Recognisable by people and by the sweep; 44 bytes. */
const PREFIX = ".orgpods-upload-";
const NAME = /^\.orgpods-upload-[0-9a-f]{24}\.tmp$/;

/** Then a file is left to the sweep of its folder. */
const MAX_TRIES = 5;
/** Folders that are remembered as looked through. */
const MAX_SWEPT = 10_000;
/** Entries looked at for left-over files in one folder. */
const MAX_ENTRIES = 20_000;

export interface LeftOver {
  readonly path: Uint8Array;
  readonly user: PodUser | null;
  /** How often its removal has failed before. */
  readonly tries: number;
}

export interface Temporaries {
  /** A new path in the folder. It counts as in use until `done`. */
  take(podId: string, folder: Uint8Array): Uint8Array;
  done(podId: string, path: Uint8Array): void;
  /** A file that could not be removed, because the link to the pod broke for instance. */
  leave(podId: string, left: LeftOver): void;
  /** What was left behind on a pod; forgotten here, so whoever asks removes it or leaves it again. */
  leftOn(podId: string): LeftOver[];
  podsWithLeftOvers(): string[];
  /**
   * Removes the temporary files of earlier runs of this server from a folder: those that are not in use now. Looks at
   * each folder once for each start of the pod; `sftp` acts as who writes there.
   */
  sweep(where: { podId: string; startKey: string; folder: Uint8Array }, sftp: Sftp): Promise<void>;
}

export function createTemporaries(log: Log): Temporaries {
  const inUse = new Set<string>();
  const left = new Map<string, LeftOver[]>();
  const swept = new Set<string>();
  const keyOf = (podId: string, path: Uint8Array) => `${podId} ${Buffer.from(path).toString("latin1")}`;

  const removeStale = async (podId: string, folder: Uint8Array, sftp: Sftp) => {
    let removed = 0;
    for await (const page of sftp.list(folder, { maxEntries: MAX_ENTRIES })) {
      for (const { name, attributes } of page) {
        const path = joinPath(folder, name);
        if (!NAME.test(Buffer.from(name).toString("latin1")) || kindOf(attributes) !== "file") continue;
        if (inUse.has(keyOf(podId, path))) continue;
        await sftp.removeFile(path);
        removed++;
      }
    }
    if (removed > 0) log.info("Temporary files of broken-off writes were removed from a pod", { pod: podId, removed });
  };

  return {
    take(podId, folder) {
      const random = Buffer.from(crypto.getRandomValues(new Uint8Array(12))).toString("hex");
      const path = joinPath(folder, bytesOf(`${PREFIX}${random}.tmp`));
      inUse.add(keyOf(podId, path));
      return path;
    },
    done: (podId, path) => void inUse.delete(keyOf(podId, path)),
    leave(podId, { path, user, tries }) {
      if (tries >= MAX_TRIES) return log.warn("A temporary file stays on a pod", { pod: podId, ...auditPath(path) });
      left.set(podId, [...left.get(podId) ?? [], { path, user, tries: tries + 1 }]);
    },
    leftOn(podId) {
      const found = left.get(podId) ?? [];
      left.delete(podId);
      return found;
    },
    podsWithLeftOvers: () => [...left.keys()],
    async sweep({ podId, startKey, folder }, sftp) {
      const key = `${keyOf(podId, folder)} ${startKey}`;
      if (swept.has(key)) return;
      if (swept.size >= MAX_SWEPT) swept.clear();
      swept.add(key);
      try {
        await removeStale(podId, folder, sftp);
      } catch (error) {
        if (!(error instanceof SftpError)) throw error;
        // A folder too long to look through stays as it is; after other trouble the next write looks again.
        if (error.kind !== "too_large") swept.delete(key);
      }
    },
  };
}
