/** What the tests of SSH connections share: throw-away keys, targets on loopback, errors, a clock to set. */
import assert from "node:assert/strict";
// @ts-types="npm:@types/ssh2@1.15.6"
import ssh2 from "ssh2";
import { AppError } from "../../server/errors.ts";
import { silentLog } from "../../server/log.ts";
import { createPool, type PodTarget, type PoolOptions, type SshPool } from "../../server/ssh/pool.ts";

/**
 * A fresh ed25519 key pair in OpenSSH form; with a passphrase the private key is encrypted. ssh2 sometimes makes a key
 * that it cannot read itself; another one is made then.
 */
export function keyPair(passphrase?: string): { private: string; public: string } {
  const options = { cipher: "aes256-ctr", passphrase: passphrase ?? "", rounds: 1 };
  for (;;) {
    const pair = ssh2.utils.generateKeyPairSync("ed25519", passphrase === undefined ? {} : options);
    if (!(ssh2.utils.parseKey(pair.private, passphrase) instanceof Error)) return pair;
  }
}

const rootKey = keyPair().private;

export function targetAt(port: number, changes: Partial<PodTarget> = {}): PodTarget {
  return { podKey: "pod-1", startKey: "start-1", host: "127.0.0.1", port, privateKey: rootKey, ...changes };
}

/** A pool that trusts every host key, and waits long for a login: a machine may be very busy. */
export function trustingPool(options: Partial<PoolOptions> = {}): SshPool {
  const patient = { readyTimeoutMs: 60_000 };
  return createPool({ verifyHostKey: () => true, clock: { now: () => 0 }, log: silentLog, ...patient, ...options });
}

export function settableClock(): { now(): number; advance(ms: number): void } {
  let now = 1_000_000;
  return { now: () => now, advance: (ms) => void (now += ms) };
}

/** The AppError a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then((value) => new Error(`No error but ${value}`), (reason) => reason);
  assert(error instanceof AppError, error instanceof Error ? error.stack : String(error));
  return error;
}
