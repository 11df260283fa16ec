/** Where the kill tests cut: between which two lines of a create, stop, start or terminate, or of a removal from a
 * pod, the server dies. */
export const STEPS = [
  /** The schedule decided to start a pod; its sessions are not marked. */
  "unmarked",
  /** They are marked; nothing is asked yet. */
  "marked",
  /** The intent is saved; it is not marked as sent. */
  "saved",
  /** It is marked as sent; the request has not left the process. */
  "sent",
  /** The request was received; its answer is lost. */
  "unanswered",
  /** The answer is there; nothing of it is stored. */
  "answered",
  /** Some of the answer is written, in a transaction that is not committed. */
  "storing",
  /** Everything is stored; the caller was not answered. */
  "stored",
  /** The revocation list is on the pod; that is not stored. */
  "delivered",
  /** What somebody had on the pod has ended; that is not stored. */
  "ended",
  /** A second look found nothing more; the removal is not settled. */
  "unsettled",
] as const;

export type Step = typeof STEPS[number];

export function isStep(text: string): text is Step {
  return (STEPS as readonly string[]).includes(text);
}
