/** What the tests of webhooks share: receivers on loopback, and the delivery over a database of its own. */
import { openDatabase } from "../../db/open.ts";
import type { Database } from "../../db/database.ts";
import { deliveryPage, type DeliveryRow } from "../../db/stores/deliveries.ts";
import { insertOrg, type Org } from "../../db/stores/organizations.ts";
import { webhookById, type WebhookFormat, type WebhookRow } from "../../db/stores/webhooks.ts";
import { createAudit } from "../../server/audit/write.ts";
import type { EventKind } from "../../server/events/kinds.ts";
import { raise } from "../../server/events/raise.ts";
import type { Asker } from "../../server/identity/callers.ts";
import {
  createSecretBox,
  generateSecretKey,
  parseSecretKeys,
  type SecretBox,
} from "../../server/identity/secret_box.ts";
import { createLog } from "../../server/log.ts";
import { createDeliverer, type Deliverer } from "../../server/webhooks/deliver.ts";
import { addWebhook, type ManageDeps } from "../../server/webhooks/manage.ts";
import { createPost, type Post } from "../../server/webhooks/post.ts";
import { type TestClock, testClock } from "../support/world.ts";

export interface Received {
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** An HTTP server on loopback that keeps what it was sent. */
export interface Receiver {
  readonly origin: string;
  readonly port: number;
  readonly received: Received[];
  /** How it answers from now on; a promise that never ends stands for a receiver that hangs. */
  answer(make: (request: Received) => Response | Promise<Response>): void;
}

const OK = () => new Response(null, { status: 204 });

/** Never resolves while the receiver lives. */
export const HANG = (): Promise<Response> => new Promise(() => {});

export async function withReceiver(use: (receiver: Receiver) => Promise<void>, tls?: Deno.TlsCertifiedKeyPem) {
  const received: Received[] = [];
  let make: (request: Received) => Response | Promise<Response> = OK;
  let end = () => {};
  const ended = new Promise<Response>((resolve) => end = () => resolve(OK()));
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {}, ...tls },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const one = { path: pathname + search, headers: request.headers, body: await request.text() };
      received.push(one);
      return await Promise.race([make(one), ended]);
    },
  );
  const { port } = server.addr as Deno.NetAddr;
  try {
    await use({ origin: `http://127.0.0.1:${port}`, port, received, answer: (next) => void (make = next) });
  } finally {
    end();
    await server.shutdown();
  }
}

/** A listener that answers each connection with raw bytes and closes it; `null` holds it open and says nothing. */
export async function withRawServer(bytes: string | null, use: (origin: string) => Promise<void>): Promise<void> {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const held: Deno.Conn[] = [];
  const serving = (async () => {
    for await (const conn of listener) {
      if (bytes === null) {
        held.push(conn);
        continue;
      }
      await conn.read(new Uint8Array(65_536));
      await conn.write(new TextEncoder().encode(bytes));
      conn.close();
    }
  })();
  try {
    await use(`http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`);
  } finally {
    listener.close();
    for (const conn of held) conn.close();
    await serving;
  }
}

export const ASKER: Asker = { caller: { kind: "operator", account: "test" }, address: null, action: "TEST" };

export interface Kit {
  readonly db: Database;
  readonly clock: TestClock;
  readonly box: SecretBox;
  readonly org: Org;
  readonly deliverer: Deliverer;
  readonly logLines: string[];
  readonly manage: ManageDeps;
  /** Adds a webhook; its signing secret comes with it. */
  add(url: string, more?: { format?: WebhookFormat; kinds?: EventKind[]; name?: string }): {
    id: number;
    secret: string | null;
  };
  raise(kind?: EventKind, more?: { subject?: string; actor?: string; details?: Record<string, unknown> }): void;
  hook(id: number): WebhookRow;
  /** Oldest first. */
  deliveries(id: number): DeliveryRow[];
  /** One turn, and everything that it started. */
  turn(): Promise<void>;
  /** Another program over the same database, as after a restart. */
  restarted(post?: Post): Deliverer;
}

/** The delivery over a database in memory; the events of the set-up itself go to nobody. */
export async function withKit(
  use: (kit: Kit) => Promise<void>,
  options: { readonly testDiscord?: string; readonly limitMs?: number; readonly post?: (inner: Post) => Post } = {},
): Promise<void> {
  const db = openDatabase(":memory:");
  const clock = testClock();
  const logLines: string[] = [];
  const log = createLog((line) => void logLines.push(line), clock.now);
  const audit = createAudit(db, clock, log);
  const box = createSecretBox(parseSecretKeys(generateSecretKey()));
  const org = insertOrg(db, {
    prefix: "org",
    name: "Test Society",
    guildId: "900000000000000001",
    officerRoleIds: [],
    memberRoleIds: [],
    podImage: null,
  }, clock.now());
  const plain = createPost({
    resolve: () => Promise.resolve(["127.0.0.1"]),
    allowPrivate: true,
    ...(options.limitMs === undefined ? {} : { limitMs: options.limitMs }),
  });
  const create = (post: Post) =>
    createDeliverer({ db, clock, log, audit, box, post, version: "0.0.0-test", random: () => 0.5 });
  const deliverers = [create(options.post?.(plain) ?? plain)];
  const deliverer = deliverers[0]!;
  const manage: ManageDeps = {
    db,
    clock,
    audit,
    box,
    urlRules: { allowPrivate: true, testDiscord: options.testDiscord ?? null },
  };
  const kit: Kit = {
    db,
    clock,
    box,
    org,
    deliverer,
    logLines,
    manage,
    add(url, { format = "signed", kinds = [], name = "alerts" } = {}) {
      const { hook, secret } = addWebhook(manage, org, ASKER, { name, format, url, kinds });
      db.run("delete from webhook_deliveries");
      return { id: hook.id, secret };
    },
    raise(kind = "pod.started", more = {}) {
      raise(db, { orgId: org.id, kind, runpodId: "k7x2m9", subject: "lab-1", actor: "Ada", ...more }, clock.now());
    },
    hook: (id) => webhookById(db, id)!,
    deliveries: (id) => deliveryPage(db, id, { limit: 500, beforeId: null }).reverse(),
    async turn() {
      deliverer.turn();
      await deliverer.idle();
    },
    restarted(post = plain) {
      const next = create(post);
      deliverers.push(next);
      return next;
    },
  };
  try {
    await use(kit);
  } finally {
    for (const one of deliverers) await one.close();
    db.close();
  }
}

/** A receiver's answer without a body. */
export const status = (code: number, headers: Record<string, string> = {}) => () =>
  new Response(null, { status: code, headers });

/** The states of a webhook's deliveries. */
export const statesOf = (kit: Kit, id: number) => kit.deliveries(id).map((one) => one.state);
