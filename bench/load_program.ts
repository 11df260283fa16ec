/** The load: reads a plan as one line of JSON from standard input and says how many answers came in how long. */
import type { LoadPlan } from "./load.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function readPlan(): Promise<LoadPlan> {
  let text = "";
  for await (const part of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.includes("\n")) break;
  }
  return JSON.parse(text);
}

/** Bytes of one answer at the start of the buffer, or 0 when it is not whole yet. Throws unless it is a plain 200. */
function answerLength(buffer: Uint8Array): number {
  const text = decoder.decode(buffer.subarray(0, 1_024));
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, headEnd));
  if (!text.startsWith("HTTP/1.1 200 ") || length === null) {
    throw new Error(`Not a plain 200: ${decoder.decode(buffer)}`);
  }
  const whole = headEnd + 4 + Number(length[1]);
  return buffer.length >= whole ? whole : 0;
}

async function connection(plan: LoadPlan, next: () => Uint8Array, until: () => boolean, count: () => void) {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port: plan.port });
  conn.setNoDelay(true);
  const buffer = new Uint8Array(65_536);
  while (!until()) {
    const request = next();
    for (let sent = 0; sent < request.length;) sent += await conn.write(request.subarray(sent));
    let got = 0;
    while (got === 0 || answerLength(buffer.subarray(0, got)) !== got) {
      const read = await conn.read(buffer.subarray(got));
      if (read === null) throw new Error("The server ended the connection");
      got += read;
    }
    count();
  }
  conn.close();
}

const plan = await readPlan();
const requests = plan.requests.map((request) => encoder.encode(request));
let turn = 0;
let answers = 0;
let done = false;
const work = Array.from(
  { length: plan.connections },
  () => connection(plan, () => requests[turn++ % requests.length]!, () => done, () => void answers++),
);
const failed = Promise.all(work).then(() => {});
const pause = (ms: number) => Promise.race([failed, new Promise<void>((resolve) => setTimeout(resolve, ms))]);
await pause(plan.warmUpMs);
console.log("measuring");
const before = answers;
const begun = performance.now();
await pause(plan.measureMs);
const ms = performance.now() - begun;
const counted = answers - before;
console.log(`answers ${counted} ms ${ms.toFixed(3)}`);
done = true;
await failed;
