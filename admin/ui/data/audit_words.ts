/** The entries of the audit in the words that officers read; the exact action stands in an entry's details. */
import { shortAction, whoText } from "../../commands/audit.ts";
import type { AuditEntry } from "./records.ts";

/** What a route does, by its method and its path without the organization. */
const WORDS: Readonly<Record<string, string>> = {
  "POST /pods": "create a pod",
  "PUT /pods/:id": "change access or limits",
  "POST /pods/:id/action": "start, stop or terminate",
  "POST /pods/:id/keep": "keep the pod up",
  "POST /pods/:id/members/:discordId/disconnect": "disconnect somebody",
  "POST /blocked": "block somebody",
  "DELETE /blocked/:discordId": "unblock somebody",
  "POST /me/pods/:id/connect": "get a certificate",
  "GET /me/pods/:id/ssh-config": "get an ssh config",
  "DELETE /me/token": "give back a token",
  "POST /pods/:id/sessions": "add sessions",
  "PUT /pods/:id/sessions/:session": "change a session",
  "DELETE /pods/:id/sessions/:session": "delete sessions",
  "POST /pods/:id/sessions/:session/extend": "extend a session",
  "POST /pods/:id/files/read": "read a file",
  "POST /pods/:id/files/write": "write a file",
  "POST /pods/:id/files/mkdir": "make a folder",
  "POST /pods/:id/files/rename": "rename or move a file",
  "POST /pods/:id/files/delete": "delete files",
  "GET /pods/:id/files/download": "download a file",
  "POST /pods/:id/files/download": "download a file",
  "POST /pods/:id/files/archive": "download a folder",
  "POST /pods/:id/files/upload": "upload a file",
  "PUT /pods/:id/files/upload": "upload a file",
  "POST /webhooks": "add a webhook",
  "PUT /webhooks/:id": "change a webhook",
  "DELETE /webhooks/:id": "delete a webhook",
  "POST /webhooks/:id/test": "test a webhook",
  "POST /webhooks/:id/deliveries/:delivery/resend": "send an event again",
  "POST /attention/:id": "settle a pod",
  "PUT /settings": "change settings",
  "PUT /module": "switch compute",
  "PUT /roles": "change roles",
  "PUT /integrations/runpod": "set the RunPod key",
  "DELETE /integrations/runpod": "remove the RunPod key",
  "POST /integrations/runpod/test": "test the RunPod key",
  "POST /tokens": "make a token",
  "DELETE /tokens/:token": "revoke a token",
  "POST /api/operator/orgs": "add the organization",
  "PATCH /api/operator/orgs/:prefix": "change the organization",
  "DELETE /api/operator/orgs/:prefix": "remove the organization",
  "POST /api/operator/schedule/resume": "end a pause",
  "PUT /api/operator/orgs/:prefix/secrets/:name": "set the RunPod key",
  "DELETE /api/operator/orgs/:prefix/secrets/:name": "remove the RunPod key",
  "POST /api/operator/orgs/:prefix/keys/:kind": "replace an SSH key",
  "POST /api/operator/secrets/rotate": "encrypt with the new key",
  "compute cli token issued": "sign in a member",
  "compute officer token issued": "sign in an officer",
};

/** The verb of an action on a pod, as its row has it. */
const ACTIONS: readonly string[] = ["start", "stop", "restart", "terminate"];

/** What was done, such as `terminate the pod`; the action as it is where there are no words for it. */
export function actionWords({ action, details }: Pick<AuditEntry, "action" | "details">, org: string): string {
  const route = shortAction(action, org);
  if (route === "POST /pods/:id/action" && ACTIONS.includes(String(details.action))) {
    return `${details.action} the pod`;
  }
  if (route.endsWith("/disconnect")) {
    if ("blocked" in details) return "block on the pod";
    if ("access_ended" in details) return "end somebody's access";
  }
  return WORDS[route] ?? route;
}

/** The operator in one word, for a narrow column; others by name. */
export function shortWho(entry: Parameters<typeof whoText>[0]): string {
  return entry.actor_kind === "local" ? "operator" : whoText(entry);
}

/** The pod's name as far as the entry or the list of pods tells it, else its id. */
export function podText(
  { pod_id, details }: Pick<AuditEntry, "pod_id" | "details">,
  names: ReadonlyMap<string, string>,
): string {
  if (pod_id === null) return "";
  return names.get(pod_id) ?? (typeof details.name === "string" ? details.name : pod_id);
}
