/**
 * Who may call what. One row per route; the columns of a row come from its guard. A route that is not here fails the
 * matrix test, so that nobody adds one without saying who may use it.
 */
import { writeBodyLimit } from "../../server/files/routes.ts";
import type { GuardName } from "../../server/http/guards.ts";
import { GUILD, OFFICER_ROLE, OTHER_RUNPOD_KEY, PEOPLE, type Person, RUNPOD_KEY } from "../support/world.ts";

export type Caller = Person | "nobody" | "operator";

/** What a caller shows: the two kinds of token, or the session cookie of a browser. */
export const CREDENTIALS = ["cli", "officer", "session"] as const;
export type CredentialKind = (typeof CREDENTIALS)[number];

/** `<status>` of a success or `<status> <code>` of a refusal. "allowed" stands for the row's own answer. */
export type Cell = string;
type Column = Record<Caller, Cell>;

const everybody = (cell: Cell): Column => ({
  nobody: cell,
  stranger: cell,
  member: cell,
  removed: cell,
  blocked: cell,
  officer: cell,
  exOfficer: cell,
  otherOfficer: cell,
  pending: cell,
  superadmin: cell,
  operator: cell,
});

const ANYBODY = everybody("allowed");
const BAD_TOKEN: Column = { ...everybody("401 token_invalid"), nobody: "401 sign_in_required" };

/** Shows a working credential of the kind that the officer routes take. */
const OFFICERS: Column = {
  ...everybody("403 not_an_officer"),
  nobody: "401 sign_in_required",
  officer: "allowed",
  superadmin: "allowed",
  operator: "allowed",
};
const MEMBERS: Column = {
  ...everybody("403 not_a_member"),
  nobody: "401 sign_in_required",
  member: "allowed",
  blocked: "allowed",
  officer: "allowed",
  exOfficer: "allowed",
  operator: "403 no_discord_user",
};
/** A token of another org is a bad token here; a session is the person, whatever the org. */
const OTHER_ORGS_TOKEN = { otherOfficer: "401 token_invalid" };

export const COLUMNS: Record<GuardName, Record<CredentialKind, Column>> = {
  public: { cli: ANYBODY, officer: ANYBODY, session: ANYBODY },
  officer: {
    cli: { ...BAD_TOKEN, operator: "allowed" },
    officer: { ...OFFICERS, ...OTHER_ORGS_TOKEN },
    session: OFFICERS,
  },
  superadmin: {
    cli: { ...BAD_TOKEN, operator: "allowed" },
    officer: { ...OFFICERS, ...OTHER_ORGS_TOKEN, officer: "403 not_the_operator" },
    session: { ...OFFICERS, officer: "403 not_the_operator" },
  },
  member: {
    cli: { ...MEMBERS, ...OTHER_ORGS_TOKEN },
    officer: { ...BAD_TOKEN, operator: "403 no_discord_user" },
    session: MEMBERS,
  },
  signed_in: {
    cli: { ...MEMBERS, ...OTHER_ORGS_TOKEN, operator: "allowed" },
    officer: { ...OFFICERS, ...OTHER_ORGS_TOKEN },
    session: { ...MEMBERS, operator: "allowed" },
  },
  token_owner: {
    cli: { ...ANYBODY, ...OTHER_ORGS_TOKEN, nobody: "401 sign_in_required", operator: "401 sign_in_required" },
    officer: { ...BAD_TOKEN, operator: "401 sign_in_required" },
    session: everybody("401 sign_in_required"),
  },
  session_owner: {
    cli: everybody("401 sign_in_required"),
    officer: everybody("401 sign_in_required"),
    session: { ...ANYBODY, nobody: "401 sign_in_required", operator: "401 sign_in_required" },
  },
  operator: {
    cli: { ...everybody("403 not_the_operator"), operator: "allowed" },
    officer: { ...everybody("403 not_the_operator"), operator: "allowed" },
    session: { ...everybody("403 not_the_operator"), operator: "allowed" },
  },
};

export interface Row {
  readonly guard: GuardName;
  /** The answer to those who may: a success, or the route's own refusal of what the row sends. */
  readonly allowed: Cell;
  /** A good body; absent where the route reads none. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Every field the route knows. */
  readonly fields?: readonly string[];
  /** Callers that the route itself treats otherwise than its guard's column says. */
  readonly except?: Partial<Record<Caller, Cell>>;
  /** Values of the path's parameters other than `:org`; `POD` stands for a stopped pod that is open to all. */
  readonly params?: Readonly<Record<string, string>>;
  /** The route takes fields it does not know. */
  readonly isLenient?: true;
  /** The largest body taken, where it is not the usual 1 MB. */
  readonly maxBytes?: number;
  /** The body may be left out. */
  readonly mayBeEmpty?: true;
}

