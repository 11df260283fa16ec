/** One SSH connection to a pod: socket, handshake, host key, login as root with the org's backend key. */
import { createHash } from "node:crypto";
import { Socket } from "node:net";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Algorithms, Client } from "ssh2";
import { AppError, shown } from "../errors.ts";
import { DialFailure, type DialSight, explainDial } from "./dial_failure.ts";
import { freeCiphersOnClose } from "./ssh2_ciphers.ts";

/** Where a pod's sshd is and how to log in. */
export interface PodTarget {
  /** Our id of the pod. */
  readonly podKey: string;
  /** Identity of this start of the container. Another start has another host key and needs another connection. */
  readonly startKey: string;
  readonly host: string;
  readonly port: number;
  /** The org's backend key, as an unencrypted OpenSSH PEM. */
  readonly privateKey: string;
  /** Another one, tried on the same connection when the first is refused: while the key is being replaced. */
  readonly otherKey?: string;
}

/**
 * Decides on a host key; true accepts. Called in every handshake, with `SHA256:…` as `ssh-keygen -lf` prints it.
 * At that moment the server has neither proved that it holds the key nor let us in, so a key seen for the first time
 * must not be pinned here: whoever sits at a recycled address would be pinned. Pin after the login.
 */
export type HostKeyVerifier = (target: PodTarget, fingerprint: string, keyBlob: Uint8Array) => boolean;

export interface Login {
  readonly client: Client;
  readonly fingerprint: string;
  readonly keyBlob: Uint8Array;
  /** The private key of the target that was let in. */
  readonly privateKey: string;
}

export interface Link {
  /**
   * Settles when the login is through or has failed, at the latest after `readyTimeoutMs`. Rejects with a
   * `DialFailure`, with `backend_key_unreadable`, or with what the verifier threw.
   */
  readonly login: Promise<Login>;
  /** Aborted as soon as the connection is lost or ended; the reason is the `AppError` for a call that was using it. */
  readonly gone: AbortSignal;
  /** Resolves when the socket is closed for good. */
  readonly closed: Promise<void>;
  /** Ends the connection at once. */
  destroy(): void;
}

/**
 * What ssh2 and Deno do well together. chacha20-poly1305 leaks native memory for each packet, nistp521 and zlib
 * throw, and group14/16 fail on older runtimes.
 */
const ALGORITHMS: Algorithms = {
  kex: [
    "curve25519-sha256",
    "curve25519-sha256@libssh.org",
    "ecdh-sha2-nistp256",
    "ecdh-sha2-nistp384",
    "diffie-hellman-group-exchange-sha256",
  ],
  cipher: ["aes128-ctr", "aes256-ctr", "aes128-gcm@openssh.com", "aes256-gcm@openssh.com"],
  hmac: ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-512"],
  serverHostKey: ["ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512", "rsa-sha2-256"],
  compress: ["none"],
};

/** The fingerprint of a host key blob, `SHA256:` and 43 characters of base64. */
export function hostKeyFingerprint(keyBlob: Uint8Array): string {
  return `SHA256:${createHash("sha256").update(keyBlob).digest("base64").replace(/=+$/, "")}`;
}

/** ssh2 is large and slow to load, so that is left until the first pod is dialed. */
const loadSsh2 = async () => {
  // @ts-types="npm:@types/ssh2@1.15.6"
  const { default: ssh2 } = await import("ssh2");
  return ssh2;
};
type Ssh2 = Awaited<ReturnType<typeof loadSsh2>>;

/** Throws `backend_key_unreadable` unless `pem` is an unencrypted private key that ssh2 can use. */
function checkPrivateKey(ssh2: Ssh2, pem: string): void {
  const key = ssh2.utils.parseKey(pem);
  if (key instanceof Error || !key.isPrivateKey()) {
    const hint = "The stored backend key is not an unencrypted OpenSSH private key.";
    throw new AppError("backend_key_unreadable", "The backend key cannot be read", { hint });
  }
}

