/** An SFTP server whose every answer is scripted, on the channel of the scripted SSH server. */
import { Buffer } from "node:buffer";
// @ts-types="npm:@types/ssh2@1.15.6"
import type { Connection, ServerChannel } from "ssh2";
import { sshServer, type TestServer } from "./hostile_ssh.ts";
import { keyPair } from "./ssh_pool.ts";

const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
};
const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
};
const text = (value: string | Uint8Array) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([u32(bytes.length), bytes]);
};
/** A packet with its length in front. */
export const framed = (...parts: Uint8Array[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(body.length), body]);
};

export const MODE = { file: 0o100644, directory: 0o040755, fifo: 0o010644 };

/** Bodies of answers, without length. */
export const answer = {
  version: (version = 3, ...extensions: string[]) =>
    Buffer.concat([Buffer.of(2), u32(version), ...extensions.flatMap((name) => [text(name), text("1")])]),
  status: (id: number, code: number, message: string | Uint8Array = "") =>
    Buffer.concat([Buffer.of(101), u32(id), u32(code), text(message), text("")]),
  handle: (id: number, handle: string | Uint8Array = "h") => Buffer.concat([Buffer.of(102), u32(id), text(handle)]),
  data: (id: number, bytes: Uint8Array) => Buffer.concat([Buffer.of(103), u32(id), text(bytes)]),
  names: (id: number, names: readonly (string | Uint8Array)[], count = names.length) =>
    Buffer.concat([Buffer.of(104), u32(id), u32(count), ...names.flatMap((n) => [text(n), text("long"), u32(0)])]),
  attributes: (id: number, size: number, mode: number = MODE.file) =>
    Buffer.concat([Buffer.of(105), u32(id), u32(1 | 4), u64(BigInt(size)), u32(mode)]),
  limits: (id: number, read: number, write: number) =>
    Buffer.concat([Buffer.of(201), u32(id), u64(0n), u64(BigInt(read)), u64(BigInt(write)), u64(0n)]),
};

export const TYPE = {
  open: 3,
  close: 4,
  read: 5,
  write: 6,
  fstat: 8,
  opendir: 11,
  readdir: 12,
  stat: 17,
  extended: 200,
};

export interface Request {
  readonly type: number;
  readonly id: number;
  readonly body: Buffer;
  /** Sends one answer. */
  reply(body: Uint8Array): void;
  /** Sends bytes as they are. */
  raw(bytes: Uint8Array): void;
  /** Resolves when the channel takes more, or is closed. */
  drained(): Promise<void>;
  readonly channel: ServerChannel;
  readonly connection: Connection;
}

export interface SftpScript {
  /** Sent in answer to INIT; a function may do anything. Default: version 3 without extensions. */
  readonly version?: Uint8Array | ((channel: ServerChannel) => void);
  /** Called for each request. What it does not answer stays open. */
  readonly on: (request: Request) => void;
}

export interface SftpTestServer extends TestServer {
  /** Types of the requests so far, all sessions together. */
  readonly seen: number[];
  /** SFTP sessions so far. */
  sessions(): number;
}

export async function sftpServer(script: SftpScript): Promise<SftpTestServer> {
  const seen: number[] = [];
  let sessions = 0;
  const server = await sshServer({
    hostKey: keyPair().private,
    subsystem(accept, _reject, connection) {
      sessions++;
      serve(accept(), connection, script, seen);
    },
  });
  return { ...server, seen, sessions: () => sessions };
}

function serve(channel: ServerChannel, connection: Connection, script: SftpScript, seen: number[]): void {
  let input = Buffer.alloc(0);
  let begun = false;
  // The client closes while the script writes; that is what the tests are about.
  channel.on("error", () => {});
  const take = (packet: Buffer) => {
    if (!begun) {
      begun = true;
      const { version = answer.version() } = script;
      if (typeof version === "function") version(channel);
      else channel.write(framed(version));
      return;
    }
    const type = packet[0]!;
    seen.push(type);
    script.on({
      type,
      id: packet.readUInt32BE(1),
      body: packet.subarray(5),
      reply: (body) => void channel.write(framed(body)),
      raw: (bytes) => void channel.write(bytes),
      drained: () =>
        new Promise((resolve) => {
          channel.once("drain", resolve);
          channel.once("close", resolve);
        }),
      channel,
      connection,
    });
  };
  channel.on("data", (chunk: Buffer) => {
    input = Buffer.concat([input, chunk]);
    while (input.length >= 4 && input.length >= 4 + input.readUInt32BE(0)) {
      const packet = input.subarray(4, 4 + input.readUInt32BE(0));
      input = input.subarray(4 + packet.length);
      take(packet);
    }
  });
}

/** Answers like a server with one regular file of `size` bytes at every path, for what a script leaves to it. */
export function honest(request: Request, size = 0): void {
  const { type, id, reply } = request;
  if (type === TYPE.open || type === TYPE.opendir) reply(answer.handle(id));
  else if (type === TYPE.stat || type === TYPE.fstat) reply(answer.attributes(id, size));
  else if (type === TYPE.read || type === TYPE.readdir) reply(answer.status(id, 1));
  else reply(answer.status(id, 0));
}
