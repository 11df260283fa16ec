import type { Parts } from "./parts.ts";

/**
 * Whether a request reached this machine's loopback under its own name. A page of another site that made its name
 * point here, or a proxy in front, is told by the Host header or by forwarded headers.
 * @returns the sentence of the refusal, or undefined
 */
export function notLocal(request: Request, origins: Parts["origins"]): string | undefined {
  for (const name of request.headers.keys()) {
    if (name === "forwarded" || name.startsWith("x-forwarded-")) return `The header ${name} is not accepted here.`;
  }
  const host = request.headers.get("Host") ?? new URL(request.url).host;
  const known = [...origins].map((origin) => new URL(origin));
  const own = known.some(({ port }) => host === `127.0.0.1:${port}` || host === `localhost:${port}`);
  // Without a listener the request comes from within the process; a name that is not of this machine is still odd.
  const within = known.length === 0 && /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host);
  return own || within ? undefined : "The Host header is not that of this server.";
}
