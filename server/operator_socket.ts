import type { DataDir } from "./data_dir.ts";

/** Whether a server answers on the operator's socket of a data directory. */
export async function isListening(dir: DataDir): Promise<boolean> {
  try {
    const probe = await Deno.connect({ transport: "unix", path: dir.socket });
    probe.close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.ConnectionRefused) return false;
    throw error;
  }
}

/** Removes a socket file left by a killed process; the lock says that nobody else is there. */
export async function removeStaleSocket(dir: DataDir): Promise<void> {
  try {
    await Deno.remove(dir.socket);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
