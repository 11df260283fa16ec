/** A way to a pod that breaks off after so many bytes, when it is told to. */
import { connect, createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import type { PodHost } from "../../server/demo/pods/host.ts";

export interface CuttingHost extends PodHost {
  /** The next bytes to or from any pod: with the last of `bytes` of them every connection is cut, once. */
  cutAfter(bytes: number, direction: "to" | "from"): void;
  /** True when the cut has come about. */
  wasCut(): boolean;
}

/** Puts a proxy in front of every pod of `inner`. */
export function cuttingHost(inner: PodHost): CuttingHost {
  const servers = new Map<string, { close(): Promise<void> }>();
  const left = { to: Infinity, from: Infinity };
  let cut = false;
  const proxyTo = async (port: number) => {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const pod = connect(port, "127.0.0.1");
      for (const socket of [client, pod]) {
        sockets.add(socket);
        socket.on("close", () => sockets.delete(socket));
        // The end of the one is the end of the other, whatever ended it.
        socket.on("error", () => socket.destroy());
      }
      const pass = (direction: "to" | "from", other: Socket) => (chunk: Uint8Array) => {
        left[direction] -= chunk.length;
        if (left[direction] > 0) return void other.write(chunk);
        left[direction] = Infinity;
        cut = true;
        for (const socket of [...sockets]) socket.destroy();
      };
      client.on("data", pass("to", pod));
      pod.on("data", pass("from", client));
      client.on("close", () => pod.destroy());
      pod.on("close", () => client.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      port: (server.address() as AddressInfo).port,
      async close() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };
  const end = async (id: string) => {
    await servers.get(id)?.close();
    servers.delete(id);
  };
  return {
    async start(pod) {
      const { host, port } = await inner.start(pod);
      await end(pod.id);
      const proxy = await proxyTo(port);
      servers.set(pod.id, proxy);
      return { host, port: proxy.port };
    },
    async stop(id, options) {
      await end(id);
      await inner.stop(id, options);
    },
    async remove(id) {
      await end(id);
      await inner.remove(id);
    },
    async close() {
      for (const id of [...servers.keys()]) await end(id);
      await inner.close();
    },
    cutAfter(bytes, direction) {
      left[direction] = bytes;
      cut = false;
    },
    wasCut: () => cut,
  };
}
