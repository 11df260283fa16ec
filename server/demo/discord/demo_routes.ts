import { z } from "zod";
import { AppError } from "../../errors.ts";
import { needsPerson, outcomeLocation } from "./authorize_outcome.ts";
import { checkAuthorize } from "./authorize_request.ts";
import { CATALOGUE, FAULTS } from "./fault_catalogue.ts";
import type { FaultSwitch } from "./faults.ts";
import { notLocal } from "./local_only.ts";
import { parsed } from "./parsed.ts";
import type { Parts } from "./parts.ts";
import { ROUTE_NAMES } from "./route_table.ts";
import { sameSecret } from "./secrets.ts";
import type { State } from "./state.ts";
import type { WorldChange } from "./world_schema.ts";

type DemoRoute = (body: unknown, parts: Parts) => unknown;

const outcomes = ["approve", ...Object.keys(FAULTS.D2.variants)] as ["approve", ...(keyof typeof FAULTS.D2.variants)[]];
const signInSchema = z.strictObject({
  authorize_url: z.string().max(4_000),
  user_id: z.string().optional(),
  outcome: z.enum(outcomes).default("approve"),
});

/** The routes under `/_demo`, by path and method. */
const ROUTES: Record<string, Record<string, DemoRoute>> = {
  "/_demo/faults": {
    GET: (_body, parts) => faultLists(parts),
    POST: (body, parts) => {
      parts.faults.set(body as FaultSwitch);
      return { on: parts.faults.list() };
    },
    DELETE: (_body, parts) => {
      parts.faults.clear();
      return { on: [] };
    },
  },
  "/_demo/requests": {
    GET: (_body, { recorder }) => ({
      requests: recorder.list(),
      dropped: recorder.dropped(),
      invalid_answers: recorder.invalidAnswers(),
    }),
    DELETE: (_body, { recorder }) => {
      recorder.clear();
      return { requests: [] };
    },
  },
  "/_demo/world": {
    GET: (_body, parts) => worldJson(parts),
    POST: (body, parts) => {
      parts.world.change(body as WorldChange);
      return { changed: (body as WorldChange).action };
    },
  },
  "/_demo/sign-in": { POST: signIn },
};

/**
 * Answers a request under `/_demo`: the handles that a script or a demo's user turns. All of them need the header
 * `X-Demo-Secret`, and come from this machine without a proxy. Errors are `{error, code}`.
 */
export async function answerDemo(request: Request, url: URL, demoSecret: string, parts: Parts): Promise<Response> {
  try {
    const foreign = notLocal(request, parts.origins);
    if (foreign) throw new AppError("permission_denied", foreign);
    if (!sameSecret(request.headers.get("X-Demo-Secret") ?? "", demoSecret)) {
      throw new AppError("token_invalid", "The header X-Demo-Secret is missing or wrong.");
    }
    const methods = Object.hasOwn(ROUTES, url.pathname) ? ROUTES[url.pathname]! : undefined;
    if (!methods) {
      throw new AppError("route_not_found", `There is no such route. Known are ${Object.keys(ROUTES).join(", ")}.`);
    }
    const route = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
    if (!route) throw new AppError("method_not_allowed", `Allowed are ${Object.keys(methods).join(", ")}.`);
    return Response.json(route(request.method === "POST" ? await readJson(request) : undefined, parts));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return Response.json({ error: error.message, code: error.code }, { status: error.status });
  }
}

async function readJson(request: Request): Promise<unknown> {
  const text = await request.text();
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new AppError("invalid_request", "The body is not JSON.");
    throw error;
  }
}

function faultLists(parts: Parts) {
  const known = Object.entries(CATALOGUE).map(([fault, info]) => ({
    fault,
    about: info.about,
    takes_on: info.byRoute ?? false,
    variants: Object.entries(info.variants).map(([variant, { about, ms }]) => ({ variant, about, ms: ms ?? null })),
  }));
  return { known, on: parts.faults.list(), routes: ROUTE_NAMES };
}

function worldJson({ world, application }: Parts) {
  const truth: State = world.truth();
  return {
    application: { id: application.clientId, name: application.name, redirect_uris: application.redirectUris },
    intent: truth.intent,
    users: [...truth.users.values()],
    guilds: [...truth.guilds.values()].map((guild) => ({
      ...guild,
      bot: guild.members.has(world.botId),
      roles: [...guild.roles.values()],
      members: [...guild.members.values()],
    })),
  };
}

/** What a browser does between the authorize address and the application, in one step and without the page. */
function signIn(body: unknown, parts: Parts): { location: string } {
  const { authorize_url, user_id, outcome } = parsed(signInSchema, body);
  const url = URL.parse(authorize_url);
  const own = url && (parts.origins.size === 0 || parts.origins.has(url.origin));
  if (!own || url.pathname !== "/oauth2/authorize") {
    throw new AppError("invalid_request", "Field authorize_url: it is not the authorize page of this server.");
  }
  const checked = checkAuthorize(url.searchParams, parts.application);
  if (checked.kind === "page") throw new AppError("invalid_request", `Field authorize_url: ${checked.sentence}`);
  if (checked.kind === "redirect") return { location: checked.location };
  const user = parts.world.visible().users.get(user_id ?? "");
  if (needsPerson(outcome) && (!user || user.bot)) {
    throw new AppError("invalid_request", "Field user_id: it is not the id of a person here.");
  }
  const forced = outcome === "approve" ? parts.faults.take("D2")?.variant : undefined;
  return { location: outcomeLocation(forced ?? outcome, checked.request, user?.id ?? "", parts.grants) };
}
