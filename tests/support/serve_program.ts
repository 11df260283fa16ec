/**
 * `orgpods serve` with one thing more: a line `reject` on its standard input makes a promise that is rejected and that
 * nobody awaits. Argument: the data directory.
 */
import { serve } from "../../server/serve.ts";

async function obey(): Promise<void> {
  for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    if (text.trim() === "reject") Promise.reject(new Error("nobody awaits this"));
  }
}

obey();
Deno.exit(await serve({ dataDir: Deno.args[0]!, port: 0, allowTestUpstreams: true }));
