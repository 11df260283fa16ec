/** A session to a scripted SFTP server, and scripts that differ from an honest one in one kind of answer. */
import type { Sftp } from "../../server/ssh/sftp/mod.ts";
import { honest, type Request, type SftpScript, sftpServer, TYPE } from "../support/hostile_sftp.ts";
import { targetAt, trustingPool } from "../support/ssh_pool.ts";
import { path } from "../support/sftp.ts";

/** Runs `use` with a session to a scripted server. */
export async function withServer(
  script: SftpScript,
  use: (sftp: Sftp, tools: { seen: number[]; again: () => Promise<Sftp>; sessions: () => number }) => Promise<void>,
) {
  const server = await sftpServer(script);
  const pool = trustingPool();
  const again = () => pool.sftp(targetAt(server.port), { deadlineMs: 60_000 });
  try {
    await use(await again(), { seen: server.seen, again, sessions: server.sessions });
  } finally {
    await pool.close();
    await server.close();
  }
}

export async function listAll(sftp: Sftp, options = {}) {
  const names: Uint8Array[] = [];
  for await (const page of sftp.list(path("/d"), options)) names.push(...page.map(({ name }) => name));
  return names;
}

export async function readAll(sftp: Sftp, options = {}) {
  let length = 0;
  for await (const chunk of sftp.readStream(path("/f"), options)) length += chunk.length;
  return length;
}

export const onRead = (act: (request: Request) => void): SftpScript => ({
  on: (request) => request.type === TYPE.read ? act(request) : honest(request, 100),
});
export const onPage = (act: (request: Request) => void): SftpScript => ({
  on: (request) => request.type === TYPE.readdir ? act(request) : honest(request),
});
export const onStat = (act: (request: Request) => void): SftpScript => ({
  on: (request) => request.type === TYPE.stat ? act(request) : honest(request),
});
export const stat = (sftp: Sftp) => sftp.stat(path("/f"));
