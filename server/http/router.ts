import { Hono } from "hono";
import { auditRoutes } from "../audit/routes.ts";
import { autoStopRoutes } from "../auto_stop/routes.ts";
import { discordRoutes } from "../discord/routes.ts";
import { AppError } from "../errors.ts";
import { eventRoutes } from "../events/routes.ts";
import { fileRoutes } from "../files/routes.ts";
import { transferRoutes } from "../files/transfer_routes.ts";
import { operatorRoutes } from "../identity/operator_routes.ts";
import { orgRoutes } from "../identity/org_routes.ts";
import { tokenRoutes } from "../identity/token_routes.ts";
import { keyRoutes } from "../key_rotation/routes.ts";
import { memberRoutes } from "../pods/member_routes.ts";
import { podRoutes } from "../pods/routes.ts";
import { presenceRoutes } from "../presence/routes.ts";
import { removalRoutes } from "../removal/routes.ts";
import { catalogRoutes } from "../runpod/catalog_routes.ts";
import { spendRoutes } from "../spend/routes.ts";
import { sessionRoutes } from "../schedule/session_routes.ts";
import { scheduleRoutes } from "../schedule/routes.ts";
import { webhookRoutes } from "../webhooks/routes.ts";
import { errorAnswer, onError } from "./answers.ts";
import type { Env } from "./env.ts";
import { arrival, moduleGate } from "./gate.ts";
import { publicRoutes } from "./public_routes.ts";
import { signInRoutes } from "./sign_in_routes.ts";

/** Everything the routes need: the sum of what each feature asks for. */
export type RouteDeps =
  & Parameters<typeof podRoutes>[0]
  & Parameters<typeof fileRoutes>[0]
  & Parameters<typeof memberRoutes>[0]
  & Parameters<typeof sessionRoutes>[0]
  & Parameters<typeof presenceRoutes>[0]
  & Parameters<typeof autoStopRoutes>[0]
  & Parameters<typeof removalRoutes>[0]
  & Parameters<typeof orgRoutes>[0]
  & Parameters<typeof spendRoutes>[0]
  & Parameters<typeof tokenRoutes>[0]
  & Parameters<typeof discordRoutes>[0]
  & Parameters<typeof catalogRoutes>[0]
  & Parameters<typeof auditRoutes>[0]
  & Parameters<typeof eventRoutes>[0]
  & Parameters<typeof webhookRoutes>[0]
  & Parameters<typeof scheduleRoutes>[0]
  & Parameters<typeof operatorRoutes>[0]
  & Parameters<typeof keyRoutes>[0]
  & Parameters<typeof signInRoutes>[0]
  & Parameters<typeof publicRoutes>[0]
  & { readonly trustedProxies: ReadonlySet<string> };

/** The whole HTTP surface. Clients are typed from its type. */
export function buildRouter(deps: RouteDeps) {
  const org = new Hono<Env>()
    .route("/", memberRoutes(deps))
    .route("/", tokenRoutes(deps))
    .route("/", podRoutes(deps))
    .route("/", sessionRoutes(deps))
    .route("/", presenceRoutes(deps))
    .route("/", autoStopRoutes(deps))
    .route("/", removalRoutes(deps))
    .route("/", fileRoutes(deps))
    .route("/", transferRoutes(deps))
    .route("/", orgRoutes(deps))
    .route("/", spendRoutes(deps))
    .route("/", discordRoutes(deps))
    .route("/", catalogRoutes(deps))
    .route("/", auditRoutes(deps))
    .route("/", eventRoutes(deps))
    .route("/", webhookRoutes(deps))
    .route("/", scheduleRoutes(deps));
  const base = new Hono<Env>();
  base.use("*", arrival(deps.trustedProxies));
  base.use("/api/compute/:org/*", moduleGate(deps.db));
  const router = base
    .route("/api/compute", signInRoutes(deps))
    .route("/api/compute/:org", org)
    .route("/api/operator", operatorRoutes(deps))
    .route("/api/operator", keyRoutes(deps))
    .route("/", publicRoutes(deps));

  router.notFound((c) => {
    const allowed = methodsAt(router, c.req.path);
    if (allowed.length === 0) return errorAnswer(c, new AppError("route_not_found", "There is no such route"));
    const answer = errorAnswer(c, new AppError("method_not_allowed", `Method not allowed; use ${allowed.join(", ")}`));
    answer.headers.set("allow", allowed.join(", "));
    return answer;
  });
  router.onError(onError(deps.log));
  return router;
}

export type Router = ReturnType<typeof buildRouter>;

/** The methods that have a handler at a path, for the 405 answer. Hono answers HEAD wherever there is a GET. */
function methodsAt(router: { readonly routes: readonly { method: string; path: string }[] }, path: string): string[] {
  const parts = path.split("/");
  const fits = (pattern: string) => {
    const wanted = pattern.split("/");
    return wanted.length === parts.length &&
      wanted.every((part, index) => part.startsWith(":") ? parts[index] !== "" : part === parts[index]);
  };
  const found = router.routes.filter((route) => route.method !== "ALL" && fits(route.path)).map((route) =>
    route.method
  );
  return [...new Set(found.includes("GET") ? [...found, "HEAD"] : found)].sort();
}
