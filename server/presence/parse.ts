import { FOLDER_FORM } from "../identity/folders.ts";

/** Somebody's session on a pod. */
export interface SessionOn {
  /** The folder name of the person. */
  readonly username: string;
  readonly isAdmin: boolean;
  /** How long it has lasted. */
  readonly seconds: number;
}

/** An SSH connection and the certificate it came with. */
export interface CertificateOn {
  /** Decimal. */
  readonly serial: string;
  /** From the certificate's key id. */
  readonly discordId: string;
  readonly username: string;
  readonly seconds: number;
}

/** Who and what is on a pod, our own connections left out. */
export interface WhoIsOn {
  /** The longest first. */
  readonly sessions: readonly SessionOn[];
  /** SSH connections after their login, those with a session included. */
  readonly connections: number;
  /** Those of them whose certificate the pod wrote down, the longest first: tunnels without a session included. */
  readonly certificates: readonly CertificateOn[];
  /** Terminals of the sessions and connections, such as `pts/0`. */
  readonly terminals: readonly string[];
}

/** True when anybody is on the pod, by a session or a bare connection. */
export function isSomebodyOn(who: WhoIsOn): boolean {
  return who.sessions.length > 0 || who.connections > 0;
}

const MOST_SESSIONS = 1_000;
const MOST_TERMINALS = 500;
/** Ten years; no container runs that long. */
const MOST_SECONDS = 315_360_000;
/**
 * A connection without a session this young does not count: it may be a handshake of ours, which ends at once, or one
 * in the middle of its login.
 */
const BARE_SECONDS = 15;

/** The key id of the org's certificates (contract 6.3). */
const KEY_ID = /^([1-9][0-9]{0,19}) discord:([0-9]{5,25}):([a-z0-9_][a-z0-9._-]{0,21})$/;
const TERMINAL = /^pts\/[0-9]{1,6}$/;

interface Line {
  readonly pid: number;
  readonly seconds: number;
  readonly rest: string;
}

/**
 * Reads what the walk printed. The bytes are the pod's, so names must have the form of a folder, numbers are bounded,
 * and lines that do not fit are left out. Null when the walk did not run to its end or did not see the connection it ran
 * over: then our own connection could be taken for somebody's.
 */
export function parseWalk(text: string, bareSeconds = BARE_SECONDS): WhoIsOn | null {
  const lines = text.split("\n");
  const processes = /^end ([0-9]{1,9}) *$/.exec(lines.findLast((line) => line !== "") ?? "")?.[1];
  if (processes === undefined || processes === "0") return null;
  const own = new Set(
    lines.map((line) => /^own ([1-9][0-9]{0,9}) *$/.exec(line)?.[1]).filter((pid) => pid !== undefined),
  );
  const connections = linesOf(lines, "ssh");
  if (!connections.some(({ pid }) => own.has(String(pid)))) return null;

  const others = connections.filter(({ pid, seconds, rest }) =>
    !own.has(String(pid)) && (rest.includes("@") || seconds >= bareSeconds)
  );
  const members = linesOf(lines, "member").flatMap(({ seconds, rest }) => {
    const [, tty, name] = /^(\S+) godfather_(\S+)$/.exec(rest) ?? [];
    return { username: name ?? "", isAdmin: false, seconds, tty };
  });
  const officers = linesOf(lines, "officer").flatMap(({ seconds, rest }) => {
    const [tty, name] = rest.split(" ");
    return { username: name ?? "", isAdmin: true, seconds, tty };
  });
  const sessions = [...members, ...officers].filter(({ username }) => FOLDER_FORM.test(username))
    .sort((a, b) => b.seconds - a.seconds || (a.username < b.username ? -1 : 1)).slice(0, MOST_SESSIONS);
  const terminals = [
    ...sessions.map(({ tty }) => tty ?? ""),
    ...others.flatMap(({ rest }) => rest.split("@")[1]?.split(",") ?? []),
  ];
  return {
    sessions: sessions.map(({ username, isAdmin, seconds }) => ({ username, isAdmin, seconds })),
    connections: new Set(others.map(({ pid }) => pid)).size,
    certificates: certificatesOf(lines, others),
    terminals: [...new Set(terminals.filter((one) => TERMINAL.test(one)))].slice(0, MOST_TERMINALS),
  };
}

function certificatesOf(lines: readonly string[], connections: readonly Line[]): CertificateOn[] {
  const seconds = new Map(connections.map((one) => [one.pid, one.seconds]));
  const found = new Map<number, CertificateOn>();
  for (const line of lines) {
    const [, pid, rest] = /^cert ([1-9][0-9]{0,9}) (.*)$/.exec(line) ?? [];
    const [, serial, discordId, username] = KEY_ID.exec(rest ?? "") ?? [];
    const since = seconds.get(Number(pid));
    if (serial === undefined || discordId === undefined || username === undefined || since === undefined) continue;
    found.set(Number(pid), { serial, discordId, username, seconds: since });
  }
  return [...found.values()].sort((a, b) => b.seconds - a.seconds);
}

function linesOf(lines: readonly string[], kind: string): Line[] {
  const form = new RegExp(`^${kind} ([1-9][0-9]{0,9}) ([0-9]{1,12}) (.*)$`);
  return lines.flatMap((line) => {
    const [, pid, seconds, rest] = form.exec(line) ?? [];
    return rest === undefined ? [] : { pid: Number(pid), seconds: Math.min(Number(seconds), MOST_SECONDS), rest };
  });
}
