import { AppError } from "../../server/errors.ts";
import type { Connection } from "./connection.ts";
import type { OwnProcess } from "./own_process.ts";
import { Refusal } from "./refusal.ts";

export interface HandoverParts {
  /** The App in this process once more, or null when a server answers. */
  open(): Promise<OwnProcess | null>;
  overSocket(): Connection;
}

/**
 * A connection that begins with the App in this process and goes on after that was given away: over the socket once a
 * server answers, for good; in this process again when it was a command that wanted the directory.
 */
export function createHandover(first: OwnProcess, { open, overSocket }: HandoverParts): Connection {
  let own: OwnProcess | null = first;
  let socket: Connection | null = null;
  let opening: Promise<void> | null = null;
  let isClosed = false;

  const reopen = async () => {
    await own?.given;
    own = null;
    try {
      own = await open();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw new Refusal(error.message, 6);
    }
    if (own === null) socket = overSocket();
  };

  return {
    baseUrl: overSocket().baseUrl,
    isOperator: true,
    get isOwnProcess() {
      return socket === null;
    },
    async fetch(request) {
      while (socket === null && !own?.isOpen) {
        if (isClosed) throw new Refusal("The connection is closed", 6);
        opening ??= reopen().finally(() => opening = null);
        await opening;
      }
      return await (socket ?? own!).fetch(request);
    },
    async close() {
      isClosed = true;
      await Promise.allSettled([opening]); // Who asked was told what came of it.
      await own?.close();
      await socket?.close();
    },
  };
}
