/**
 * Sessions, money, events and webhooks. The tables of these that the first schema made ahead were never written to, so
 * they are made anew.
 */
export const SESSIONS_MONEY = /* sql */ `
drop table compute_sessions;
drop table compute_spend;
drop table webhook_deliveries;
drop table webhooks;
drop table events;

-- A time when a pod must run. 'started' and 'finished' are the contract's; 'state' is what officers read.
create table compute_sessions (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  title text,
  start_at integer not null,
  stop_at integer not null,
  started integer not null default 0,
  finished integer not null default 0,
  state text not null default 'scheduled'
    check (state in ('scheduled', 'starting', 'running', 'done', 'missed', 'failed')),
  -- the last failure of the schedule, and since when the present step fails
  error text,
  error_at integer,
  failing_since integer,
  -- when the schedule first asked for the start, when the pod was known to run, when the session was over
  starting_at integer,
  started_at integer,
  finished_at integer,
  series_id text,
  extended_minutes integer not null default 0,
  over_budget integer not null default 0,
  on_gpu_taken text not null default 'wait' check (on_gpu_taken in ('wait', 'fresh_pod')),
  created_by text,
  created_at integer not null
) strict;
create index compute_sessions_open on compute_sessions (start_at) where finished = 0;
create index compute_sessions_next on compute_sessions (org_id, pod_id, start_at) where finished = 0;
create index compute_sessions_pod on compute_sessions (pod_id, start_at);
create index compute_sessions_org on compute_sessions (org_id, start_at);

alter table compute_pods add column up_since integer;
-- an officer asked for this run although the month's budget was spent
alter table compute_pods add column run_over_budget integer not null default 0;
-- idle: when somebody or something was last at work on the pod, and what was seen
alter table compute_pods add column active_at integer;
alter table compute_pods add column active_why text;
alter table compute_pods add column gpu_percent real;
alter table compute_pods add column cpu_percent real;
alter table compute_pods add column use_at integer;
alter table compute_pods add column presence_at integer;
-- since when use and presence are known without a gap
alter table compute_pods add column use_since integer;
alter table compute_pods add column presence_since integer;
alter table compute_pods add column presence_error text;
-- since when who is on it cannot be read
alter table compute_pods add column presence_failing_since integer;
-- the stop that people on the pod were told of, and how many minutes before
alter table compute_pods add column warned_stop_at integer;
alter table compute_pods add column warned_minutes real;
-- a stop by itself that does not succeed is tried again ever more rarely
alter table compute_pods add column auto_stop_failing_since integer;
alter table compute_pods add column auto_stop_next_at integer;
alter table compute_pods add column auto_stop_error text;
-- what is wrong with the pod, and since when
alter table compute_pods add column trouble text;
alter table compute_pods add column trouble_since integer;
-- why the pod is in the state it is in, as people read it, and since when
alter table compute_pods add column status_why text;
alter table compute_pods add column status_since integer;

-- What a pod costs: stretches of time at one price in USD. An open stretch was last confirmed at observed_at. 'unseen'
-- is time between two looks of which nobody knows what the pod did: it is not counted, and its price is the highest
-- that it may have cost. A rate is not known while RunPod has not told it; until then it is a guess.
create table compute_spend (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  runpod_id text not null,
  kind text not null check (kind in ('running', 'storage', 'unseen')),
  hardware_per_hour real not null,
  disk_per_hour real not null,
  rate_known integer not null default 1,
  from_at integer not null,
  until_at integer,
  observed_at integer not null,
  check (until_at is null or until_at >= from_at)
) strict;
create index compute_spend_pod on compute_spend (pod_id, from_at);
-- What is open now, and what ended after a time: sums are made from the index alone.
create index compute_spend_org on compute_spend
  (org_id, until_at, from_at, pod_id, kind, hardware_per_hour, disk_per_hour, runpod_id);
create unique index compute_spend_open on compute_spend (pod_id) where until_at is null;

-- What RunPod billed, by its own record: whole UTC days.
create table billing_days (
  org_id integer not null references organizations (id) on delete cascade,
  runpod_id text not null,
  day_at integer not null,
  amount real not null,
  read_at integer not null,
  primary key (org_id, runpod_id, day_at)
) strict, without rowid;

create table org_balance (
  org_id integer primary key references organizations (id) on delete cascade,
  balance real,
  spend_per_hour real,
  read_at integer,
  error text,
  error_at integer,
  -- since when the balance is too low, so that it is said once, and by which limit
  low_since integer,
  low_limit real,
  billing_read_at integer,
  billing_error text,
  billing_error_at integer
) strict;

create table events (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  kind text not null,
  pod_id text,
  runpod_id text,
  -- the name of what it is about, as it was then
  subject text,
  actor text,
  details text not null default '{}',
  -- an event with a key is raised once
  once_key text,
  created_at integer not null
) strict;
create index events_org on events (org_id, id);
create index events_age on events (created_at);
create unique index events_once on events (org_id, once_key) where once_key is not null;

create table webhooks (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  name text not null,
  format text not null check (format in ('discord', 'signed')),
  url_ciphertext text not null,
  url_hint text not null,
  secret_ciphertext text,
  -- event kinds; an empty list stands for all
  kinds text not null default '[]',
  is_enabled integer not null default 1,
  refusals integer not null default 0,
  disabled_at integer,
  disabled_why text,
  created_by text,
  created_at integer not null,
  last_sent_at integer,
  last_error text,
  last_error_at integer
) strict;
create index webhooks_org on webhooks (org_id);

create table webhook_deliveries (
  id integer primary key autoincrement,
  webhook_id integer not null references webhooks (id) on delete cascade,
  -- null for a test
  event_id integer references events (id) on delete cascade,
  state text not null default 'waiting' check (state in ('waiting', 'sent', 'failed', 'dropped')),
  attempts integer not null default 0,
  created_at integer not null,
  next_at integer not null,
  last_at integer,
  last_status integer,
  last_error text,
  settled_at integer
) strict;
create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, id) where state = 'waiting';
create index webhook_deliveries_hook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_settled on webhook_deliveries (webhook_id, state, settled_at);
create index webhook_deliveries_event on webhook_deliveries (event_id);
`;
