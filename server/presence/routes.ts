import { Hono } from "hono";
import { connectionBySerial, folderOwner } from "../../db/stores/connections.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { PodDeps } from "../pods/deps.ts";
import { findPod } from "../pods/list.ts";
import { namesOf } from "../pods/members.ts";
import { clockOffsetOf } from "./clock_offset.ts";
import { readPresence } from "./read.ts";

/** Who is on a pod now, under `/api/compute/<org>`, for officers. */
export function presenceRoutes(deps: PodDeps & { readonly guards: Guards }) {
  return new Hono<Env>().get(
    "/pods/:id/members/connected",
    deps.guards.officer,
    async (c) => c.json(await connectedNow(deps, orgOf(c), c.req.param("id"))),
  );
}

interface ConnectedPerson {
  readonly username: string;
  readonly is_admin: boolean;
  readonly seconds: number;
  readonly discord_id: string | null;
  readonly name: string | null;
}

/** A connection by its certificate: also a tunnel without a session, and each connection that carries several. */
interface ConnectedCertificate extends ConnectedPerson {
  readonly serial: string;
}

/**
 * Contract 5.9. `connections` counts all SSH connections but the server's own; null when it is not known. `certificates`
 * are those whose certificate the pod wrote down. `clock_offset_seconds`: how far the pod's clock is ahead of the server's.
 */
async function connectedNow(deps: PodDeps, org: Org, runpodId: string) {
  const pod = findPod(deps, org, runpodId);
  const presence = await readPresence(deps, pod);
  const answer = { pod_id: pod.runpod_id, clock_offset_seconds: clockOffsetOf(pod) };
  if (presence.state === "unknown") {
    const nobody: ConnectedPerson[] = [];
    const none: ConnectedCertificate[] = [];
    const { reason } = presence;
    return { ...answer, state: "unknown" as const, reason, sessions: nobody, connections: null, certificates: none };
  }
  const people = presence.sessions.map((session) => ({
    ...session,
    discordId: folderOwner(deps.db, org.id, session.username) ?? null,
  }));
  const ids = [...people, ...presence.certificates].flatMap(({ discordId }) => discordId ?? []);
  const names = await namesOf(deps, org, ids);
  const sessions: ConnectedPerson[] = people.map(({ username, isAdmin, seconds, discordId }) => ({
    username,
    is_admin: isAdmin,
    seconds,
    discord_id: discordId,
    name: discordId === null ? null : names.get(discordId) ?? null,
  }));
  const certificates: ConnectedCertificate[] = presence.certificates.map((
    { serial, discordId, username, seconds },
  ) => ({
    serial,
    username,
    is_admin: connectionBySerial(deps.db, org.id, serial)?.is_admin === 1,
    seconds,
    discord_id: discordId,
    name: names.get(discordId) ?? null,
  }));
  const { connections } = presence;
  return { ...answer, state: "known" as const, reason: null, sessions, connections, certificates };
}
