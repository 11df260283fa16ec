/** The program's way out to RunPod and Discord. */
export interface Outward {
  readonly fetch: typeof fetch;
  close(): void;
}

/**
 * Deno's fetch, except that every request which is not a read gets a connection of its own. Deno sends a request a second
 * time, POST included, when a connection it had kept open is cut before the answer: a create would buy two pods.
 */
export function createOutward(): Outward {
  const unpooled = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  return {
    fetch: (input, init) => {
      const method = init?.method ?? (input instanceof Request ? input.method : "GET");
      const isRead = method === "GET" || method === "HEAD";
      return fetch(input, isRead ? init : { ...init, client: unpooled });
    },
    close: () => unpooled.close(),
  };
}
