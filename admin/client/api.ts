import { type ClientResponse, hc } from "hono/client";
import type { z } from "zod";
import type { Router } from "../../server/http/router.ts";
import type { createRequestSchema } from "../../server/pods/create_request.ts";
import type { Connection } from "./connection.ts";
import { objectIn, Refusal, refusalOf } from "./refusal.ts";

/** The largest answer taken, in bytes. */
const MAX_ANSWER = 32_000_000;

/** The server's API; requests and answers have the types of the server's own routes. */
export function createApi(connection: Connection) {
  const { api, health } = hc<Router>(connection.baseUrl, {
    fetch: (input: RequestInfo | URL, init?: RequestInit) => connection.fetch(new Request(input, init)),
  });
  return { operator: api.operator, org: api.compute[":org"], health };
}

export type Api = ReturnType<typeof createApi>;

/** A good answer: its value, and its JSON text as the server sent it. */
export interface Answer<T> {
  readonly value: T;
  readonly text: string;
}

/** Waits for an answer. Throws `Refusal` for every status that is not 2xx. */
export async function read<T>(call: Promise<ClientResponse<T, number, "json">>): Promise<Answer<T>> {
  const response = await call;
  const text = await textOf(response.body);
  if (response.status < 200 || response.status > 299) {
    throw refusalOf(response.status, text, response.headers.get("retry-after"));
  }
  const value = objectIn(text);
  if (value === null) throw new Refusal("The answer is not JSON; is this the address of an orgpods server?", 6);
  return { value: value as T, text };
}

/** Waits for an answer whose body is a file. Throws `Refusal` for every status that is not 2xx. */
export async function readFile(call: Promise<ClientResponse<unknown, number, string>>): Promise<FileAnswer> {
  const { status, headers, body } = await call;
  if (status < 200 || status > 299) {
    throw refusalOf(status, await textOf(body), headers.get("retry-after"));
  }
  const length = headers.get("content-length");
  const first = /^bytes (\d+)-/.exec(headers.get("content-range") ?? "");
  return {
    body: body ?? new Blob([]).stream(),
    ...(length === null ? {} : { size: Number(length) }),
    start: status === 206 && first !== null ? Number(first[1]) : 0,
    etag: headers.get("etag") ?? undefined,
  };
}

/** A file on its way. */
export interface FileAnswer {
  /** It fails when it breaks off. */
  readonly body: ReadableStream<Uint8Array>;
  /** Bytes of the body, where they are known. */
  readonly size?: number;
  /** Where in the file the body begins: more than 0 only for a range that was asked for. */
  readonly start: number;
  readonly etag: string | undefined;
}

async function textOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER) throw new Refusal(`The answer is larger than ${MAX_ANSWER} bytes`, 6);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** The body of a create; left out is what the server's defaults decide. */
export type CreateBody = Partial<z.input<typeof createRequestSchema>>;

/** `POST /pods`. The route checks its body by itself, so the type comes from its schema. */
export function createPod(api: Api, org: string, body: CreateBody, idempotencyKey?: string) {
  return read(api.org.pods.$post({ param: { org } }, {
    headers: {
      "content-type": "application/json",
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    init: { body: JSON.stringify(body) },
  }));
}
