/** What a pod id may be made of where it becomes a part of something else: a principal, a file name, a line for ssh. */
export const POD_ID = /^[A-Za-z0-9_-]{1,64}$/;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
/** ssh takes a word that begins with `-` for an option. */
const PREFIX = /^[a-z0-9_][a-z0-9_-]{1,19}$/;

/**
 * The name by which ssh knows a pod, `<org>-<pod name>`. Pod names are free text: null for one with anything but letters,
 * digits, `.`, `_` and `-`, so that no name can write lines or patterns into a configuration.
 */
export function aliasByName(orgPrefix: string, podName: string): string | null {
  return PREFIX.test(orgPrefix) && NAME.test(podName) ? `${orgPrefix}-${podName}` : null;
}

/** The same from the pod's id, for pods whose name will not do; null when the id will not do either. */
export function aliasById(orgPrefix: string, podId: string): string | null {
  return PREFIX.test(orgPrefix) && POD_ID.test(podId) ? `${orgPrefix}-${podId}` : null;
}
