import type { Org } from "../../db/stores/organizations.ts";
import type { DeliveryRow } from "../../db/stores/deliveries.ts";
import type { WebhookRow } from "../../db/stores/webhooks.ts";
import { type SecretBox, webhookPlaces } from "../identity/secret_box.ts";
import { discordBody } from "./discord_message.ts";
import type { HttpRequest } from "./http_call.ts";
import type { Notice } from "../events/notice.ts";
import { signatureHeaders } from "./signature.ts";

/**
 * The id a receiver knows a delivery by, the same at each try. With the time, because a database that was restored from
 * a backup counts from where the backup was.
 */
export function deliveryId(delivery: Pick<DeliveryRow, "id" | "created_at">): string {
  return `${delivery.id}-${delivery.created_at.toString(36)}`;
}

/**
 * The call of one try of a delivery. The body of the format `signed` is
 * `{id, kind, created_at, org, pod_id, subject, actor, details}`; a test has the kind `test` and no id. Throws
 * `secrets_key_missing` or `secrets_key_wrong`.
 */
export function requestOf(
  hook: WebhookRow,
  org: Org,
  delivery: DeliveryRow,
  notice: Notice,
  deps: { readonly box: SecretBox; readonly version: string; readonly now: number },
): HttpRequest {
  const places = webhookPlaces(hook.org_id, hook.id);
  const url = new URL(deps.box.open(places.url, hook.url_ciphertext));
  const headers = { "content-type": "application/json", "user-agent": `orgpods/${deps.version}`, accept: "*/*" };
  if (hook.format === "discord") return { url, headers, body: JSON.stringify(discordBody(notice, org.name)) };
  const { id, kind, created_at, pod_id, subject, actor, details } = notice;
  const body = JSON.stringify({ id, kind, created_at, org: org.prefix, pod_id, subject, actor, details });
  const secret = deps.box.open(places.secret, hook.secret_ciphertext ?? "");
  return {
    url,
    headers: {
      ...headers,
      "x-orgpods-event": kind,
      "x-orgpods-delivery": deliveryId(delivery),
      ...signatureHeaders(secret, body, deps.now),
    },
    body,
  };
}
