import type { DataDir } from "../../server/data_dir.ts";
import { isWanted } from "../../server/data_lock.ts";
import type { InProcess } from "../../server/in_process.ts";
import { Refusal } from "./refusal.ts";

/** How often a holder looks whether somebody else wants the data directory. */
const LOOK_MS = 500;
/** What requests under way get before the directory is given away; a server waits longer than that. */
const DRAIN_MS = 12_000;

/** The App in this process, for somebody who stays long: it gives the data directory to a server or a command. */
export interface OwnProcess {
  /** False once the directory was given away: then `fetch` must not be called any more. */
  readonly isOpen: boolean;
  /** Resolves when the directory was given away, not at `close`. */
  readonly given: Promise<void>;
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export interface OwnProcessTimings {
  readonly lookMs?: number;
  readonly drainMs?: number;
}

/** Gives the App and its lock on the directory away as soon as another process waits for that. */
export function createOwnProcess(
  app: InProcess,
  dir: DataDir,
  { lookMs = LOOK_MS, drainMs = DRAIN_MS }: OwnProcessTimings = {},
): OwnProcess {
  const { promise: given, resolve: onGiven } = Promise.withResolvers<void>();
  const underWay = new Set<UnderWay>();
  let isOpen = true;

  const looking = setInterval(() => {
    if (isWanted(dir)) void giveAway();
  }, lookMs);
  Deno.unrefTimer(looking);

  const giveAway = async () => {
    isOpen = false;
    clearInterval(looking);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, drainMs));
    await Promise.race([Promise.all([...underWay].map(({ ended }) => ended)), late]);
    clearTimeout(timer);
    // What is still under way is not believed any more: it may find a closed database.
    for (const request of underWay) request.cut();
    await app.close();
    onGiven();
  };

  return {
    get isOpen() {
      return isOpen;
    },
    given,
    async fetch(request) {
      const { ended, onEnd, broken, cut } = createUnderWay();
      const entry = { ended, cut };
      underWay.add(entry);
      const end = () => {
        underWay.delete(entry);
        onEnd();
      };
      try {
        const answer = await Promise.race([app.fetch(request), broken]);
        if (answer.body !== null) return new Response(bodyUntil(broken, answer.body, end), answer);
        end();
        return answer;
      } catch (error) {
        end();
        throw error;
      }
    },
    async close() {
      clearInterval(looking);
      if (!isOpen) return await given;
      isOpen = false;
      await app.close();
    },
  };
}

/** A request until the last byte of its answer. */
interface UnderWay {
  readonly ended: Promise<void>;
  /** Gives it up, with a refusal as over a socket. */
  cut(): void;
}

function createUnderWay() {
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<void>();
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(onEnd);
  const sentence = "Another orgpods took the data directory; whether the request was carried out is not known";
  return { ended, onEnd, broken, cut: () => reject(new Refusal(sentence, 6)) };
}

/** A body that breaks off when `broken` rejects. */
function bodyUntil(broken: Promise<never>, body: ReadableStream<Uint8Array>, onEnd: () => void) {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await Promise.race([reader.read(), broken]);
        if (!done) return controller.enqueue(value);
        onEnd();
        controller.close();
      } catch (error) {
        onEnd();
        throw error;
      }
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}
