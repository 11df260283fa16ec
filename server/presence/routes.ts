import { Hono } from "hono";
import { folderOwner } from "../../db/stores/connections.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { PodDeps } from "../pods/deps.ts";
import { findPod } from "../pods/list.ts";
import { namesOf } from "../pods/members.ts";
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

/** Contract 5.9. `connections` counts all SSH connections but the server's own; null when it is not known. */
async function connectedNow(deps: PodDeps, org: Org, runpodId: string) {
  const pod = findPod(deps, org, runpodId);
  const presence = await readPresence(deps, pod);
  const answer = { pod_id: pod.runpod_id };
  if (presence.state === "unknown") {
    const nobody: ConnectedPerson[] = [];
    return { ...answer, state: "unknown" as const, reason: presence.reason, sessions: nobody, connections: null };
  }
  const people = presence.sessions.map((session) => ({
    ...session,
    discordId: folderOwner(deps.db, org.id, session.username) ?? null,
  }));
  const names = await namesOf(deps, org, people.flatMap(({ discordId }) => discordId ?? []));
  const sessions: ConnectedPerson[] = people.map(({ username, isAdmin, seconds, discordId }) => ({
    username,
    is_admin: isAdmin,
    seconds,
    discord_id: discordId,
    name: discordId === null ? null : names.get(discordId) ?? null,
  }));
  return { ...answer, state: "known" as const, reason: null, sessions, connections: presence.connections };
}
