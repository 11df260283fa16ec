/**
 * Frees the ciphers of an ssh2 connection. ssh2 makes a cipher and a decipher for each key exchange and never
 * finishes them; Deno frees a cipher only when it is finished. So each connection and each rekey would leave two
 * native objects behind. There is no public way to them: this reads fields of the pinned ssh2 version.
 */
import type { EventEmitter } from "node:events";

interface Finishable {
  final(): unknown;
}

interface Ssh2Internals {
  readonly _protocol?: {
    readonly _cipher?: { readonly _cipherInstance?: Finishable | null };
    readonly _decipher?: { readonly _decipherInstance?: Finishable | null };
  };
}

/** Watches a Client, or a Connection of ssh2's Server, and frees its ciphers when it has closed. */
export function freeCiphersOnClose(connection: EventEmitter): void {
  const ciphers = new Set<Finishable>();
  const collect = () => {
    const protocol = (connection as unknown as Ssh2Internals)._protocol;
    const pair = [protocol?._cipher?._cipherInstance, protocol?._decipher?._decipherInstance];
    for (const cipher of pair) if (cipher) ciphers.add(cipher);
  };
  connection.on("handshake", collect);
  connection.on("rekey", collect);
  connection.on("close", () => {
    collect();
    for (const cipher of ciphers) finish(cipher);
    ciphers.clear();
  });
}

function finish(cipher: Finishable): void {
  try {
    cipher.final();
  } catch (error) {
    // A GCM decipher in the middle of a packet, or one that ssh2 has finished: freed all the same.
    const expected = /unsupported state|invalid state|already finalized/i;
    if (!(error instanceof Error && expected.test(error.message))) throw error;
  }
}
