/**
 * The least that can answer `GET /api/compute/<org>/me/pods`: a `Deno.serve` handler that makes the same five reads of
 * the same file (token by hash, org by prefix, usable pods, next sessions, open sessions) and gives the same answer,
 * headers included. No router, no membership, no loops. The bench has no sessions, so both answer null for them.
 */
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { isoTime } from "../server/clock.ts";

const [file = "", prefix = ""] = Deno.args;
const db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });

const token = db.prepare(
  "select id, org_id, kind, name, scopes, display, discord_id, created_by, created_at, expires_at, last_used_at, " +
    "revoked_at from machine_tokens where token_hash = ?",
);
const org = db.prepare(
  "select id, prefix, name, guild_id, officer_role_ids, member_role_ids, is_active, compute_enabled, pod_image, " +
    "min_cuda_version, settings, created_at from organizations where prefix = ?",
);
const pods = db.prepare(
  "select p.* from compute_pods p where p.org_id = ? and p.state = 'live' " +
    "and (p.is_public = 1 or exists (select 1 from compute_pod_members m where m.pod_id = p.id and m.discord_id = ?)) " +
    "and not exists (select 1 from blocked_users b where b.org_id = p.org_id and b.pod_id in ('', p.id) " +
    "and b.discord_id = ?) order by p.created_at, p.id",
);

const next = db.prepare(
  "select pod_id, title, min(start_at) as start_at, stop_at from compute_sessions " +
    "where finished = 0 and org_id = ? and start_at > ? group by pod_id",
);
const begun = db.prepare(
  "select pod_id, start_at, stop_at, started from compute_sessions where finished = 0 and pod_id in " +
    "(select pod_id from compute_sessions where finished = 0 and org_id = ? and start_at <= ?) order by start_at, id",
);

const HEADERS = { "content-type": "application/json" };

function answer(request: Request): Response {
  const secret = request.headers.get("authorization")?.slice("Bearer ".length) ?? "";
  const who = token.get(createHash("sha256").update(secret).digest("hex"));
  const where = org.get(prefix);
  if (who === undefined || where === undefined || who.org_id !== where.id) return new Response(null, { status: 401 });
  const rows = pods.all(where.id!, who.discord_id!, who.discord_id!).filter((row) => row.status === "RUNNING");
  const now = Date.now();
  const following = new Map(next.all(where.id!, now).map((row) => [row.pod_id, row]));
  const open = new Map(begun.all(where.id!, now).map((row) => [row.pod_id, row]));
  const oldest = Math.min(...rows.map((row) => Number(row.as_of)));
  const body = {
    pods: rows.map((row) => ({
      id: row.runpod_id,
      name: row.name,
      status: row.status,
      is_public: row.is_public === 1,
      stale: false,
      keeps_files: row.keeps_files === 1,
      next_session: following.get(row.id!) ?? null,
      stops_at: open.get(row.id!)?.stop_at ?? null,
    })),
    stale: false,
    as_of: isoTime(oldest),
    warnings: [],
  };
  return new Response(JSON.stringify(body), { headers: HEADERS });
}

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => console.log(`bare on ${port}`),
}, answer);
