/**
 * The first schema. Times are milliseconds UTC, ids of Discord and RunPod are text, booleans are 0 or 1, lists are
 * JSON. Tables that only later features fill (sessions, spend, webhooks, revocations) are here already, so that what
 * refers to a pod always refers to our own id of it.
 */
export const INITIAL = /* sql */ `
create table meta (
  key text primary key,
  value text not null
) strict;
insert into meta (key, value) values ('install_id', lower(hex(randomblob(16))));

create table organizations (
  id integer primary key autoincrement,
  prefix text not null unique,
  name text not null,
  guild_id text not null unique,
  officer_role_ids text not null default '[]',
  member_role_ids text not null default '[]',
  is_active integer not null default 1,
  compute_enabled integer not null default 1,
  pod_image text,
  min_cuda_version text,
  settings text not null default '{}',
  created_at integer not null
) strict;

create table org_secrets (
  org_id integer not null references organizations (id) on delete cascade,
  name text not null,
  ciphertext text not null,
  hint text not null default '',
  updated_at integer not null,
  updated_by text not null,
  primary key (org_id, name)
) strict;

create table compute_keys (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  kind text not null check (kind in ('backend', 'user_ca')),
  public_key text not null,
  private_key text not null,
  fingerprint text not null,
  created_at integer not null,
  retired_at integer
) strict;
create unique index compute_keys_current on compute_keys (org_id, kind) where retired_at is null;

-- A pod is ours before it is RunPod's: RunPod ids are incarnations of it.
create table compute_pods (
  id text primary key,
  org_id integer not null references organizations (id) on delete restrict,
  name text not null,
  provider text not null default 'runpod',
  runpod_name text not null unique,
  runpod_id text unique,
  state text not null check (state in ('creating', 'live', 'failed', 'terminated')),
  is_public integer not null default 0,
  config text not null,
  keeps_files integer not null default 0,
  created_by text,
  created_at integer not null,
  terminated_at integer,
  terminated_by text,
  auto_stop_after_minutes integer,
  max_run_hours integer,
  keep_until integer,
  -- the last known state, and when RunPod said so
  status text,
  host text,
  port integer,
  machine text,
  cost_per_hour real,
  gpu_count integer,
  start_key text,
  started_at integer,
  as_of integer,
  missing_count integer not null default 0,
  missing_since integer,
  -- whether members may forward ports: judged once per start
  forwarding text check (forwarding in ('refused', 'allowed')),
  forwarding_start text,
  -- the backend's last successful login, and the start it was in
  reachable_at integer,
  reachable_start text,
  unreachable_reason text
) strict;
create index compute_pods_org on compute_pods (org_id, state, created_at);

create table compute_pod_incarnations (
  runpod_id text primary key,
  pod_id text not null references compute_pods (id) on delete cascade,
  since integer not null,
  until integer,
  why text not null
) strict;
create index compute_pod_incarnations_pod on compute_pod_incarnations (pod_id);

create table compute_pod_members (
  pod_id text not null references compute_pods (id) on delete cascade,
  discord_id text not null,
  primary key (pod_id, discord_id)
) strict, without rowid;

-- pod_id '' blocks in the whole org.
create table blocked_users (
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null default '',
  discord_id text not null,
  blocked_at integer not null,
  blocked_by text,
  reason text,
  primary key (org_id, pod_id, discord_id)
) strict, without rowid;

create table host_key_pins (
  pod_id text not null references compute_pods (id) on delete cascade,
  start_key text not null,
  fingerprint text not null,
  public_key text not null,
  first_seen_at integer not null,
  refused_fingerprint text,
  refused_at integer,
  primary key (pod_id, start_key)
) strict, without rowid;

-- What costs money or cannot be undone, written before RunPod is asked and settled after.
create table compute_intents (
  id text primary key,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  runpod_id text,
  action text not null check (action in ('create', 'start', 'stop', 'restart', 'terminate')),
  state text not null check (state in ('saved', 'sent', 'unsettled', 'done', 'failed', 'forgotten')),
  request text not null default '{}',
  idempotency_key text,
  request_hash text,
  asked_by text not null,
  asked_at integer not null,
  sent_at integer,
  settled_at integer,
  error_code text,
  error text
) strict;
create unique index compute_intents_idempotency on compute_intents (org_id, idempotency_key)
  where idempotency_key is not null;
create index compute_intents_open on compute_intents (state) where state in ('saved', 'sent', 'unsettled');
create index compute_intents_pod on compute_intents (pod_id, asked_at);

-- What officers must look at beside open intents: pods on the account that carry our key and are not in the list.
create table attention (
  id text primary key,
  org_id integer not null references organizations (id) on delete cascade,
  kind text not null,
  runpod_id text,
  pod_id text references compute_pods (id) on delete cascade,
  details text not null default '{}',
  found_at integer not null,
  closed_at integer,
  closed_by text,
  closed_how text
) strict;
create unique index attention_open on attention (org_id, kind, runpod_id) where closed_at is null;

create table compute_sessions (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  title text,
  start_at integer not null,
  stop_at integer not null,
  started integer not null default 0,
  finished integer not null default 0,
  state text not null default 'scheduled',
  error text,
  error_at integer,
  series_id text,
  extended_minutes integer not null default 0,
  over_budget integer not null default 0,
  on_gpu_taken text not null default 'wait',
  created_by text,
  created_at integer not null
) strict;
create index compute_sessions_due on compute_sessions (finished, start_at);
create index compute_sessions_pod on compute_sessions (pod_id, start_at);

-- Running and storage intervals at the rate RunPod reported.
create table compute_spend (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  runpod_id text not null,
  kind text not null check (kind in ('running', 'storage')),
  rate_per_hour real not null,
  from_at integer not null,
  until_at integer
) strict;
create index compute_spend_pod on compute_spend (pod_id, from_at);
create index compute_spend_org on compute_spend (org_id, from_at);

-- Every certificate ever given out.
create table compute_connections (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  runpod_id text not null,
  discord_id text not null,
  username text not null,
  is_admin integer not null,
  serial text not null unique,
  key_fingerprint text not null,
  ca_fingerprint text not null,
  valid_after integer not null,
  valid_before integer not null,
  port_forwarding integer not null,
  address text,
  created_at integer not null,
  revoked_at integer
) strict;
create index compute_connections_pod on compute_connections (org_id, pod_id, created_at);
create index compute_connections_age on compute_connections (created_at);

create table compute_revocations (
  org_id integer not null references organizations (id) on delete cascade,
  serial text not null,
  revoked_at integer not null,
  revoked_by text,
  reason text not null,
  primary key (org_id, serial)
) strict, without rowid;

create table member_folders (
  org_id integer not null references organizations (id) on delete cascade,
  discord_id text not null,
  folder text not null,
  created_at integer not null,
  primary key (org_id, discord_id),
  unique (org_id, folder)
) strict;

create table machine_tokens (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  kind text not null check (kind in ('cli', 'officer')),
  name text not null,
  scopes text not null,
  token_hash text not null unique,
  display text not null,
  discord_id text not null,
  created_by text not null,
  created_at integer not null,
  expires_at integer not null,
  last_used_at integer,
  revoked_at integer,
  revoked_by text
) strict;
create index machine_tokens_owner on machine_tokens (org_id, kind, discord_id);

create table browser_sessions (
  token_hash text primary key,
  discord_id text not null,
  username text not null,
  created_at integer not null,
  expires_at integer not null
) strict;

create table sign_ins (
  cookie_hash text primary key,
  state_hash text not null,
  verifier text not null,
  purpose text not null check (purpose in ('cli', 'officer', 'session')),
  org_id integer not null references organizations (id) on delete cascade,
  return_path text not null,
  created_at integer not null,
  expires_at integer not null
) strict;

create index sign_ins_age on sign_ins (expires_at);

create table audit_log (
  id integer primary key autoincrement,
  created_at integer not null,
  source text not null,
  action text not null,
  org_id integer,
  org_prefix text,
  pod_id text,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  address text,
  status integer not null,
  outcome text not null,
  details text not null default '{}'
) strict;
create index audit_log_org on audit_log (org_id, id);
create index audit_log_age on audit_log (created_at);

create table events (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  kind text not null,
  pod_id text,
  actor text,
  details text not null default '{}',
  created_at integer not null
) strict;
create index events_org on events (org_id, id);

create table webhooks (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  name text not null,
  url_ciphertext text not null,
  kinds text not null default '[]',
  is_enabled integer not null default 1,
  created_by text,
  created_at integer not null,
  last_sent_at integer,
  last_error text
) strict;

create table webhook_deliveries (
  id integer primary key autoincrement,
  webhook_id integer not null references webhooks (id) on delete cascade,
  event_id integer not null references events (id) on delete cascade,
  state text not null default 'waiting',
  attempts integer not null default 0,
  next_at integer not null,
  last_error text,
  settled_at integer
) strict;
create index webhook_deliveries_due on webhook_deliveries (state, next_at);
`;
