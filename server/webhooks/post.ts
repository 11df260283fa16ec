import { SECOND } from "../clock.ts";
import { isPublicAddress, literalAddress } from "./addresses.ts";
import { BadHttp, type HttpAnswer, type HttpRequest, postOver } from "./http_call.ts";
import { NoAddress, type Resolve } from "./resolve.ts";
import { ALLOWING } from "./url.ts";
import { tlsFailure } from "./tls_failure.ts";

/** What came of a call: an answer of whatever status, or why there was none, as a sentence. */
export type Outcome = HttpAnswer | { readonly failure: string };

/** Makes one call. `stop` gives it up: then it rejects with `Stopped`. */
export type Post = (request: HttpRequest, stop: AbortSignal) => Promise<Outcome>;

/** The program ends, so nobody knows what came of the call. */
export class Stopped extends Error {
  override readonly name = "Stopped";
}

export interface PostOptions {
  readonly resolve: Resolve;
  /** Calls addresses that are not public too. */
  readonly allowPrivate: boolean;
  readonly limitMs?: number;
  /** Certificates of authorities that are trusted beside the usual ones, as PEM. */
  readonly caCerts?: readonly string[];
}

/** A name may have many addresses; so many are tried. */
const MAX_ADDRESSES = 4;

/**
 * Makes the function that calls webhooks. A host name is resolved, its addresses are judged, and the connection goes to
 * a judged address itself: an answer of DNS that changes meanwhile cannot lead inside. TLS checks the certificate for
 * the host name. Redirects are not followed. All of it within 10 s.
 */
export function createPost(options: PostOptions): Post {
  const limitMs = options.limitMs ?? 10 * SECOND;
  return async (request, stop) => {
    const over = new AbortController();
    const end = () => over.abort();
    const timer = setTimeout(end, limitMs);
    stop.addEventListener("abort", end);
    if (stop.aborted) end();
    try {
      return await call(options, request, over.signal);
    } catch (error) {
      if (stop.aborted) throw new Stopped("The call was given up", { cause: error });
      if (over.signal.aborted) return { failure: `There was no answer within ${limitMs / SECOND} seconds` };
      const failure = sentenceOf(error);
      if (failure === null) throw error;
      return { failure };
    } finally {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
    }
  };
}

async function call(options: PostOptions, request: HttpRequest, over: AbortSignal): Promise<HttpAnswer> {
  const { hostname, protocol, port } = request.url;
  const literal = literalAddress(hostname);
  const known = literal !== null ? [literal] : await orOver(options.resolve(hostname), over);
  const addresses = options.allowPrivate ? known : known.filter(isPublicAddress);
  if (addresses.length === 0) {
    throw new NoAddress(
      known.length === 0
        ? "The host name has no address"
        : `The host leads to a private, local or reserved address, which is refused without ${ALLOWING}`,
    );
  }
  const isTls = protocol === "https:";
  let conn: Deno.Conn = await connect(inOrder(addresses), Number(port || (isTls ? 443 : 80)), over);
  const cut = () => closeOnce(conn);
  over.addEventListener("abort", cut);
  try {
    if (isTls) {
      const tls = await Deno.startTls(conn as Deno.TcpConn, {
        hostname: literal ?? hostname,
        alpnProtocols: ["http/1.1"],
        ...(options.caCerts === undefined ? {} : { caCerts: [...options.caCerts] }),
      });
      conn = tls;
      await tls.handshake();
    }
    over.throwIfAborted();
    return await postOver(conn, request);
  } finally {
    over.removeEventListener("abort", cut);
    closeOnce(conn);
  }
}

/** IPv4 first: a small server often has an IPv6 address and no way out by it. */
function inOrder(addresses: readonly string[]): string[] {
  const isV6 = (address: string) => address.includes(":");
  return addresses.toSorted((a, b) => Number(isV6(a)) - Number(isV6(b))).slice(0, MAX_ADDRESSES);
}

/** Closes a connection that may be closed already, or that TLS has taken over. */
function closeOnce(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** The first address that takes the connection. */
async function connect(addresses: readonly string[], port: number, over: AbortSignal): Promise<Deno.TcpConn> {
  let last: unknown;
  for (const hostname of addresses) {
    const connecting = Deno.connect({ hostname, port, signal: over });
    try {
      return await orOver(connecting, over, (late) => late.close());
    } catch (error) {
      if (over.aborted || sentenceOf(error) === null) throw error;
      last = error;
    }
  }
  throw last;
}

/** The promise, or a rejection when the time is over; what comes later goes to `late`. */
function orOver<T>(promise: Promise<T>, over: AbortSignal, late: (value: T) => void = () => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const onOver = () => reject(new Deno.errors.TimedOut("The time is over"));
    if (over.aborted) onOver();
    over.addEventListener("abort", onOver);
    promise.then((value) => {
      if (over.aborted) late(value);
      resolve(value);
    }, reject).finally(() => over.removeEventListener("abort", onOver));
  });
}

/** Why a call failed, for people; null for what is no failure of the network. */
function sentenceOf(error: unknown): string | null {
  if (error instanceof BadHttp || error instanceof NoAddress) return error.message;
  if (error instanceof Deno.errors.InvalidData) return `The TLS connection failed: ${tlsFailure(error.message)}`;
  const isSystem = error instanceof Error && ("code" in error || /\(os error \d+\)/.test(error.message));
  const { BadResource, Interrupted, UnexpectedEof } = Deno.errors;
  const isCut = [BadResource, Interrupted, UnexpectedEof].some((kind) => error instanceof kind);
  return isSystem || isCut ? `The connection failed: ${(error as Error).message}` : null;
}
