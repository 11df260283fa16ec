/** Servers that do not behave: scripted TCP, scripted SSH, and a TCP proxy that breaks a good connection. */
import { Buffer } from "node:buffer";
import { connect, createServer, type Socket } from "node:net";
// @ts-types="npm:@types/ssh2@1.15.6"
import ssh2, { type Connection, type ServerChannel } from "ssh2";
import { freeCiphersOnClose } from "../../server/ssh/ssh2_ciphers.ts";

export interface TestServer {
  readonly port: number;
  /** Connections accepted so far. */
  count(): number;
  close(): Promise<void>;
}

/** Ignores what only says that the other side or we have closed the socket. */
async function untilClosed(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const expected = [
      Deno.errors.BadResource,
      Deno.errors.Interrupted,
      Deno.errors.ConnectionReset,
      Deno.errors.BrokenPipe,
      Deno.errors.NotConnected,
    ];
    if (!expected.some((kind) => error instanceof kind)) throw error;
  }
}

function closeQuietly(conn: Deno.Conn) {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** A TCP server that runs `behave` for each connection and closes what is left at the end. */
export function tcpServer(behave: (conn: Deno.Conn) => Promise<unknown>): TestServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const conns = new Set<Deno.Conn>();
  const work = new Set<Promise<void>>();
  let count = 0;
  const accepting = untilClosed((async () => {
    for await (const conn of listener) {
      count++;
      conns.add(conn);
      work.add(untilClosed(behave(conn)));
    }
  })());
  return {
    port: listener.addr.port,
    count: () => count,
    async close() {
      listener.close();
      await accepting;
      for (const conn of conns) closeQuietly(conn);
      await Promise.all(work);
    },
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);

async function writeAll(conn: Deno.Conn, data: Uint8Array) {
  for (let sent = 0; sent < data.length;) sent += await conn.write(data.subarray(sent));
}

/** Reads until the other side closes. */
async function drain(conn: Deno.Conn) {
  const buffer = new Uint8Array(65536);
  while (await conn.read(buffer) !== null);
}

/** An unencrypted SSH packet, as it goes over the wire before the key exchange. */
function packet(payload: Uint8Array): Uint8Array {
  const padding = 8 + (8 - ((5 + payload.length + 8) % 8)) % 8;
  const out = Buffer.alloc(5 + payload.length + padding);
  out.writeUInt32BE(1 + payload.length + padding, 0);
  out[4] = padding;
  out.set(payload, 5);
  return out;
}

const USERAUTH_SUCCESS = 52;

/** What a TCP server may do instead of speaking SSH. */
export const misbehaviours: Readonly<Record<string, (conn: Deno.Conn) => Promise<unknown>>> = {
  "says nothing": drain,
  "closes at once": (conn) => Promise.resolve(conn.close()),
  "resets": async (conn) => {
    // Closing a socket with unread data sends RST: wait for the client's identification line and leave it there.
    await new Promise((resolve) => setTimeout(resolve, 50));
    conn.close();
  },
  "sends rubbish": async (conn) => {
    await writeAll(conn, crypto.getRandomValues(new Uint8Array(4096)));
    await drain(conn);
  },
  "sends an endless banner": async (conn) => {
    for (;;) await writeAll(conn, bytes("welcome to this wonderful server\r\n".repeat(1000)));
  },
  "sends an endless line": async (conn) => {
    for (;;) await writeAll(conn, bytes("x".repeat(65536)));
  },
  "speaks HTTP": async (conn) => {
    await conn.read(new Uint8Array(64));
    await writeAll(conn, bytes("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    conn.close();
  },
  "identifies itself and stalls": async (conn) => {
    await writeAll(conn, bytes("SSH-2.0-OpenSSH_9.2p1\r\n"));
    await drain(conn);
  },
  "sends a huge packet": async (conn) => {
    await writeAll(conn, bytes("SSH-2.0-OpenSSH_9.2p1\r\n"));
    await writeAll(conn, new Uint8Array(64).fill(0xff));
    await drain(conn);
  },
  "lets us in before the key exchange": async (conn) => {
    await writeAll(conn, bytes("SSH-2.0-OpenSSH_9.2p1\r\n"));
    await writeAll(conn, packet(Uint8Array.of(USERAUTH_SUCCESS)));
    await drain(conn);
  },
};

export interface SshBehaviour {
  /** For each command: `accept()` gives its channel. Doing nothing never answers. */
  readonly exec?: (accept: () => ServerChannel, reject: () => void, connection: Connection) => void;
  /** For each subsystem, as `exec`. Without it every subsystem is refused. */
  readonly subsystem?: (accept: () => ServerChannel, reject: () => void, connection: Connection) => void;
  /** Sent before the login. */
  readonly banner?: string;
  /** True refuses each session channel. */
  readonly refuseSessions?: boolean;
  /** True never answers a request for a session channel. */
  readonly ignoreSessions?: boolean;
  /** True ends each connection right after the login. */
  readonly endAfterLogin?: boolean;
  readonly hostKey: string;
}

/** An SSH server that accepts any login and then does what `behaviour` says. */
export async function sshServer(behaviour: SshBehaviour): Promise<TestServer> {
  const connections = new Map<Connection, Promise<void>>();
  let count = 0;
  const { hostKey, banner } = behaviour;
  const server = new ssh2.Server({ hostKeys: [hostKey], ...(banner === undefined ? {} : { banner }) }, (connection) => {
    count++;
    connections.set(connection, new Promise((resolve) => connection.on("close", () => resolve())));
    freeCiphersOnClose(connection);
    // The client breaks connections off on purpose; what the server sees of it is of no interest.
    connection.on("error", () => {});
    connection.on("authentication", (context) => context.accept());
    connection.on("ready", () => behaviour.endAfterLogin && connection.end());
    connection.on("session", (accept, reject) => {
      if (behaviour.ignoreSessions) return;
      if (behaviour.refuseSessions) return void reject();
      const session = accept();
      session.on("exec", (acceptExec, rejectExec) => behaviour.exec?.(acceptExec, rejectExec, connection));
      session.on("subsystem", (acceptSubsystem: () => ServerChannel, rejectSubsystem: () => void) => {
        if (!behaviour.subsystem) return rejectSubsystem();
        behaviour.subsystem(acceptSubsystem, rejectSubsystem, connection);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The test server has no port");
  return {
    port: address.port,
    count: () => count,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const connection of connections.keys()) connection.end();
      await Promise.all([...connections.values(), closed]);
    },
  };
}

export interface TestProxy extends TestServer {
  /** Breaks all connections off. */
  cut(): void;
  /** Passes nothing on any more, in either direction, and keeps the connections open. */
  stall(): void;
}

/** A TCP proxy to a port on loopback. */
export function tcpProxy(port: number): TestProxy {
  const pairs = new Set<Deno.Conn>();
  let stalled = false;
  const never = Promise.withResolvers<never>();
  never.promise.catch(() => {});
  const pipe = async (from: Deno.Conn, to: Deno.Conn) => {
    const buffer = new Uint8Array(65536);
    for (let n = await from.read(buffer); n !== null; n = await from.read(buffer)) {
      if (stalled) await never.promise;
      await writeAll(to, buffer.subarray(0, n));
    }
    closeQuietly(to);
  };
  const server = tcpServer(async (conn) => {
    const upstream = await Deno.connect({ hostname: "127.0.0.1", port }).catch((error) => {
      // The server behind it starts again: for the client that is a connection that ends.
      if (error instanceof Deno.errors.ConnectionRefused) closeQuietly(conn);
      else throw error;
    });
    if (!upstream) return;
    pairs.add(conn).add(upstream);
    const both = [pipe(conn, upstream), pipe(upstream, conn)];
    await Promise.all(both.map((direction) => untilClosed(direction)));
    closeQuietly(conn);
    closeQuietly(upstream);
  });
  const cut = () => {
    for (const conn of pairs) closeQuietly(conn);
    pairs.clear();
  };
  return {
    port: server.port,
    count: server.count,
    cut,
    stall: () => (stalled = true),
    async close() {
      never.reject(new Deno.errors.Interrupted("The proxy ends"));
      cut();
      await server.close();
    },
  };
}

/** A TCP proxy to a port on loopback whose `cut` resets the connections instead of ending them. */
export async function resettingProxy(port: number): Promise<Omit<TestProxy, "stall">> {
  const sockets = new Set<Socket>();
  const closing = new Set<Promise<void>>();
  let count = 0;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    closing.add(new Promise((resolve) => socket.on("close", () => (sockets.delete(socket), resolve()))));
    // Its own reset comes back as an error.
    socket.on("error", () => {});
    return socket;
  };
  const server = createServer((client) => {
    count++;
    const upstream = keep(connect(port, "127.0.0.1"));
    keep(client).pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The test proxy has no port");
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: address.port,
    count: () => count,
    cut,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await Promise.all([...closing, closed]);
    },
  };
}
