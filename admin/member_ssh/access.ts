import { z } from "zod";
import type { Clock } from "../../server/clock.ts";
import { MINUTE } from "../../server/clock.ts";
import { AppError, asClause } from "../../server/errors.ts";
import { type Api, read } from "../client/api.ts";
import { objectIn, Refusal } from "../client/refusal.ts";
import { certificateOf, type KeptCertificate, readCertificateFile } from "./certificate_file.ts";
import type { PodPlaces } from "./places.ts";
import { readIfThere, replaceFile, withLock } from "./private_file.ts";

/** A certificate that ends sooner is renewed: a session that begins now should not be the last one. */
const RENEW_BEFORE_MS = 10 * MINUTE;

const addressSchema = z.object({
  host: z.string().regex(/^[A-Za-z0-9.:-]{1,253}$/),
  port: z.int().min(1).max(65_535),
});
const stateSchema = addressSchema.extend({ start: z.string(), checked_at: z.number() });
type State = z.output<typeof stateSchema>;

const HOST_KEY = /^\S+ ([a-z0-9@.-]{1,64} [A-Za-z0-9+/]{16,8192}={0,2})$/;
const linesSchema = z.array(z.string().regex(HOST_KEY)).max(20);
const seenSchema = addressSchema.extend({ start: z.string(), known_hosts: linesSchema, certificate: z.string() });
const connectSchema = z.object({
  ssh_info: addressSchema.extend({ certificate: z.string() }),
  start: z.string(),
  known_hosts: linesSchema,
});

/** Refusals that are an answer. After any other failure what is kept may still lead in. */
const ANSWERS: ReadonlySet<string | undefined> = new Set([
  "pod_not_running",
  "ssh_address_pending",
  "pod_not_accessible",
  "pod_not_found",
  "not_a_member",
  "org_not_found",
  "module_off",
  "host_key_changed",
]);

export interface AccessDeps {
  readonly clock: Clock;
  readonly org: string;
  readonly podId: string;
  readonly places: PodPlaces;
  /** The member's public key, as a line. */
  readonly publicKey: string;
  /** The name under which ssh looks the host key up. */
  readonly hostKeyAlias: string;
  /** Opens the way to the server. Throws an `AppError` when there is no token. */
  openApi(): Promise<Api>;
}

export interface Access {
  readonly host: string;
  readonly port: number;
  /** Why this is what was known before; null when the server was heard. */
  readonly warning: string | null;
}

/**
 * Makes sure that certificate, host key and address on disk are those of the pod's present start: asks the server unless
 * it was asked within `maxAgeMs`, and gets a new certificate when there is none, it ends within 10 minutes, was revoked or
 * belongs to another start (or with `renew`). One process at a time does this for a pod; the next finds it done. When the
 * server does not answer, what is kept is used as long as its certificate lasts. Throws `Refusal` and `AppError`.
 */
export async function renewAccess(
  deps: AccessDeps,
  options: { readonly maxAgeMs: number; readonly renew?: boolean },
): Promise<Access> {
  return await withLock(deps.places.lock, async () => {
    const state = await readState(deps.places.state);
    const certificate = await readCertificateFile(deps.places.certificate, deps.publicKey);
    const now = deps.clock.now();
    const left = certificate === null ? 0 : certificate.until - now;
    const lasts = state !== null && left > RENEW_BEFORE_MS && !options.renew;
    if (lasts && now >= state.checked_at && now - state.checked_at < options.maxAgeMs) return accessOf(state, null);
    try {
      const api = await deps.openApi();
      const same = lasts ? await confirmed(deps, api, state, certificate!) : null;
      return accessOf(same ?? await renewed(deps, api, state), null);
    } catch (error) {
      if (state === null || left <= 0 || !mayGoOn(error)) throw error;
      return accessOf(state, `${asClause(error.message)}. Trying the last known address.`);
    }
  });
}

const accessOf = ({ host, port }: State, warning: string | null): Access => ({ host, port, warning });

function mayGoOn(error: unknown): error is Error {
  return error instanceof AppError || (error instanceof Refusal && !ANSWERS.has(error.code));
}

async function readState(path: string): Promise<State | null> {
  return stateSchema.safeParse(objectIn(await readIfThere(path) ?? "")).data ?? null;
}

/** What is kept, when the server says that it is still right; null when a new certificate is needed. */
async function confirmed(deps: AccessDeps, api: Api, state: State, held: KeptCertificate): Promise<State | null> {
  const param = { org: deps.org, id: deps.podId };
  const call = api.org.me.pods[":id"]["ssh-config"].$get({ param, query: { serial: held.serial } });
  const seen = checked(seenSchema, (await read(call)).value);
  if (seen.start !== state.start || seen.certificate !== "usable") return null;
  return await keep(deps, state, seen, seen);
}

async function renewed(deps: AccessDeps, api: Api, before: State | null): Promise<State> {
  const call = api.org.me.pods[":id"].connect.$post({
    param: { org: deps.org, id: deps.podId },
    json: { public_key: deps.publicKey },
  });
  const answer = checked(connectSchema, (await read(call)).value);
  const { certificate } = answer.ssh_info;
  if (certificateOf(certificate, deps.publicKey) === null) {
    throw new Refusal("The server gave a certificate that is not one for this key", 6);
  }
  await replaceFile(deps.places.certificate, `${certificate.trim()}\n`);
  return await keep(deps, before, answer.ssh_info, answer);
}

/** Writes host keys and state, the state last: what is cut off in between is done again. */
async function keep(
  deps: AccessDeps,
  before: State | null,
  { host, port }: { readonly host: string; readonly port: number },
  { start, known_hosts }: { readonly start: string; readonly known_hosts: readonly string[] },
): Promise<State> {
  const state = { host, port, start, checked_at: deps.clock.now() };
  // Without lines from the server, the key that ssh itself kept stays for as long as this start.
  if (known_hosts.length > 0 || before?.start !== start) {
    const text = known_hosts.map((line) => `${line.replace(HOST_KEY, `${deps.hostKeyAlias} $1`)}\n`).join("");
    if (text !== await readIfThere(deps.places.knownHosts)) await replaceFile(deps.places.knownHosts, text);
  }
  await replaceFile(deps.places.state, `${JSON.stringify(state)}\n`);
  return state;
}

function checked<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Refusal("The server's answer is not one that this version of orgpods understands", 6);
}
