import type { PodAddress, PodHost } from "../server/demo/pods/host.ts";
import { type Program, startProgram } from "../tests/support/process.ts";

/** A pod with this variable is reached only through a delaying proxy of so many milliseconds, there and back. */
export const ROUND_TRIP = "BENCH_ROUND_TRIP_MS";

/** A host whose pods are as far away as their environment says. */
export function withFarPods(inner: PodHost): PodHost {
  const proxies = new Map<string, Program>();
  const endProxy = async (id: string) => {
    await proxies.get(id)?.close();
    proxies.delete(id);
  };
  const putProxy = async (id: string, { host, port }: PodAddress, roundTripMs: string): Promise<PodAddress> => {
    const proxy = startProgram("bench/delaying_proxy.ts", { args: [host, String(port), roundTripMs] });
    proxies.set(id, proxy);
    const [, own] = await proxy.line(/^proxy on (\d+)$/m);
    return { host: "127.0.0.1", port: Number(own) };
  };
  return {
    async start(pod) {
      const address = await inner.start(pod);
      const roundTripMs = pod.env[ROUND_TRIP];
      return roundTripMs === undefined ? address : await putProxy(pod.id, address, roundTripMs);
    },
    async stop(id, options) {
      await endProxy(id);
      await inner.stop(id, options);
    },
    async remove(id) {
      await endProxy(id);
      await inner.remove(id);
    },
    async close() {
      for (const id of [...proxies.keys()]) await endProxy(id);
      await inner.close();
    },
  };
}
