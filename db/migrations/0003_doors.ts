/**
 * What the server has set up on a pod in its present start, and access that is being taken away. `setup_*` and
 * `trust_digest` hold for the start `setup_start` alone: a container begins anew with each.
 */
export const DOORS = `
-- Which CLI token asked for a certificate, so that revoking the token takes the certificate back.
alter table compute_connections add column token_id integer;
create index compute_connections_holder on compute_connections (pod_id, discord_id);

-- image: the pod's own image keeps the rules; pushed: the server wrote them; refused: neither, for setup_reason.
alter table compute_pods add column setup_start text;
alter table compute_pods add column setup_state text check (setup_state in ('image', 'pushed', 'refused'));
alter table compute_pods add column setup_reason text;
alter table compute_pods add column setup_at integer;
-- Of the revocation list, CA keys and backend keys that were delivered last.
alter table compute_pods add column trust_digest text;
alter table compute_pods add column trust_error text;
-- The pod's clock minus the server's.
alter table compute_pods add column clock_offset_ms integer;

-- Written down with the change that takes access away, settled when everything of the person on the pod has ended.
create table access_removals (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  discord_id text not null,
  -- root: they are no officer any more, and what they may do as a member stays.
  which text not null check (which in ('all', 'root')),
  had_root integer not null,
  reason text not null,
  asked_by text,
  asked_at integer not null,
  state text not null default 'open' check (state in ('open', 'done')),
  tried_at integer,
  error text,
  settled_at integer,
  report text,
  -- When all they had on the pod had ended for the first time since it was asked for.
  ended_at integer,
  -- Settled while the pod did not run: RunPod's time of its last start, empty where that is not known.
  off_start text
) strict;
create unique index access_removals_open on access_removals (pod_id, discord_id) where state = 'open';
create index access_removals_org on access_removals (org_id, id);
`;
