/** Standard input, output and error of the process, for commands that end: every write is complete when it returns. */
export interface Stdio {
  out(text: string): Promise<void>;
  err(text: string): Promise<void>;
  /** Everything on standard input as text; null past `maxBytes`. */
  readAll(maxBytes: number): Promise<string | null>;
  /** One line of standard input without its end; null at the end of the input. `hidden` turns a terminal's echo off. */
  readLine(hidden?: boolean): Promise<string | null>;
  /** Whether standard input is a terminal; the same of output and error. */
  readonly isTerminal: boolean;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Bytes as they are on standard output; false once its reader went away. */
  outBytes(bytes: Uint8Array): Promise<boolean>;
  /** Standard input as bytes, read as they are taken. */
  input(): ReadableStream<Uint8Array>;
}

export function processStdio(): Stdio {
  const out = writer(Deno.stdout);
  const err = writer(Deno.stderr);
  const encoder = new TextEncoder();
  return {
    out: async (text) => void await out(encoder.encode(text)),
    err: async (text) => void await err(encoder.encode(text)),
    readAll,
    readLine: (hidden = false) => hidden ? readHidden() : readVisible(),
    isTerminal: Deno.stdin.isTerminal(),
    outIsTerminal: Deno.stdout.isTerminal(),
    errIsTerminal: Deno.stderr.isTerminal(),
    outBytes: out,
    input: () => Deno.stdin.readable,
  };
}

/** A reader that went away (`orgpods pod list | head -1`) is no failure of the command: the rest is dropped. */
function writer(stream: { write(bytes: Uint8Array): Promise<number> }): (bytes: Uint8Array) => Promise<boolean> {
  let isOpen = true;
  return async (given) => {
    let bytes = given;
    while (isOpen && bytes.length > 0) {
      try {
        bytes = bytes.subarray(await stream.write(bytes));
      } catch (error) {
        if (error instanceof Deno.errors.BrokenPipe) isOpen = false;
        else if (error instanceof Deno.errors.WouldBlock) await new Promise((resolve) => setTimeout(resolve, 10));
        else throw error;
      }
    }
    return isOpen;
  };
}

async function readAll(maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const buffer = new Uint8Array(16_384);
  for (let n = await Deno.stdin.read(buffer); n !== null; n = await Deno.stdin.read(buffer)) {
    size += n;
    if (size > maxBytes) return null;
    chunks.push(buffer.slice(0, n));
  }
  return new TextDecoder().decode(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

async function readVisible(): Promise<string | null> {
  const bytes: number[] = [];
  const one = new Uint8Array(1);
  for (;;) {
    const end = await Deno.stdin.read(one) === null;
    if (end && bytes.length === 0) return null;
    if (end || one[0] === 0x0a) return new TextDecoder().decode(Uint8Array.from(bytes)).replace(/\r$/, "");
    bytes.push(one[0]!);
  }
}

/** In raw mode the terminal shows nothing and sends keys as they are: Enter, backspace, Ctrl-C, Ctrl-D, Ctrl-U. */
async function readHidden(): Promise<string | null> {
  const bytes: number[] = [];
  const one = new Uint8Array(1);
  Deno.stdin.setRaw(true);
  try {
    for (;;) {
      if (await Deno.stdin.read(one) === null) return null;
      const key = one[0]!;
      if (key === 0x03 || (key === 0x04 && bytes.length === 0)) return null;
      if (key === 0x0d || key === 0x0a) return new TextDecoder().decode(Uint8Array.from(bytes));
      if (key === 0x7f || key === 0x08) bytes.pop();
      else if (key === 0x15) bytes.length = 0;
      else bytes.push(key);
    }
  } finally {
    Deno.stdin.setRaw(false);
  }
}
