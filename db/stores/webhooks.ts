import type { Database } from "../database.ts";

export type WebhookFormat = "discord" | "signed";

export interface WebhookRow {
  readonly id: number;
  readonly org_id: number;
  readonly name: string;
  readonly format: WebhookFormat;
  /** The address, encrypted: whoever knows a Discord webhook's address can write into its channel. */
  readonly url_ciphertext: string;
  /** Host and last four characters, for people to recognise it. */
  readonly url_hint: string;
  /** The signing secret, encrypted; null for the format `discord`. */
  readonly secret_ciphertext: string | null;
  /** Event kinds as a JSON list; an empty one stands for all. */
  readonly kinds: string;
  /** What officers set. A webhook is on when this is 1 and `disabled_at` is null. */
  readonly is_enabled: number;
  /** Refusals since the last success. */
  readonly refusals: number;
  /** When and why the server switched it off. */
  readonly disabled_at: number | null;
  readonly disabled_why: string | null;
  readonly created_by: string | null;
  readonly created_at: number;
  readonly last_sent_at: number | null;
  readonly last_error: string | null;
  readonly last_error_at: number | null;
}

export interface NewWebhook {
  readonly orgId: number;
  readonly name: string;
  readonly format: WebhookFormat;
  readonly urlHint: string;
  readonly kinds: readonly string[];
  readonly by: string;
}

/** Stores a webhook without its secrets, which are sealed for its id; returns the id. */
export function insertWebhook(db: Database, webhook: NewWebhook, now: number): number {
  return db.get<{ id: number }>(
    "insert into webhooks (org_id, name, format, url_ciphertext, url_hint, kinds, created_by, created_at) " +
      "values (?, ?, ?, '', ?, ?, ?, ?) returning id",
    webhook.orgId,
    webhook.name,
    webhook.format,
    webhook.urlHint,
    JSON.stringify(webhook.kinds),
    webhook.by,
    now,
  )!.id;
}

export function webhooksOf(db: Database, orgId: number): WebhookRow[] {
  return db.all("select * from webhooks where org_id = ? order by id", orgId);
}

export function webhookOf(db: Database, orgId: number, id: number): WebhookRow | undefined {
  return db.get("select * from webhooks where org_id = ? and id = ?", orgId, id);
}

export function webhookById(db: Database, id: number): WebhookRow | undefined {
  return db.get("select * from webhooks where id = ?", id);
}

export type WebhookChange = Partial<Omit<WebhookRow, "id" | "org_id" | "format" | "created_by" | "created_at">>;

/** Changes the given columns of a webhook, and none else. */
export function updateWebhook(db: Database, id: number, change: WebhookChange): void {
  for (const [column, value] of Object.entries(change) as [keyof WebhookChange, string | number | null][]) {
    db.run(`update webhooks set ${column} = ? where id = ?`, value, id);
  }
}

export function deleteWebhook(db: Database, id: number): void {
  db.run("delete from webhooks where id = ?", id);
}

export interface SealedWebhook {
  readonly id: number;
  readonly org_id: number;
  readonly url_ciphertext: string;
  readonly secret_ciphertext: string | null;
}

export const sealedWebhooks = (db: Database): SealedWebhook[] =>
  db.all("select id, org_id, url_ciphertext, secret_ciphertext from webhooks");
