/** Files that belong to one person: mode 0600, replaced as a whole, one writer at a time. */

export async function readIfThere(path: string): Promise<string | null> {
  const bytes = await readBytesIfThere(path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

export async function readBytesIfThere(path: string): Promise<Uint8Array | null> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Puts a whole file in the place of what is there: whoever reads at the same time sees the old one or the new one. */
export async function replaceFile(path: string, content: string | Uint8Array, mode = 0o600): Promise<void> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeFile(temporary, bytes, { mode: 0o600, createNew: true });
    await Deno.chmod(temporary, mode);
    await Deno.rename(temporary, path);
  } catch (error) {
    await removeIfThere(temporary);
    throw error;
  }
}

/** Writes a file unless it is there already; true when it was written. */
export async function writeIfAbsent(path: string, content: string): Promise<boolean> {
  try {
    await Deno.writeTextFile(path, content, { mode: 0o600, createNew: true });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}

/** A folder that only its owner can look into. */
export async function makePrivateFolder(path: string): Promise<void> {
  await Deno.mkdir(path, { recursive: true, mode: 0o700 });
}

export async function removeIfThere(path: string): Promise<void> {
  try {
    await Deno.remove(path, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Carries `work` out while nobody else holds the lock file, also in other processes. Waits for its turn. */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  using file = await Deno.open(path, { create: true, write: true, mode: 0o600 });
  await file.lock(true);
  return await work();
}
