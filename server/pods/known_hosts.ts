import type { Database } from "../../db/database.ts";
import { hostKeyPin } from "../../db/stores/host_key_pins.ts";
import type { PodRow } from "../../db/stores/pods.ts";

/** Lines of an OpenSSH known_hosts file for a pod's address: the key pinned for its present start; none before a login. */
export function knownHosts(db: Database, { id, start_key, host, port }: PodRow): string[] {
  const pin = start_key === null ? undefined : hostKeyPin(db, id, start_key);
  if (pin === undefined) return [];
  return [`${port === 22 ? host : `[${host}]:${port}`} ${pin.public_key}`];
}

/**
 * Names the present start of a pod for clients, which may only compare it: with another one, the address, the host key and
 * the principal may have changed.
 */
export function startOf({ runpod_id, start_key }: PodRow): string {
  return `${runpod_id}/${start_key ?? ""}`;
}
