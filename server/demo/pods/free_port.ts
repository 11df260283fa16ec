/** A TCP port of 127.0.0.1 that nobody listened on a moment ago. Another process may take it first: be ready to retry. */
export function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
