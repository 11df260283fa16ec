/** A loopback server that answers by script and remembers every request, and the small parts tests of Discord share. */
import { createDirectory, type Directory } from "../../server/discord/directory.ts";
import { createLog, type Log } from "../../server/log.ts";

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
}

export interface Scripted extends AsyncDisposable {
  readonly origin: string;
  readonly apiUrl: string;
  readonly seen: Seen[];
}

export type Script = (seen: Seen, count: number) => Response | Promise<Response>;

/** Starts a server on a free port; `script` gets each request and how many came before it. */
export function scripted(script: Script): Scripted {
  const seen: Seen[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    const one = {
      method: request.method,
      path: url.pathname.replace(/^\/api\/v10/, ""),
      query: url.searchParams,
      headers: request.headers,
      body: await request.text(),
    };
    seen.push(one);
    return await script(one, seen.length - 1);
  });
  const origin = `http://127.0.0.1:${server.addr.port}`;
  return { origin, apiUrl: `${origin}/api/v10`, seen, [Symbol.asyncDispose]: () => server.shutdown() };
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers });

export const page = (status: number): Response =>
  new Response("<html>Attention required</html>", { status, headers: { "content-type": "text/html" } });

export const GUILD = "110000000000000001";
export const ANN = "220000000000000001";
export const BOB = "220000000000000002";
export const ROLE = "330000000000000001";
export const TOKEN = "bot-token-that-must-stay-secret";

/** A member object as Discord sends it. */
export function memberBody(id = ANN, more: Record<string, unknown> = {}, user: Record<string, unknown> = {}) {
  return {
    user: { id, username: `user${id.slice(-3)}`, global_name: null, avatar: null, discriminator: "0", ...user },
    nick: null,
    roles: [ROLE],
    joined_at: "2024-01-01T00:00:00+00:00",
    pending: false,
    flags: 0,
    deaf: false,
    mute: false,
    ...more,
  };
}

export function testClock(start = 1_700_000_000_000) {
  let now = start;
  return { now: () => now, advance: (ms: number) => void (now += ms) };
}

export function recordingLog(): Log & { lines: string[] } {
  const lines: string[] = [];
  return { lines, ...createLog((line) => void lines.push(line), () => 0) };
}

/** A directory on the scripted server, with a clock that only moves by hand and a log that is kept. */
export function directoryOf(server: Scripted, botToken: string | null = TOKEN) {
  const clock = testClock();
  const log = recordingLog();
  const directory: Directory = createDirectory({ apiUrl: server.apiUrl, botToken, version: "1.2.3", clock, log });
  return { directory, clock, log };
}

/** A promise that a test settles. */
export function gate(): { open: () => void; passed: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: resolve, passed: promise };
}

/** Waits until `condition` holds; fails after a minute. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error("The condition did not come true within a minute");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
