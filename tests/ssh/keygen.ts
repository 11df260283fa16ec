/** What the tests of keys and certificates share: the vectors, ssh-keygen, and a seeded source of mutations. */

/** The rows of a vector file, one JSON value a line; the path is below tests/vectors. */
export function rows<T>(path: string): T[] {
  const text = Deno.readTextFileSync(new URL(`../vectors/${path}`, import.meta.url));
  return text.trim().split("\n").map((line) => JSON.parse(line) as T);
}

/** Runs `use` with a fresh directory that is removed afterwards. */
export async function withDir(use: (dir: string) => void | Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "orgpods-keys-" });
  try {
    await use(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

export interface Ran {
  readonly ok: boolean;
  /** 255 when ssh-keygen gave up in the middle. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs ssh-keygen with times in UTC and waits for it. */
export function keygen(...args: string[]): Ran {
  const command = new Deno.Command("ssh-keygen", { args, env: { TZ: "UTC", LC_ALL: "C" }, stdin: "null" });
  const { success, code, stdout, stderr } = command.outputSync();
  const decoder = new TextDecoder();
  return { ok: success, code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** What ssh-keygen says of one text in a file: `-l` for keys, `-L` for certificates. */
export function judged(dir: string, option: "-lf" | "-Lf", text: string): Ran {
  Deno.writeTextFileSync(`${dir}/judged.pub`, `${text}\n`);
  // ssh-keygen takes a private key too where others may not read the file, which depends on the umask.
  Deno.chmodSync(`${dir}/judged.pub`, 0o644);
  return keygen(option, `${dir}/judged.pub`);
}

/** Numbers from 0 to below `limit`, the same ones for the same seed (mulberry32). */
export function seeded(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * limit);
  };
}

/** Bytes with one to three small faults: a changed, dropped, doubled or inserted byte, or a cut end. */
export function mutated(bytes: Uint8Array, random: (limit: number) => number): Uint8Array {
  const out = [...bytes];
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(out.length);
    const choice = random(6);
    if (choice === 0) out[at] = random(256);
    if (choice === 1) out[at] = (out[at] ?? 0) ^ (1 << random(8));
    if (choice === 2) out.splice(at, 1);
    if (choice === 3) out.splice(at, 0, random(256));
    if (choice === 4) out.splice(at, 0, ...out.slice(at, at + random(8)));
    if (choice === 5) out.length = at;
  }
  return Uint8Array.from(out);
}
