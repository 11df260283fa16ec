/** Pods whose SSH servers are scripted: each lies or floods in one way and is an honest empty pod in every other. */
import { Buffer } from "node:buffer";
import { answer, framed, MODE, type Request, type SftpScript, sftpServer, TYPE } from "./hostile_sftp.ts";
import { misbehaviours, sshServer, tcpServer, type TestServer } from "./hostile_ssh.ts";
import { keyPair } from "./ssh_pool.ts";

const LSTAT = 7;
const REALPATH = 16;
const ENDLESS = 64 * 1024 * 1024;

const pathIn = ({ body }: Request) => body.subarray(4, 4 + body.readUInt32BE(0));

/** Every path is a folder of root, or a regular file of `size` bytes when its last name begins with `f`. */
export function honest(request: Request, size: number): void {
  const { type, id, reply } = request;
  if (type === LSTAT || type === TYPE.stat) {
    const isFile = /\/f[^/]*$/.test(pathIn(request).toString());
    reply(answer.attributes(id, size, isFile ? MODE.file : MODE.directory));
  } else if (type === TYPE.fstat) reply(answer.attributes(id, size));
  else if (type === REALPATH) reply(answer.names(id, [pathIn(request)]));
  else if (type === TYPE.open || type === TYPE.opendir) reply(answer.handle(id));
  else if (type === TYPE.read || type === TYPE.readdir) reply(answer.status(id, 1));
  else reply(answer.status(id, 0));
}

/** Plays `act` for requests of one type. */
function but(type: number, act: (request: Request) => void, size = 1_000): SftpScript {
  return { on: (request) => request.type === type ? act(request) : honest(request, size) };
}

const sftp = (script: SftpScript) => () => sftpServer(script);

/** A page of names that no other page has. */
function pages(count: number, length: number): (request: Request) => void {
  let page = 0;
  return ({ id, reply }) => {
    const names = Array.from({ length: count }, (_, index) => `${page}-${index}-`.padEnd(length, "n"));
    page++;
    reply(answer.names(id, names));
  };
}

/** Begins with `head` and goes on as long as the channel takes it. */
function flood(head: string): (request: Request) => void {
  return async ({ raw, channel, drained }) => {
    raw(Buffer.from(head, "hex"));
    for (let sent = 0; !channel.destroyed && channel.writable && sent < ENDLESS; sent += 65_536) {
      if (!channel.write(Buffer.alloc(65_536, 0x61))) await drained();
    }
  };
}

const never = () => {};

/** By name: what the SSH server of a pod does. */
export const HOSTILE_PODS = {
  "is honest": sftp({ on: (request) => honest(request, 0) }),
  "lists without end": sftp(but(TYPE.readdir, pages(200, 24))),
  "lists long names without end": sftp(but(TYPE.readdir, pages(60, 4_096))),
  "sends an endless name": sftp(but(TYPE.readdir, flood("00080000"))),
  "sends a name longer than its packet": sftp(
    but(TYPE.readdir, ({ raw, id }) => {
      const page = answer.names(id, ["n".repeat(1_000)]);
      page.writeUInt32BE(0x7fff_ffff, 9);
      raw(framed(page));
    }),
  ),
  "gives more than was asked for": sftp(
    but(TYPE.read, ({ id, reply }) => reply(answer.data(id, Buffer.alloc(200_000)))),
  ),
  "gives a file without end": sftp(
    but(
      TYPE.read,
      ({ id, body, reply }) => reply(answer.data(id, Buffer.alloc(body.readUInt32BE(body.length - 4)))),
      0,
    ),
  ),
  "says a file has 8 PB": sftp({ on: (request) => honest(request, Number.MAX_SAFE_INTEGER) }),
  "says a packet has 2 GB": sftp(but(TYPE.read, flood("7fffffff"))),
  "answers what was not asked": sftp(but(LSTAT, ({ id, reply }) => reply(answer.attributes(id + 1_000, 1)))),
  "answers twice": sftp(
    but(TYPE.read, ({ id, reply }) => {
      reply(answer.data(id, Buffer.alloc(100)));
      reply(answer.data(id, Buffer.alloc(100)));
    }),
  ),
  "answers without being asked, without end": sftp(
    but(LSTAT, async ({ channel, drained }) => {
      const noise = framed(answer.status(0xffff_ffff, 0, "x".repeat(60_000)));
      for (let sent = 0; !channel.destroyed && channel.writable && sent < ENDLESS; sent += noise.length) {
        if (!channel.write(noise)) await drained();
      }
    }),
  ),
  "has a banner of 10 MB": () => sshServer({ hostKey: keyPair().private, banner: "welcome ".repeat(1_310_720) }),
  "greets without end": () => Promise.resolve(tcpServer(misbehaviours["sends an endless banner"]!)),
  "accepts and says nothing": () => Promise.resolve(tcpServer(misbehaviours["says nothing"]!)),
  "never grants a channel": () => sshServer({ hostKey: keyPair().private, ignoreSessions: true }),
  "never tells its version": sftp({ version: never, on: never }),
  "never answers a request": sftp({ on: never }),
  "never answers a listing": sftp(but(TYPE.readdir, never)),
  "never answers a read": sftp(but(TYPE.read, never)),
  "never answers a write": sftp(but(TYPE.write, never)),
} as const satisfies Record<string, () => Promise<TestServer>>;

export type HostilePod = keyof typeof HOSTILE_PODS;
