import { Buffer } from "node:buffer";
import type { Database } from "../../db/database.ts";
import { hostKeyPin, insertHostKeyPin, storeRefusedHostKey } from "../../db/stores/host_key_pins.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { PodTarget } from "./dial.ts";

/**
 * Host key pins: one per start of a container (decision 26), trusted on first use. The first key is pinned only after a
 * login, because whoever sits at a recycled address shows a key too.
 */
export interface HostKeys {
  /** For every handshake: true when the key is the pinned one, or when none is pinned for this start yet. */
  verify(target: PodTarget, fingerprint: string): boolean;
  /** After each login. */
  pin(target: PodTarget, fingerprint: string, keyBlob: Uint8Array): void;
  isPinned(podId: string, startKey: string): boolean;
}

export function createHostKeys(db: Database, clock: Clock, log: Log): HostKeys {
  return {
    verify(target, fingerprint) {
      const pin = hostKeyPin(db, target.podKey, target.startKey);
      if (pin === undefined || pin.fingerprint === fingerprint) return true;
      storeRefusedHostKey(db, target.podKey, target.startKey, fingerprint, clock.now());
      log.warn("A pod's SSH host key changed within one start", {
        pod: target.podKey,
        address: `${target.host}:${target.port}`,
        pinned: pin.fingerprint,
        shown: fingerprint,
      });
      return false;
    },
    pin(target, fingerprint, keyBlob) {
      if (hostKeyPin(db, target.podKey, target.startKey) !== undefined) return;
      const length = Buffer.from(keyBlob).readUInt32BE(0);
      const type = Buffer.from(keyBlob).toString("ascii", 4, 4 + length);
      const publicKey = `${type} ${Buffer.from(keyBlob).toString("base64")}`;
      insertHostKeyPin(
        db,
        { podId: target.podKey, startKey: target.startKey, fingerprint, publicKey },
        clock.now(),
      );
    },
    isPinned: (podId, startKey) => hostKeyPin(db, podId, startKey) !== undefined,
  };
}
