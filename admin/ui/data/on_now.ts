import { SECOND } from "../../../server/clock.ts";
import type { Reading } from "../core/cache.ts";
import type { Connected } from "./pods.ts";

/** Somebody on a pod. */
export interface OnNow {
  readonly key: string;
  readonly name: string | null;
  readonly discordId: string | null;
  readonly username: string;
  readonly isRoot: boolean;
  /** When it began, by the clock of this computer. */
  readonly since: number;
  /** Connections without a shell or a command: tunnels. */
  readonly isTunnel: boolean;
}

/** Who is on a pod, by sessions, and then by connections of those who have none; empty while that is not known. */
export function onNow({ value, at }: Reading<Connected>): readonly OnNow[] {
  if (value === undefined || at === null) return [];
  const row = (one: (typeof value.sessions)[number], key: string, isTunnel: boolean): OnNow => ({
    key,
    name: one.name,
    discordId: one.discord_id,
    username: one.username,
    isRoot: one.is_admin,
    since: at - one.seconds * SECOND,
    isTunnel,
  });
  const who = ({ discord_id, username }: (typeof value.sessions)[number]) => discord_id ?? username;
  const withSession = new Set(value.sessions.map(who));
  return [
    ...value.sessions.map((one, index) => row(one, `${one.username} ${index}`, false)),
    ...value.certificates.filter((one) => !withSession.has(who(one))).map((one, index) =>
      row(one, `${one.serial} ${index}`, true)
    ),
  ];
}