const officer = (allowed: Cell, more: Partial<Row> = {}): Row => ({ guard: "officer", allowed, ...more });
const operator = (allowed: Cell, more: Partial<Row> = {}): Row => ({ guard: "operator", allowed, ...more });
const open = (allowed: Cell, more: Partial<Row> = {}): Row => ({ guard: "public", allowed, ...more });

const POD = { id: "POD" };
const NO_SESSION = { ...POD, session: "999999" };
const NO_WEBHOOK = { id: "999999" };
const ONE_PATH = { params: POD, body: { path: "/workspace/a" }, fields: ["path", "path_b64"] };
const NO_ORG = { prefix: "nosuch" };
const CREATE_FIELDS = [
  "name",
  "image_name",
  "use_cpu_only",
  "cloud_type",
  "cpu_flavor",
  "vcpu_count",
  "volume_in_gb",
  "container_disk_in_gb",
  "volume_mount_path",
  "env",
  "is_public",
  "allowed_users",
  "provider",
  "over_budget",
];

/** By method and path as the router has them. */
export const ROWS: Readonly<Record<string, Row>> = {
  "GET /": open("200"),
  "GET /:org": open("200"),
  "GET /health": open("200"),
  "GET /api/compute/cli/callback": open("400"),
  "GET /api/compute/:org/cli/login": open("302"),
  "GET /api/compute/:org/officer/login": open("302"),
  "GET /api/compute/:org/session/login": open("302"),

  "POST /api/compute/:org/session/logout": { guard: "session_owner", allowed: "200" },
  "GET /api/compute/:org/me/pods": { guard: "member", allowed: "200" },
  "POST /api/compute/:org/me/pods/:id/connect": {
    guard: "member",
    allowed: "409 pod_not_running",
    except: { blocked: "403 pod_not_accessible" },
    params: POD,
    body: { public_key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEUvLzTrGgoO8DFLpyj2M3Qv8UUQLhlnDH2bxqYTZf7v test" },
    fields: ["public_key"],
    isLenient: true,
    maxBytes: 16_384,
  },
  "GET /api/compute/:org/me/pods/:id/ssh-config": {
    guard: "member",
    allowed: "409 pod_not_running",
    except: { blocked: "403 pod_not_accessible" },
    params: POD,
  },
  "GET /api/compute/:org/me": { guard: "signed_in", allowed: "200" },
  "DELETE /api/compute/:org/me/token": { guard: "token_owner", allowed: "200" },

  "GET /api/compute/:org/tokens": officer("200"),
  "DELETE /api/compute/:org/tokens/:token": officer("404 token_not_found", { params: { token: "999999" } }),
  "POST /api/compute/:org/tokens": operator("201", {
    body: { kind: "cli", discord_id: "200000000000000999" },
    fields: ["kind", "discord_id", "name", "days"],
  }),
  "GET /api/compute/:org/pods": officer("200"),
  "POST /api/compute/:org/pods": officer("201", { body: { use_cpu_only: true }, fields: CREATE_FIELDS }),
  "GET /api/compute/:org/pods/:id": officer("200", { params: POD }),
  "PUT /api/compute/:org/pods/:id": officer("200", {
    params: POD,
    body: { is_public: true },
    fields: ["is_public", "allowed_users", "auto_stop_after_minutes", "max_run_hours"],
  }),
  "POST /api/compute/:org/pods/:id/action": officer("200", {
    params: POD,
    body: { action: "stop" },
    fields: ["action", "over_budget"],
  }),
  "GET /api/compute/:org/pods/:id/files": officer("409 pod_not_running", { params: POD }),
  "POST /api/compute/:org/pods/:id/files/stat": officer("409 pod_not_running", { ...ONE_PATH }),
  "POST /api/compute/:org/pods/:id/files/read": officer("409 pod_not_running", {
    ...ONE_PATH,
    fields: ["path", "path_b64", "lossy"],
  }),
  "POST /api/compute/:org/pods/:id/files/write": officer("409 pod_not_running", {
    params: POD,
    body: { path: "/workspace/a", content: "a" },
    fields: ["path", "path_b64", "content", "if_match", "was_lossy"],
    maxBytes: writeBodyLimit(1_000_000),
  }),
  "POST /api/compute/:org/pods/:id/files/mkdir": officer("409 pod_not_running", { ...ONE_PATH }),
  "POST /api/compute/:org/pods/:id/files/rename": officer("409 pod_not_running", {
    params: POD,
    body: { old_path: "/workspace/a", new_path: "/workspace/b" },
    fields: ["old_path", "old_path_b64", "new_path", "new_path_b64"],
  }),
  "POST /api/compute/:org/pods/:id/files/delete": officer("409 pod_not_running", { ...ONE_PATH }),
  "GET /api/compute/:org/pods/:id/files/download": officer("400 invalid_request", { params: POD }),
  "POST /api/compute/:org/pods/:id/files/download": officer("409 pod_not_running", { ...ONE_PATH }),
  "POST /api/compute/:org/pods/:id/files/archive": officer("409 pod_not_running", { ...ONE_PATH }),
  "POST /api/compute/:org/pods/:id/files/upload": officer("400 invalid_request", { params: POD }),
  "PUT /api/compute/:org/pods/:id/files/upload": officer("400 invalid_request", { params: POD }),
  "GET /api/compute/:org/pods/:id/members": officer("200", { params: POD }),
  "GET /api/compute/:org/pods/:id/members/connected": officer("200", { params: POD }),
  "POST /api/compute/:org/pods/:id/members/:discordId/disconnect": officer("200", {
    params: { ...POD, discordId: "77777" },
    body: { block: false },
    fields: ["block"],
  }),
  "GET /api/compute/:org/removals": officer("200"),
  "GET /api/compute/:org/blocked": officer("200"),
  "POST /api/compute/:org/blocked": officer("201", {
    body: { discord_id: "77777" },
    fields: ["discord_id", "pod_id", "reason"],
  }),
  "DELETE /api/compute/:org/blocked/:discordId": officer("400 invalid_request", { params: { discordId: "88888" } }),
  "POST /api/compute/:org/pods/:id/keep": officer("409 conflict", {
    params: POD,
    body: { minutes: 30 },
    fields: ["minutes"],
  }),
  "GET /api/compute/:org/schedule": officer("200"),
  "POST /api/operator/schedule/resume": operator("200"),
  "GET /api/compute/:org/sessions": officer("200"),
  "GET /api/compute/:org/pods/:id/sessions": officer("200", { params: POD }),
  "POST /api/compute/:org/pods/:id/sessions": officer("201", {
    params: POD,
    body: { start_at: "2099-10-09T18:00:00Z", stop_at: "2099-10-09T20:00:00Z" },
    fields: ["start_at", "stop_at", "title", "over_budget", "on_gpu_taken", "repeat"],
  }),
  "GET /api/compute/:org/pods/:id/sessions/:session": officer("404 session_not_found", { params: NO_SESSION }),
  "PUT /api/compute/:org/pods/:id/sessions/:session": officer("404 session_not_found", {
    params: NO_SESSION,
    body: { title: "Workshop" },
    fields: ["title", "start_at", "stop_at", "over_budget", "on_gpu_taken"],
  }),
  "DELETE /api/compute/:org/pods/:id/sessions/:session": officer("404 session_not_found", { params: NO_SESSION }),
  "POST /api/compute/:org/pods/:id/sessions/:session/extend": officer("404 session_not_found", {
    params: NO_SESSION,
    body: { minutes: 30 },
    fields: ["minutes"],
  }),
  "GET /api/compute/:org/attention": officer("200"),
  "POST /api/compute/:org/attention/:id": officer("404 attention_not_found", {
    params: { id: "nosuch" },
    body: { action: "forget" },
    fields: ["action", "runpod_id"],
  }),
  "GET /api/compute/:org/spend": officer("200"),
  "GET /api/compute/:org/settings": officer("200"),
  "PUT /api/compute/:org/settings": officer("200", {
    body: { pod_image: null },
    fields: [
      "pod_image",
      "min_cuda_version",
      "monthly_budget_usd",
      "stop_at_budget",
      "max_run_hours",
      "auto_stop_after_minutes",
      "idle_gpu_percent",
      "idle_cpu_percent",
      "balance_low_usd",
    ],
  }),
  "PUT /api/compute/:org/module": officer("200", { body: { enabled: true }, fields: ["enabled", "force"] }),
  "GET /api/compute/:org/roles": officer("200"),
  "PUT /api/compute/:org/roles": {
    guard: "superadmin",
    allowed: "200",
    body: { officer_role_ids: [OFFICER_ROLE] },
    fields: ["officer_role_ids", "member_role_ids"],
  },
  "GET /api/compute/:org/integrations/runpod": officer("200"),
  "PUT /api/compute/:org/integrations/runpod": officer("200", {
    body: { api_key: RUNPOD_KEY },
    fields: ["api_key", "replace"],
  }),
  "DELETE /api/compute/:org/integrations/runpod": officer("409 live_pods", {
    mayBeEmpty: true,
  }),
  "POST /api/compute/:org/integrations/runpod/test": officer("200"),
  "GET /api/compute/:org/members": officer("200"),
  "GET /api/compute/:org/members/roles": officer("200"),
  "GET /api/compute/:org/catalog/gpus": officer("200"),
  "GET /api/compute/:org/catalog/cpus": officer("200"),
  "GET /api/compute/:org/audit": officer("200"),
  "GET /api/compute/:org/events": officer("200"),
  "GET /api/compute/:org/webhooks": officer("200"),
  "POST /api/compute/:org/webhooks": officer("201", {
    body: { name: "alerts", format: "signed", url: "https://hooks.example.org/orgpods" },
    fields: ["name", "format", "url", "kinds"],
  }),
  "GET /api/compute/:org/webhooks/:id": officer("404 webhook_not_found", { params: NO_WEBHOOK }),
  "PUT /api/compute/:org/webhooks/:id": officer("404 webhook_not_found", {
    params: NO_WEBHOOK,
    body: { is_enabled: true },
    fields: ["name", "url", "kinds", "is_enabled", "rotate_secret"],
  }),
  "DELETE /api/compute/:org/webhooks/:id": officer("404 webhook_not_found", { params: NO_WEBHOOK }),
  "POST /api/compute/:org/webhooks/:id/test": officer("404 webhook_not_found", { params: NO_WEBHOOK }),
  "GET /api/compute/:org/webhooks/:id/deliveries": officer("404 webhook_not_found", { params: NO_WEBHOOK }),
  "POST /api/compute/:org/webhooks/:id/deliveries/:delivery/resend": officer("404 webhook_not_found", {
    params: { ...NO_WEBHOOK, delivery: "1" },
  }),

  "GET /api/operator/status": operator("200"),
  "GET /api/operator/orgs": operator("200"),
  "POST /api/operator/orgs": operator("409 org_exists", {
    body: { prefix: "org", name: "Test Society", guild_id: GUILD },
    fields: ["prefix", "name", "guild_id", "officer_role_ids", "member_role_ids", "pod_image", "force"],
  }),
  "GET /api/operator/orgs/:prefix": operator("404 org_not_found", { params: NO_ORG }),
  "PATCH /api/operator/orgs/:prefix": operator("200", {
    params: { prefix: "other" },
    body: { name: "Other Society" },
    fields: ["name", "guild_id", "officer_role_ids", "member_role_ids", "pod_image", "enabled", "is_active", "force"],
  }),
  "DELETE /api/operator/orgs/:prefix": operator("409 live_pods", {
    params: { prefix: "org" },
    mayBeEmpty: true,
  }),
  "POST /api/operator/orgs/:prefix/check": operator("200", { params: { prefix: "other" } }),
  "PUT /api/operator/orgs/:prefix/secrets/:name": operator("200", {
    params: { prefix: "other", name: "runpod_api_key" },
    body: { value: OTHER_RUNPOD_KEY },
    fields: ["value", "replace"],
  }),
  "DELETE /api/operator/orgs/:prefix/secrets/:name": operator("409 live_pods", {
    params: { prefix: "org", name: "runpod_api_key" },
    mayBeEmpty: true,
  }),
  "POST /api/operator/secrets/rotate": operator("200"),
  "GET /api/operator/orgs/:prefix/keys": operator("200", { params: { prefix: "other" } }),
  "GET /api/operator/orgs/:prefix/rotations": operator("200", { params: { prefix: "other" } }),
  "POST /api/operator/orgs/:prefix/keys/:kind": operator("409 conflict", {
    params: { prefix: "other", kind: "backend" },
  }),
};

/** The path to call for a route's pattern. */
export function pathOf(route: string, row: Row, pod: string, org = "org"): { method: string; path: string } {
  const [method = "", pattern = ""] = route.split(" ");
  const path = pattern.replace(/:(\w+)/g, (_whole, name: string) => {
    const value = name === "org" ? org : row.params?.[name];
    if (value === undefined) throw new Error(`The row of ${route} has no value for :${name}`);
    return value === "POD" ? pod : value;
  });
  return { method, path };
}

export const CALLERS = ["nobody", ...Object.keys(PEOPLE), "operator"] as readonly Caller[];
