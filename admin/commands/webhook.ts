import { AppError } from "../../server/errors.ts";
import type { EventKind } from "../../server/events/kinds.ts";
import { type Api, read } from "../client/api.ts";
import { pathPart, withOrg } from "./connected.ts";
import { readSecret } from "./secret.ts";
import type { Shell } from "./shell.ts";
import { facts, shortTime, table } from "./text.ts";

export interface AddFlags {
  readonly name: string;
  readonly format: "discord" | "signed";
  readonly kind?: string[];
}

export interface EditFlags {
  readonly name?: string;
  readonly url?: boolean;
  readonly kind?: string[];
  readonly allKinds?: boolean;
  readonly enable?: boolean;
  readonly disable?: boolean;
  readonly rotateSecret?: boolean;
}

export interface DeliveryFlags {
  readonly limit: number;
  readonly before?: number;
}

type Delivery = Awaited<
  ReturnType<Awaited<ReturnType<Api["org"]["webhooks"][":id"]["deliveries"]["$get"]>>["json"]>
>["deliveries"][number];

const hookId = (id: string) => pathPart(id, "The webhook's id");

/** The server knows the kinds and refuses others. */
const kindsOf = (words: readonly string[] | undefined) => (words ?? []) as EventKind[];

export async function listWebhooks(shell: Shell): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.webhooks.$get({ param: { org } }));
    if (answer.value.webhooks.length === 0) await shell.say("No webhooks.");
    await shell.result(answer, ({ webhooks }) =>
      webhooks.length === 0 ? "" : table(
        ["ID", "NAME", "FORMAT", "ADDRESS", "KINDS", "STATE", "WAITING", "DROPPED 24H", "LAST SENT", "LAST ERROR"],
        webhooks.map((hook) => [
          hook.id,
          hook.name,
          hook.format,
          hook.url_hint,
          hook.kinds.join(", ") || "all",
          hook.is_enabled ? "on" : hook.disabled_why === null ? "off" : `off: ${hook.disabled_why}`,
          hook.waiting,
          hook.dropped_24h,
          shortTime(hook.last_sent_at) ?? "never",
          hook.last_error,
        ]),
      ));
  });
}

/** `orgpods webhook add`: prints the id and, for the format `signed`, the signing secret, which is not shown again. */
export async function addWebhook(shell: Shell, flags: AddFlags): Promise<void> {
  await withOrg(shell, async (api, org) => {
    const url = await readSecret(shell, "The webhook's address", "address.txt");
    const json = { name: flags.name, format: flags.format, url, kinds: kindsOf(flags.kind) };
    const answer = await read(api.org.webhooks.$post({ param: { org }, json }));
    await shell.result(answer, shownOnce);
  });
}

export async function editWebhook(shell: Shell, id: string, flags: EditFlags): Promise<void> {
  const param = { id: hookId(id) };
  const json = {
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.allKinds ? { kinds: [] } : flags.kind === undefined ? {} : { kinds: kindsOf(flags.kind) }),
    ...(flags.enable ? { is_enabled: true } : flags.disable ? { is_enabled: false } : {}),
    ...(flags.rotateSecret ? { rotate_secret: true as const } : {}),
  };
  if (Object.keys(json).length === 0 && !flags.url) throw new AppError("usage", "Name at least one thing to change");
  await withOrg(shell, async (api, org) => {
    const url = flags.url ? { url: await readSecret(shell, "The webhook's address", "address.txt") } : {};
    const answer = await read(api.org.webhooks[":id"].$put({ param: { org, ...param }, json: { ...json, ...url } }));
    await shell.result(answer, shownOnce);
  });
}

function shownOnce(changed: { readonly webhook: { readonly id: number }; readonly secret: string | null }): string {
  const { webhook, secret } = changed;
  return secret === null ? String(webhook.id) : facts([["Id", webhook.id], ["Secret", secret]]);
}

export async function removeWebhook(shell: Shell, id: string): Promise<void> {
  const param = { id: hookId(id) };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.webhooks[":id"].$delete({ param: { org, ...param } }));
    await shell.result(answer, ({ removed }) => String(removed));
  });
}

/** `orgpods webhook test`: exit code 6 when the receiver did not take it. */
export async function testWebhook(shell: Shell, id: string): Promise<number> {
  const param = { id: hookId(id) };
  let isSent = false;
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.webhooks[":id"].test.$post({ param: { org, ...param } }));
    const { state, last_error } = answer.value.delivery;
    isSent = state === "sent";
    if (!isSent) await shell.say(`error: ${last_error ?? "The test was not sent"}`);
    await shell.result(answer, ({ delivery }) => delivery.state);
  });
  return isSent ? 0 : 6;
}

export async function listDeliveries(shell: Shell, id: string, flags: DeliveryFlags): Promise<void> {
  const param = { id: hookId(id) };
  const query = {
    limit: String(flags.limit),
    ...(flags.before === undefined ? {} : { before_id: String(flags.before) }),
  };
  await withOrg(shell, async (api, org) => {
    const answer = await read(api.org.webhooks[":id"].deliveries.$get({ param: { org, ...param }, query }));
    const { deliveries } = answer.value;
    if (deliveries.length === 0) await shell.say("No deliveries.");
    await shell.result(answer, ({ deliveries }) =>
      deliveries.length === 0 ? "" : table(
        ["ID", "AT", "KIND", "STATE", "TRIES", "STATUS", "NEXT TRY", "ERROR"],
        deliveries.map((one) => [
          one.id,
          shortTime(one.created_at),
          one.kind,
          one.state,
          one.attempts,
          one.last_status,
          shortTime(one.next_at),
          one.last_error,
        ]),
      ));
    if (deliveries.length === flags.limit) await shell.say(`Older deliveries: --before ${deliveries.at(-1)!.id}`);
  });
}

/**
 * `orgpods webhook resend`: says what came of the first try, as the word `sent`, `failed` or `waiting` (it is tried again).
 * Exit code 6 unless it was sent.
 */
export async function resendDelivery(shell: Shell, id: string, delivery: string): Promise<number> {
  const param = { id: hookId(id), delivery: pathPart(delivery, "The delivery's id") };
  let isSent = false;
  await withOrg(shell, async (api, org) => {
    const resend = api.org.webhooks[":id"].deliveries[":delivery"].resend;
    const answer = await read(resend.$post({ param: { org, ...param } }));
    const done = await outcomeOf(api, org, param.id, answer.value.delivery.id);
    isSent = done?.state === "sent";
    if (!isSent) await shell.say(`error: ${done?.last_error ?? "It was not tried yet; see webhook deliveries"}`);
    await shell.result(
      done === null ? answer : { ...answer, value: { delivery: done } },
      ({ delivery }) => delivery.state,
    );
  });
  return isSent ? 0 : 6;
}

/** One try takes 10 s at most. */
const TRY_MS = 15_000;

/** The delivery once it was tried; null when that takes too long. */
async function outcomeOf(api: Api, org: string, hook: string, id: number): Promise<Delivery | null> {
  const query = { limit: "1", before_id: String(id + 1) };
  for (const until = performance.now() + TRY_MS; performance.now() < until;) {
    const answer = await read(api.org.webhooks[":id"].deliveries.$get({ param: { org, id: hook }, query }));
    const found = answer.value.deliveries.find((one) => one.id === id);
    if (found === undefined) return null;
    if (found.state !== "waiting" || found.attempts > 0) return found;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return null;
}
