/**
 * Changing an org's SSH keys: which rotation is under way, what each pod's env and files hold of the keys, and changes
 * of a pod's env. Keys are told by their fingerprints; of an env nothing else is kept.
 */
export const KEY_ROTATION = `
create table key_rotations (
  id integer primary key autoincrement,
  org_id integer not null references organizations (id) on delete cascade,
  kind text not null check (kind in ('backend', 'user_ca')),
  old_fingerprint text not null,
  new_fingerprint text not null,
  -- 1: the old private key could not be decrypted when it began.
  is_recovery integer not null default 0,
  asked_by text not null,
  asked_at integer not null,
  state text not null default 'open' check (state in ('open', 'done')),
  finished_at integer
) strict;
create unique index key_rotations_open on key_rotations (org_id, kind) where state = 'open';
create index key_rotations_org on key_rotations (org_id, id);

-- What the env of the RunPod pod env_of holds, as RunPod last showed it: a fingerprint, 'other' or 'none'.
alter table compute_pods add column env_of text;
alter table compute_pods add column env_backend text;
alter table compute_pods add column env_user_ca text;
-- 1: a change of the env met a pod that was not stopped any more, so which env its next start has is not known.
alter table compute_pods add column env_unsure integer not null default 0;
-- The start that the following belong to: the env it began with, fingerprints (JSON lists) in its files, the backend
-- key that logged in.
alter table compute_pods add column keys_start text;
alter table compute_pods add column start_env_backend text;
alter table compute_pods add column start_env_user_ca text;
alter table compute_pods add column files_backend text;
alter table compute_pods add column files_user_ca text;
alter table compute_pods add column login_key text;
-- What RunPod shows otherwise than it was asked for, as a JSON list of words: image, args.
alter table compute_pods add column differs text;

-- Written before RunPod is asked to change the env of a stopped pod, settled after.
create table env_changes (
  id text primary key,
  org_id integer not null references organizations (id) on delete cascade,
  pod_id text not null references compute_pods (id) on delete cascade,
  runpod_id text not null,
  -- The fingerprints that the env is to have.
  backend text not null,
  user_ca text not null,
  state text not null default 'sent' check (state in ('sent', 'unsettled', 'done', 'failed')),
  asked_at integer not null,
  settled_at integer,
  error text
) strict;
create unique index env_changes_open on env_changes (pod_id) where state in ('sent', 'unsettled');
create index env_changes_pod on env_changes (pod_id, asked_at);
`;