/** Starts a connection. Everything about its end is told by the returned link; nothing is thrown here. */
export function dial(
  target: PodTarget,
  options: { readonly verifyHostKey: HostKeyVerifier; readonly readyTimeoutMs: number },
): Link {
  const socket = new Socket();
  const login = Promise.withResolvers<Login>();
  const closed = Promise.withResolvers<void>();
  const gone = new AbortController();
  const address = `${target.host.includes(":") ? `[${target.host}]` : target.host}:${target.port}`;

  let firstBytes: Uint8Array = new Uint8Array();
  let handshakeDone = false;
  let accepted: { fingerprint: string; keyBlob: Uint8Array } | undefined;
  let refusedFingerprint: string | undefined;
  let loggedIn = false;
  let finished = false;

  const explain = (error: Error): DialFailure => {
    const sight: DialSight = {
      address,
      readyTimeoutMs: options.readyTimeoutMs,
      firstBytes,
      handshakeDone,
      refusedFingerprint,
    };
    return explainDial(error, sight);
  };

  /** The first reason wins; later errors are only consequences of the socket's end. */
  const finish = (error: Error, reject: unknown) => {
    if (finished) return;
    finished = true;
    socket.destroy();
    login.reject(reject);
    gone.abort(
      refusedFingerprint === undefined
        ? new AppError("pod_command_failed", "The command on the pod failed", {
          cause: error,
          hint: `The SSH connection to ${address} ended: ${shown(error.message)}.`,
        })
        : new AppError("host_key_changed", "The pod's SSH host key changed while the pod was running", {
          cause: error,
          hint: `The SSH server at ${address} showed the host key ${refusedFingerprint}.`,
        }),
    );
  };
  const lose = (error: Error) => finish(error, loggedIn ? error : explain(error));

  const verify = (keyBlob: Uint8Array): boolean => {
    const fingerprint = hostKeyFingerprint(keyBlob);
    try {
      if (options.verifyHostKey(target, fingerprint, Uint8Array.from(keyBlob))) {
        accepted = { fingerprint, keyBlob: Uint8Array.from(keyBlob) };
        return true;
      }
      refusedFingerprint = fingerprint;
    } catch (error) {
      finish(error instanceof Error ? error : new Error(String(error)), error);
    }
    return false;
  };

  const closedByPeer = () => Object.assign(new Error("The other side closed the connection"), { code: "ECONNRESET" });

  const start = (ssh2: Ssh2) => {
    if (finished) return;
    const keys = [target.privateKey, ...(target.otherKey === undefined ? [] : [target.otherKey])];
    for (const key of keys) checkPrivateKey(ssh2, key);
    let tried = -1;
    const client = new ssh2.Client();
    freeCiphersOnClose(client);
    client.on("error", lose);
    client.on("connect", () => client.setNoDelay(true));
    client.on("handshake", () => (handshakeDone = true));
    client.on("ready", () => {
      if (finished) return;
      if (!handshakeDone || !accepted) return lose(new Error("The server let us in before the handshake"));
      loggedIn = true;
      login.resolve({ client, ...accepted, privateKey: keys[tried]! });
    });
    client.on("end", () => lose(closedByPeer()));
    // A socket of our own: ssh2 cannot destroy one that is half closed, and a stalled peer would keep it for ever.
    socket.connect({ host: target.host, port: target.port });
    client.connect({
      sock: socket,
      username: "root",
      // Both on one connection: sshd counts a refused login against our address only when none of its keys is let in.
      authHandler: (_left, _partial, next) => {
        const key = keys[++tried];
        next(key === undefined ? false as never : { type: "publickey", username: "root", key });
      },
      readyTimeout: options.readyTimeoutMs,
      keepaliveInterval: 10_000,
      keepaliveCountMax: 3,
      algorithms: ALGORITHMS,
      hostVerifier: verify,
    });
    socket.once("data", (chunk: Uint8Array) => (firstBytes = Uint8Array.from(chunk.subarray(0, 64))));
  };

  // The listeners stay for the whole life: an `error` nobody hears would end the process.
  socket.on("error", lose);
  socket.on("close", () => {
    lose(closedByPeer());
    closed.resolve();
  });
  loadSsh2().then(start).catch((error) => {
    const failure = error instanceof Error ? error : new Error(String(error));
    finish(failure, failure instanceof AppError ? failure : explain(failure));
  });
  return {
    login: login.promise,
    gone: gone.signal,
    closed: closed.promise,
    destroy: () => {
      const reason = new Error("This server ended the connection");
      finish(reason, new DialFailure("ended", `This server ended the attempt to reach ${address}.`, reason));
    },
  };
}
