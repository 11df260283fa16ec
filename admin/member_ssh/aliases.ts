import { aliasById, aliasByName, POD_ID } from "../../server/pods/host_alias.ts";

export interface NamedPod {
  readonly id: string;
  readonly name: string;
}

/**
 * The name by which ssh is to know each pod: `<org>-<pod name>`, or `<org>-<pod id>` where the name has odd characters, is
 * the id of another pod, or is taken. What a pod had before it keeps, so that a new pod of the same name does not take its
 * place. Pods whose id is odd have none. `taken` are names that mean something else already.
 */
export function assignAliases(
  org: string,
  pods: readonly NamedPod[],
  before: Readonly<Record<string, string>>,
  taken: ReadonlySet<string>,
): Record<string, string> {
  const good = pods.filter(({ id }) => POD_ID.test(id));
  const ids = new Set(good.map(({ id }) => id.toLowerCase()));
  // ssh writes host names in lower case, so names that differ only in that are one.
  const used = new Set([...taken].map((name) => name.toLowerCase()));
  const given = new Map<string, string>();
  const give = (id: string, alias: string | null) => {
    if (alias === null || given.has(id) || used.has(alias.toLowerCase())) return;
    used.add(alias.toLowerCase());
    given.set(id, alias);
  };
  const byName = ({ id, name }: NamedPod) => {
    const lower = name.toLowerCase();
    return ids.has(lower) && lower !== id.toLowerCase() ? null : aliasByName(org, name);
  };
  for (const pod of good) {
    const kept = Object.hasOwn(before, pod.id) ? before[pod.id]! : null;
    if (kept !== null && (kept === byName(pod) || kept === aliasById(org, pod.id))) give(pod.id, kept);
  }
  for (const pod of good) give(pod.id, byName(pod));
  for (const pod of good) give(pod.id, aliasById(org, pod.id));
  return Object.fromEntries(good.flatMap(({ id }) => given.has(id) ? [[id, given.get(id)!]] : []));
}

/** The names in the `Host` lines of a configuration, without patterns. */
export function hostNames(config: string): Set<string> {
  const names = new Set<string>();
  for (const [, words = ""] of config.matchAll(/^[ \t]*host(?:[ \t]*=[ \t]*|[ \t]+)(.*)$/gim)) {
    for (const word of words.split(/[ \t"\r]+/)) if (word !== "" && !/[*?!]/.test(word)) names.add(word);
  }
  return names;
}
