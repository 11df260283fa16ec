import { type Api, type CreateBody, createPod } from "../../client/api.ts";
import { Refusal } from "../../client/refusal.ts";

/** Said when an earlier try of the same form, with other values, may have made a pod. */
export const EARLIER_TRY =
  "An earlier try of this form may have made a pod. Look at the list of pods and at what needs attention first.";

/** The creates of one form. */
export interface CreateSender {
  send(body: CreateBody): (api: Api, org: string) => Promise<Awaited<ReturnType<typeof createPod>>["value"]>;
  /** The next send is a create of its own, whatever came of those before. */
  startAnew(): void;
}

/**
 * Sends creates so that one form makes one pod: as long as it is not known what came of a try, the next one carries the
 * same Idempotency-Key. Only a refusal that settles the matter ends a key; the server would give it again for the same one.
 */
export function createSender(newKey: () => string = () => crypto.randomUUID()): CreateSender {
  let key = newKey();
  return {
    send: (body) => async (api, org) => {
      try {
        return (await createPod(api, org, body, key)).value;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.code === "idempotency_conflict") {
          throw new Refusal(error.message, error.exitCode, [...error.notes, EARLIER_TRY], error.code, error.status);
        }
        if (isSettled(error)) key = newKey();
        throw error;
      }
    },
    startAnew() {
      key = newKey();
    },
  };
}

/** True for an answer of the server's own that says that no pod was made, and that none is being looked for. */
function isSettled({ status, code, notes }: Refusal): boolean {
  return code !== undefined && status !== undefined && status < 500 && status !== 429 &&
    !notes.some((note) => note.startsWith("attention_id: "));
}
