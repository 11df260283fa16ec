import type { App } from "./app.ts";
import type { Config } from "./config.ts";
import type { DataDir } from "./data_dir.ts";
import { AppError } from "./errors.ts";
import { describeError, type Log } from "./log.ts";
import { removeStaleSocket } from "./operator_socket.ts";

export interface Listening {
  /** Where the API is, as a URL without a path. */
  readonly url: string;
  /** Rejects when a listener ends by itself (no file descriptors left, for instance): nobody could come in any more. */
  readonly broken: Promise<never>;
  /** Takes no new requests; those under way get up to `drainMs`. */
  close(drainMs: number): Promise<void>;
}

/** Listens on TCP and on the operator's socket in the data directory. */
export async function listen(app: App, config: Config, dir: DataDir, log: Log): Promise<Listening> {
  const onError = (error: unknown): Response => {
    log.error("A request failed outside the router", { error: describeError(error) });
    return Response.json({ error: "Something went wrong on the server", code: "internal_error" }, { status: 500 });
  };
  const tcp = openTcp(app, config, onError);
  await removeStaleSocket(dir);
  const local = Deno.serve(
    { path: dir.socket, onListen: () => {}, onError },
    (request) => app.fetch(request, { isOperator: true, account: localAccount(), address: "" }),
  );
  Deno.chmodSync(dir.socket, 0o600);
  const { port } = tcp.addr as Deno.NetAddr;
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  let closing = false;
  const broken = new Promise<never>((_resolve, reject) => {
    for (const server of [tcp, local]) {
      server.finished.then(() => new Error("A listener ended"), (error) => error).then((reason) => {
        if (!closing) reject(reason);
      });
    }
  });
  broken.catch(() => {}); // Who does not wait for it, closes.
  return {
    url: `http://${host}:${port}`,
    broken,
    async close(drainMs) {
      closing = true;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => timer = setTimeout(resolve, drainMs));
      await Promise.race([Promise.all([tcp.shutdown(), local.shutdown()]), late]);
      clearTimeout(timer);
    },
  };
}

function openTcp(app: App, config: Config, onError: (error: unknown) => Response): Deno.HttpServer {
  try {
    return Deno.serve(
      { hostname: config.host, port: config.port, onListen: () => {}, onError },
      (request, info) =>
        app.fetch(request, {
          isOperator: false,
          account: "",
          get address() {
            return (info.remoteAddr as Deno.NetAddr).hostname;
          },
        }),
    );
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      throw new AppError("already_running", `Port ${config.port} on ${config.host} is in use by another program`);
    }
    throw error;
  }
}

/** The account that runs the server owns the data directory; nobody else can reach the socket. */
export function localAccount(): string {
  return `uid-${Deno.uid() ?? "unknown"}`;
}
