import type { Database } from "../../db/database.ts";
import { dropWaiting } from "../../db/stores/deliveries.ts";
import type { Org } from "../../db/stores/organizations.ts";
import {
  deleteWebhook,
  insertWebhook,
  updateWebhook,
  webhookOf,
  type WebhookRow,
  webhooksOf,
} from "../../db/stores/webhooks.ts";
import { actorOf, type Audit } from "../audit/write.ts";
import type { Clock } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import { raiseSettingsChanged } from "../events/settings_changed.ts";
import { actorName, type Asker, callerId } from "../identity/callers.ts";
import { type SecretBox, webhookPlaces } from "../identity/secret_box.ts";
import type { AddWebhook, ChangeWebhook } from "./schema.ts";
import { newSigningSecret } from "./signature.ts";
import { checkUrl, urlHint, type UrlRules } from "./url.ts";

/** So many webhooks an org may have. */
export const MAX_WEBHOOKS = 20;

export interface ManageDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly box: SecretBox;
  readonly urlRules: UrlRules;
}

/** A webhook after a change, and its signing secret if a new one was made: it is shown this once. */
export interface Changed {
  readonly hook: WebhookRow;
  readonly secret: string | null;
}

/** The webhook of an org by what stands in the path. Throws `webhook_not_found`. */
export function findWebhook(db: Database, org: Org, id: string): WebhookRow {
  const found = /^\d{1,15}$/.test(id) ? webhookOf(db, org.id, Number(id)) : undefined;
  if (found === undefined) {
    const hint = `There is no webhook ${shown(id)}; numbers are in webhook list`;
    throw new AppError("webhook_not_found", "Webhook not found", { hint });
  }
  return found;
}

/** Adds a webhook. Throws `invalid_request` for the address, `conflict` past 20, `secrets_key_missing`. */
export function addWebhook(deps: ManageDeps, org: Org, asker: Asker, request: AddWebhook): Changed {
  const { db, clock } = deps;
  const url = checkUrl(request.url, request.format, deps.urlRules);
  return db.tx(() => {
    if (webhooksOf(db, org.id).length >= MAX_WEBHOOKS) {
      throw new AppError("conflict", `An organization has at most ${MAX_WEBHOOKS} webhooks; remove one first`);
    }
    const now = clock.now();
    const id = insertWebhook(db, {
      orgId: org.id,
      name: request.name,
      format: request.format,
      urlHint: urlHint(url),
      kinds: request.kinds,
      by: callerId(asker.caller),
    }, now);
    const secret = request.format === "signed" ? newSigningSecret() : null;
    updateWebhook(db, id, { ...sealedUrl(deps, org, id, url), ...sealedSecret(deps, org, id, secret) });
    const hook = webhookOf(db, org.id, id)!;
    record(deps, org, asker, hook, "added", {
      status: 201,
      details: { format: hook.format, url: hook.url_hint, kinds: request.kinds },
    });
    return { hook, secret };
  });
}

/**
 * Changes the given parts of a webhook. Switched off, what waits for it is dropped; switched on, it counts refusals
 * anew. Throws like `addWebhook`.
 */
export function changeWebhook(
  deps: ManageDeps,
  org: Org,
  asker: Asker,
  id: string,
  request: ChangeWebhook,
): Changed {
  const { db, clock, urlRules } = deps;
  return db.tx(() => {
    const before = findWebhook(db, org, id);
    const url = request.url === undefined ? null : checkUrl(request.url, before.format, urlRules);
    if (request.rotate_secret && before.format !== "signed") {
      throw new AppError("invalid_request", "rotate_secret is for webhooks of the format signed");
    }
    const secret = request.rotate_secret ? newSigningSecret() : null;
    updateWebhook(db, before.id, {
      ...(request.name === undefined ? {} : { name: request.name }),
      ...(request.kinds === undefined ? {} : { kinds: JSON.stringify(request.kinds) }),
      ...(url === null ? {} : { url_hint: urlHint(url), ...sealedUrl(deps, org, before.id, url) }),
      ...sealedSecret(deps, org, before.id, secret),
      ...(request.is_enabled === undefined ? {} : { is_enabled: request.is_enabled ? 1 : 0 }),
      ...(request.is_enabled ? { refusals: 0, disabled_at: null, disabled_why: null } : {}),
    });
    if (request.is_enabled === false) dropWaiting(db, before.id, "The webhook was switched off", clock.now());
    const hook = findWebhook(db, org, id);
    const did = request.is_enabled === undefined ? "changed" : request.is_enabled ? "switched on" : "switched off";
    record(deps, org, asker, hook, did, { status: 200, details: { parts: Object.keys(request) } });
    return { hook, secret };
  });
}

/** Removes a webhook with its deliveries. */
export function removeWebhook(deps: ManageDeps, org: Org, asker: Asker, id: string): WebhookRow {
  return deps.db.tx(() => {
    const hook = findWebhook(deps.db, org, id);
    deleteWebhook(deps.db, hook.id);
    record(deps, org, asker, hook, "removed", { status: 200, details: {} });
    return hook;
  });
}

function sealedUrl(deps: ManageDeps, org: Org, id: number, url: URL) {
  return { url_ciphertext: deps.box.seal(webhookPlaces(org.id, id).url, url.href) };
}

function sealedSecret(deps: ManageDeps, org: Org, id: number, secret: string | null) {
  return secret === null ? {} : { secret_ciphertext: deps.box.seal(webhookPlaces(org.id, id).secret, secret) };
}

/** The audit row and the event of a change. */
function record(
  deps: ManageDeps,
  org: Org,
  asker: Asker,
  hook: WebhookRow,
  did: string,
  more: { readonly status: number; readonly details: Record<string, unknown> },
): void {
  deps.audit.write({
    ...actorOf(asker.caller),
    address: asker.address,
    action: asker.action,
    orgPrefix: org.prefix,
    status: more.status,
    outcome: "ok",
    details: { webhook_id: hook.id, name: hook.name, did, ...more.details },
  });
  raiseSettingsChanged(
    deps.db,
    org.id,
    actorName(asker.caller),
    { changed: ["webhooks"], webhook: hook.name, did },
    deps.clock.now(),
  );
}
