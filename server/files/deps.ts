import type { Database } from "../../db/database.ts";
import { MINUTE, SECOND } from "../clock.ts";
import type { PodDeps } from "../pods/deps.ts";
import type { PodReader } from "../pods/pod_reader.ts";
import type { Reach } from "../pods/reach.ts";
import type { OwnerSessions } from "./owner_sessions.ts";
import type { Temporaries } from "./temporaries.ts";
import type { Turns } from "../turns.ts";

/** The operator's limits, in bytes. */
export interface FileLimits {
  /** What `read` gives and `write` takes. */
  readonly text: number;
  /** A download, an upload, and the content of an archive. */
  readonly transfer: number;
}

/** How long a pod or a client may let us wait; milliseconds. Tests set shorter ones. */
export interface FileTimings {
  /** Connecting to the pod and opening its SFTP. */
  readonly connectMs: number;
  /** One answer of the pod. */
  readonly callMs: number;
  /** A whole listing. */
  readonly listMs: number;
  /** A transfer fails when nothing moves on the pod's side for so long. */
  readonly stallMs: number;
  /** An upload is given up when the client sends nothing for so long. */
  readonly clientMs: number;
  /** A command on the pod: deleting and measuring a folder. */
  readonly commandMs: number;
}

export const FILE_TIMINGS: FileTimings = {
  connectMs: 20 * SECOND,
  callMs: 15 * SECOND,
  listMs: 30 * SECOND,
  stallMs: 30 * SECOND,
  clientMs: 60 * SECOND,
  commandMs: 5 * MINUTE,
};

/** What the operations of this folder need. */
export interface FileDeps extends PodDeps {
  readonly db: Database;
  readonly reader: PodReader;
  readonly reach: Reach;
  readonly fileLimits: FileLimits;
  readonly fileTimings: FileTimings;
  readonly owners: OwnerSessions;
  readonly temporaries: Temporaries;
  /** One write at a time comes to its end in a file. */
  readonly turns: Turns;
}
