import { AppError } from "../../server/errors.ts";
import type { Stdio } from "./stdio.ts";
import { plainLines } from "./text.ts";

/**
 * Prints a file on a terminal line by line: control characters but tabs and line ends are escaped, because the file of a
 * stranger must not steer the terminal. Throws `AppError("not_text")` at the first bytes that are no UTF-8, or a NUL.
 */
export async function printText(
  stdio: Pick<Stdio, "out" | "outBytes">,
  body: ReadableStream<Uint8Array>,
): Promise<void> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const decode = (bytes?: Uint8Array): string => {
    try {
      const text = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
      if (!text.includes("\0")) return text;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
    throw new AppError("not_text", "The file is not text", {
      hint: "Fetch it with orgpods file get, or print it as it is with --force",
    });
  };
  const encoder = new TextEncoder();
  for await (const bytes of body) {
    if (!await stdio.outBytes(encoder.encode(plainLines(decode(bytes))))) return;
  }
  await stdio.out(plainLines(decode()));
}
