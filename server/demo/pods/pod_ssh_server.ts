/** The SSH server of an in-process pod: listens on 127.0.0.1, judges logins, hands sessions to commands. */
import { type AddressInfo, createServer, type Socket } from "node:net";
// @ts-types="npm:@types/ssh2@1.15.6"
import ssh2, { type AuthContext, type Connection } from "ssh2";
import type { Clock } from "../../clock.ts";
import { AppError } from "../../errors.ts";
import { FormatError } from "../../ssh/format_error.ts";
import { formatPrivateKey, generateKeyPair } from "../../ssh/private_key.ts";
import { freeCiphersOnClose } from "../../ssh/ssh2_ciphers.ts";
import { signatureHolds } from "./login_signature.ts";
import { type Grant, judgeKey, LoginRefused, type PodTrust } from "./pod_login.ts";
import { type Runner, serveSession } from "./pod_session.ts";
import { socketStream } from "./socket_stream.ts";

export interface PodSshServer {
  readonly port: number;
  /** Cuts every connection and stops listening. */
  close(): Promise<void>;
}

export interface PodSshServerOptions {
  readonly trust: PodTrust;
  readonly runner: Runner;
  readonly clock: Clock;
  readonly log: (line: string) => void;
}

/** What every OpenSSH offers and every Deno version can do. */
const ALGORITHMS: ssh2.Algorithms = {
  cipher: ["aes128-ctr", "aes256-ctr"],
  kex: ["curve25519-sha256", "curve25519-sha256@libssh.org", "ecdh-sha2-nistp256"],
  compress: ["none"],
};

/** Starts listening on a port of the system's choice, with a host key made for this start. */
export async function startPodSshServer(options: PodSshServerOptions): Promise<PodSshServer> {
  const hostKey = formatPrivateKey(generateKeyPair(), "");
  const ssh = new ssh2.Server({ hostKeys: [hostKey], algorithms: ALGORITHMS }, (client) => serve(client, options));
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    ssh.injectSocket(socketStream(socket) as Socket);
  });
  await new Promise<void>((resolve, reject) => {
    listener.on("error", reject);
    listener.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve, reject) => {
        listener.close((error) => error ? reject(error) : resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function serve(client: Connection, options: PodSshServerOptions): void {
  let grant: Grant | undefined;
  freeCiphersOnClose(client);
  client.on("error", (error) => options.log(`A connection failed: ${error.message}`));
  client.on("authentication", (context) => {
    grant = authenticate(context, options);
    if (!grant) context.reject(["publickey"]);
    else context.accept();
  });
  client.on("ready", () => {
    const forced = grant?.forcedCommand;
    client.on("session", (accept) => serveSession(accept(), forced, options.runner));
  });
}

/** The client asks first whether a key would do (no signature), then logs in with it; both are judged in full. */
function authenticate(context: AuthContext, { trust, clock, log }: PodSshServerOptions): Grant | undefined {
  if (context.method !== "publickey" || context.username !== "root") return undefined;
  try {
    const grant = judgeKey(context.key.data, trust, clock);
    if (context.signature === undefined) return grant;
    const login = { blob: context.blob ?? new Uint8Array(), signature: context.signature, hashAlgo: context.hashAlgo };
    if (!signatureHolds(grant, login)) throw new LoginRefused(`The signature is wrong: ${grant.who}`);
    log(`Accepted publickey for root: ${grant.who}`);
    return grant;
  } catch (error) {
    // Whatever the client sent that cannot be read is refused as well; anything else is a fault of ours.
    const refused = error instanceof LoginRefused || error instanceof FormatError ||
      (error instanceof AppError && error.code === "invalid_request");
    if (!refused) throw error;
    log(`Refused publickey for root: ${error.message}`);
    return undefined;
  }
}
