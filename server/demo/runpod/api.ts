/** One API request from the edge to the answer: edge, size, key, rate limit, route, and the faults of any route. */
import { type Answer, edgePage, json, problem, Refusal } from "./answers.ts";
import { type Context, faultsOf } from "./context.ts";
import type { Call } from "./faults.ts";
import { graphql } from "./graphql.ts";
import { settle } from "./life.ts";
import { countRequest, exceededAnswer, limitedAnswer, limitHeaders } from "./limits.ts";
import { type Incoming, record } from "./requests.ts";
import { findRoute, openapi } from "./router.ts";
import { isObject } from "./schema_check.ts";
import type { KeyGrant, Rights, World } from "./state.ts";

/** Largest body in bytes; one more gives 413. */
const MOST_BYTES = 102_400;

/** Agents that HTTP libraries send by themselves: the edge in front of RunPod refuses them. */
const DEFAULT_AGENT = /^(deno|node|undici|axios|python-urllib|python-requests|go-http-client|java|okhttp)\b/i;

/** Answers a request outside `/_demo` and records it. */
export function answerApi(world: World, incoming: Incoming): Answer {
  settle(world);
  const entry = record(world, incoming);
  const call = callOf(incoming, entry.body);
  const fault = faultsOf(world, call);
  const answer = refusedAtTheEdge(incoming, fault) ?? spoiled(judged(world, incoming, entry.body, call, fault), fault);
  const kind = answer.connection?.kind;
  entry.status = kind === "cut" || kind === "hang" ? null : answer.status;
  return answer;
}

function callOf({ method, url }: Incoming, body: unknown): Call {
  const path = url.pathname.replace(/^\/v2(?=\/)/, "");
  if (!isObject(body)) return { method, path };
  const text = (value: unknown) => typeof value === "string" ? value : undefined;
  const hardware = [body["gpu"], body["cpu"]].find(isObject);
  return {
    method,
    path,
    action: path.endsWith("/action") ? text(body["action"]) : undefined,
    hardware: text(hardware?.["id"]),
    cloud: text(body["cloud"]) ?? "SECURE",
  };
}

/** F32 and F34, as far as the request is not carried out, and the agent rule. */
function refusedAtTheEdge({ headers }: Incoming, fault: Context["fault"]): Answer | null {
  if (fault("F34", "refused-like")) return { ...problem(502, "unreachable"), connection: { kind: "cut" } };
  if (fault("F34", "410")) return problem(410, "This version of the API has been retired.");
  const agent = headers.get("user-agent") ?? "";
  if (fault("F32", "agent-403") || agent === "" || DEFAULT_AGENT.test(agent)) {
    return edgePage(403, "Access denied", "1010");
  }
  if (fault("F32", "html-502")) return edgePage(502, "502: Bad gateway", "502");
  if (fault("F32", "empty-503")) return { status: 503, headers: {}, body: "" };
  return null;
}

/** F32 to F34 on a request that was carried out: its answer is replaced, late or cut. */
function spoiled(answer: Answer, fault: Context["fault"]): Answer {
  if (fault("F32", "html-524")) return edgePage(524, "524: A timeout occurred", "524");
  if (fault("F33", "not-json")) {
    return { status: 200, headers: { "content-type": "application/json" }, body: '{"pods": [{"id": ' };
  }
  if (fault("F33", "html-200")) return { ...edgePage(200, "RunPod", "0"), status: 200 };
  const slow = fault("F34", "slow");
  if (slow) return { ...answer, connection: { kind: "slow", ms: slow.ms ?? 60_000 } };
  return fault("F34", "cut") ? { ...answer, connection: { kind: "cut-body" } } : answer;
}

function judged(world: World, incoming: Incoming, body: unknown, call: Call, fault: Context["fault"]): Answer {
  const { pathname } = incoming.url;
  if (pathname === "/v2/openapi.json" && incoming.method === "GET") return json(openapi);
  if (pathname !== "/graphql" && !pathname.startsWith("/v2/")) return problem(404, "resource not found");
  if (incoming.body.length > MOST_BYTES) return problem(413, `request body exceeds ${MOST_BYTES} bytes`);
  const grant = grantOf(world, incoming.headers);
  if (!grant || fault("F1", "401")) {
    return pathname === "/graphql"
      ? json({ errors: [{ message: "Unauthorized" }] }, 401)
      : problem(401, "missing bearer token", { headers: { "www-authenticate": "Bearer" } });
  }
  const { windows, exceeded } = countRequest(world, grant.account);
  const headers = fault("F7", "absent") ? {} : limitHeaders(fault("F7", "one-window") ? windows.slice(0, 1) : windows);
  const limited = fault("F31");
  const answer = limited
    ? limitedAnswer(limited, windows)
    : exceeded
    ? exceededAnswer(exceeded)
    : routed(world, grant, incoming, body, call, fault);
  return { ...answer, headers: limited ? answer.headers : { ...headers, ...answer.headers } };
}

function grantOf(world: World, headers: Headers): { rights: Rights; account: string } | null {
  const key = /^Bearer (\S+)$/.exec(headers.get("authorization") ?? "")?.[1];
  if (key === undefined) return null;
  if (world.podKeys.has(key)) return { rights: "none", account: "main" };
  const grant: KeyGrant | undefined = Object.hasOwn(world.apiKeys, key) ? world.apiKeys[key] : undefined;
  if (grant === undefined) return null;
  return typeof grant === "string" ? { rights: grant, account: "main" } : grant;
}

function routed(
  world: World,
  grant: { rights: Rights; account: string },
  incoming: Incoming,
  body: unknown,
  call: Call,
  fault: Context["fault"],
): Answer {
  const { method, url } = incoming;
  const reads = method === "GET" || url.pathname === "/graphql";
  const allowed = grant.rights === "full" || (grant.rights === "read" && reads);
  if (!allowed || fault("F1", "403")) return problem(403, "access denied");
  const odd = fault("F33", "error") ?? fault("F33", "message");
  if (odd) return json({ [odd.variant]: "Something went wrong. Please try again later." }, odd.status ?? 500);
  if (url.pathname === "/graphql") {
    return method === "POST" ? graphql(world, grant.account, body) : notAllowed(["POST"]);
  }
  if (call.path === "/openapi.json") return notAllowed(["GET"]);
  const route = findRoute(call.path);
  if (!route) return problem(404, "resource not found");
  const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
  if (!handler) return notAllowed(Object.keys(route.methods));
  if (typeof body === "string" || (incoming.body.length > 0 && !isJsonType(incoming.headers))) {
    return problem(400, "request could not be processed");
  }
  const context: Context = {
    world,
    account: grant.account,
    call,
    query: url.searchParams,
    body,
    params: route.params,
    fault,
  };
  try {
    return handler(context);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function notAllowed(methods: readonly string[]): Answer {
  return problem(405, "The requested method is not allowed for this path.", { headers: { allow: methods.join(", ") } });
}

function isJsonType(headers: Headers): boolean {
  return /^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "");
}
