/** What is needed of a connection; a `Deno.Conn` is one. */
export interface ByteStream {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
}

export interface HttpRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
}

/** The other side does not speak HTTP as it should; the message says how, as a sentence for people. */
export class BadHttp extends Error {
  override readonly name = "BadHttp";
}

/** An answer's head may be this long; the body of a webhook's answer says nothing that is needed and is not read. */
const MAX_HEAD = 16_384;

/**
 * Sends one POST over an open connection and reads the head of the answer: HTTP/1.1, one request per connection. By hand
 * because the runtime's own clients resolve the host name themselves (`fetch`), or cannot be told an address for it in
 * every supported version (`node:https`), and an address that was checked must be the one that is called.
 */
export async function postOver(stream: ByteStream, request: HttpRequest): Promise<HttpAnswer> {
  const body = new TextEncoder().encode(request.body);
  await writeAll(stream, new TextEncoder().encode(headOf(request, body.length)));
  await writeAll(stream, body);
  const bytes = new Uint8Array(MAX_HEAD);
  let size = 0;
  let text = "";
  for (;;) {
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) {
      const answer = parseHead(text.slice(0, end));
      // 100 Continue, 103 Early Hints: the answer itself is still to come.
      if (answer.status >= 200) return answer;
      text = text.slice(end + 4);
      continue;
    }
    if (size === MAX_HEAD) throw new BadHttp(`The answer's headers are longer than ${MAX_HEAD} bytes`);
    const count = await stream.read(bytes.subarray(size));
    if (count === null) throw new BadHttp("The connection was closed without an answer");
    text += latin1(bytes.subarray(size, size + count));
    size += count;
  }
}

function headOf({ url, headers }: HttpRequest, length: number): string {
  const lines = Object.entries({ host: url.host, ...headers, "content-length": String(length), connection: "close" });
  return `POST ${url.pathname}${url.search} HTTP/1.1\r\n` +
    lines.map(([name, value]) => `${name}: ${value}\r\n`).join("") + "\r\n";
}

async function writeAll(stream: ByteStream, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await stream.write(bytes.subarray(at));
}

const latin1 = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");

function parseHead(text: string): HttpAnswer {
  const [first = "", ...lines] = text.split("\r\n");
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1];
  if (status === undefined) throw new BadHttp("The answer is not HTTP");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { status: Number(status), headers };
}
