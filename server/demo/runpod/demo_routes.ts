/**
 * `/_demo/…`: the controls of the stand-in. They answer only a caller on this machine who knows the secret of this run;
 * a page in a browser (foreign Host) and a proxy (forwarded headers) are refused.
 */
import { timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { AppError, shown } from "../../errors.ts";
import { type Answer, json, noContent } from "./answers.ts";
import { FAULTS } from "./fault_table.ts";
import { settle } from "./life.ts";
import { amountsBetween, balanceOf, runningSeconds, setBalance, spendRate } from "./meter.ts";
import { insideView, type Outside } from "./outside.ts";
import { type Incoming, redacted } from "./requests.ts";
import { accountOf, type World } from "./state.ts";

const faultBody = z.strictObject({
  fault: z.string(),
  variant: z.string().optional(),
  times: z.int().min(0).max(1_000_000).optional(),
  on: z.string().optional(),
  action: z.enum(["start", "stop", "restart", "terminate"]).optional(),
  ms: z.number().min(0).max(86_400_000).optional(),
  gpu: z.string().optional(),
  cloud: z.enum(["SECURE", "COMMUNITY"]).optional(),
  status: z.int().min(400).max(599).optional(),
  off: z.boolean().optional(),
});

const id = z.string();
const podsBody = z.discriminatedUnion("action", [
  z.strictObject({
    action: z.enum(["delete_outside", "migrate", "stop_outside", "start_outside", "restart_outside", "move_port"]),
    id,
  }),
  z.strictObject({
    action: z.literal("add_foreign"),
    name: z.string().min(1).optional(),
    account: z.string().optional(),
    cpu: z.boolean().optional(),
    cluster: z.boolean().optional(),
    stopped: z.boolean().optional(),
    env: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ action: z.literal("set_status"), id, status: z.string().nullable() }),
  z.strictObject({ action: z.literal("lock"), id, locked: z.boolean().default(true) }),
  z.strictObject({
    action: z.literal("set_use"),
    id,
    gpu_util: z.number().nullable().optional(),
    cpu_util: z.number().nullable().optional(),
  }),
]);

const meterBody = z.strictObject({ balance: z.number(), account: z.string().default("main") });

type DemoHandler = (world: World, outside: Outside, body: unknown) => Answer;

const ROUTES: Readonly<Record<string, Readonly<Record<string, DemoHandler>>>> = {
  "/_demo/faults": {
    GET: (world) => json({ faults: FAULTS, on: world.faults.active() }),
    POST: switchFault,
    DELETE: (world) => {
      world.faults.clear();
      return noContent();
    },
  },
  "/_demo/pods": {
    GET: (world, outside) => json({ pods: outside.list().map((pod) => insideView(world, pod)) }),
    POST: actOutside,
  },
  "/_demo/requests": {
    GET: (world) => json({ requests: world.requests.map(redacted) }),
    DELETE: (world) => {
      world.requests.length = 0;
      return noContent();
    },
  },
  "/_demo/meter": { GET: showMeter, POST: changeMeter },
};

/** Answers a request to `/_demo/…`; refusals are `{error, code}`. */
export function answerDemo(world: World, outside: Outside, incoming: Incoming): Answer {
  try {
    checkCaller(world, incoming);
    const methods = Object.hasOwn(ROUTES, incoming.url.pathname) ? ROUTES[incoming.url.pathname] : undefined;
    if (!methods) throw new AppError("route_not_found", `No such route: ${shown(incoming.url.pathname)}`);
    const handler = Object.hasOwn(methods, incoming.method) ? methods[incoming.method] : undefined;
    if (!handler) {
      return json({ error: "Method not allowed", code: "method_not_allowed" }, 405, {
        allow: Object.keys(methods).join(),
      });
    }
    settle(world);
    return handler(world, outside, bodyOf(incoming));
  } catch (error) {
    if (error instanceof AppError) return json({ error: error.message, code: error.code }, error.status);
    throw error;
  }
}

function checkCaller(world: World, { url, headers }: Incoming): void {
  const host = headers.get("host") ?? url.host;
  const match = /^(?:127\.0\.0\.1|localhost)(?::(\d+))?$/.exec(host);
  const own = match && (world.portsListening.size === 0 || world.portsListening.has(Number(match[1])));
  if (!own) throw new AppError("permission_denied", `Host is not this stand-in's own: ${shown(host)}`);
  const forwarded = [...headers.keys()].find((name) => name === "forwarded" || name.startsWith("x-forwarded-"));
  if (forwarded) throw new AppError("permission_denied", `Header ${forwarded} is refused: no proxy may stand in front`);
  const secret = new TextEncoder().encode(headers.get("x-demo-secret") ?? "");
  const wanted = new TextEncoder().encode(world.demoSecret);
  if (secret.length !== wanted.length || !timingSafeEqual(secret, wanted)) {
    throw new AppError("sign_in_required", "Header X-Demo-Secret must carry the secret of this run");
  }
}

function bodyOf({ body }: Incoming): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch (error) {
    if (error instanceof SyntaxError) throw new AppError("invalid_request", "The body must be JSON", { cause: error });
    throw error;
  }
}

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const field = issue.path.length > 0 ? `Field ${issue.path.join(".")}` : "The body";
  throw new AppError("invalid_request", `${field} is not valid: ${issue.message}`);
}

function switchFault(world: World, _outside: Outside, body: unknown): Answer {
  const { off, ...spec } = parse(faultBody, body);
  if (off) world.faults.off(spec.fault);
  else world.faults.on(spec);
  return json({ on: world.faults.active() });
}

function actOutside(world: World, outside: Outside, body: unknown): Answer {
  const wanted = parse(podsBody, body);
  if (wanted.action === "add_foreign") return json({ pod: insideView(world, outside.addForeign(wanted)) }, 201);
  if (wanted.action === "migrate") return json({ pod: insideView(world, outside.migrate(wanted.id)) });
  const pod = outside.get(wanted.id);
  if (wanted.action === "set_status") outside.setStatus(wanted.id, wanted.status);
  else if (wanted.action === "lock") outside.lock(wanted.id, wanted.locked);
  else if (wanted.action === "set_use") outside.setUse(wanted.id, wanted);
  else if (wanted.action === "delete_outside") outside.deleteOutside(wanted.id);
  else if (wanted.action === "stop_outside") outside.stop(wanted.id);
  else if (wanted.action === "start_outside") outside.start(wanted.id);
  else if (wanted.action === "restart_outside") outside.restart(wanted.id);
  else outside.movePort(wanted.id);
  return json({ pod: insideView(world, pod) });
}

function showMeter(world: World): Answer {
  const now = world.clock.now();
  const accounts = [...world.accounts.keys()].map((name) => ({
    account: name,
    balance: balanceOf(world, name),
    spend_per_hour: spendRate(world, name),
  }));
  const pods = [...world.terminated, ...world.pods.values()].map((pod) => ({
    id: pod.id,
    name: pod.name,
    account: pod.account,
    running_seconds: runningSeconds(pod, now),
    ...amountsBetween(pod, 0, now, now),
  }));
  return json({ accounts, pods });
}

function changeMeter(world: World, _outside: Outside, body: unknown): Answer {
  const { balance, account } = parse(meterBody, body);
  accountOf(world, account);
  setBalance(world, account, balance);
  settle(world);
  return showMeter(world);
}
