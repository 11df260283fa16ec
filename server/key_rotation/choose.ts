/** Which of two keys a pod takes in its present start, while one is being replaced by the other. */

/** What is known about a pod and one kind of key. Keys are told by their fingerprints. */
export interface KeyFacts {
  readonly current: string;
  /** The key that is being replaced; null when no rotation is open. */
  readonly old: string | null;
  /** In the pod's files in this start; null: not known. */
  readonly files: readonly string[] | null;
  /** In the env that this start began with: a fingerprint or another word; null: not known. */
  readonly startEnv: string | null;
  /** The backend key that the pod let in last in this start; null: none, or of the CA. */
  readonly login: string | null;
}

/**
 * The backend key to try first, and the one to try when it is refused. A pod whose files have both takes the new one;
 * else what logged in before counts, then what the start's env had. Where nothing is known it is the old one: most pods
 * began with it.
 */
export function backendOrder(facts: KeyFacts): { readonly first: string; readonly other: string | null } {
  const { current, old } = facts;
  if (old === null) return { first: current, other: null };
  const isNew = facts.files?.includes(current) === true ||
    (facts.login ?? facts.startEnv) === current;
  return isNew ? { first: current, other: old } : { first: old, other: current };
}

/**
 * The CA whose certificates the pod takes: the new one as soon as the pod's files have it. Files without any of both say
 * nothing: the pod waits for its first delivery, which brings both, or its image keeps the CA elsewhere.
 */
export function signingCa({ current, old, files, startEnv }: KeyFacts): string {
  if (old === null || files?.includes(current)) return current;
  return startEnv === current && !files?.includes(old) ? current : old;
}
