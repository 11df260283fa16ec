import { Hono } from "hono";
import { z } from "zod";
import { type SessionRow, sessionsOfOrg, sessionsOfPod } from "../../db/stores/sessions.ts";
import { wholeText } from "../audit/routes.ts";
import { DAY, isoTime } from "../clock.ts";
import { AppError } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import { json, query } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { findPod } from "../pods/list.ts";
import { removeSessions } from "./remove.ts";
import { extendSchema, newSessionSchema, NO_CHANGE, NO_SESSION, sessionChangeSchema, timeOf } from "./session_rules.ts";
import { sessionView } from "./session_view.ts";
import { addSessions, changeSession, extendSession, type SessionDeps, sessionOf } from "./sessions.ts";

const STATES = ["scheduled", "starting", "running", "done", "missed", "failed"] as const;
const LIMIT = "limit must be a whole number from 1 to 500";

const podPage = z.looseObject({
  limit: wholeText(1, 500, LIMIT).optional(),
  before: wholeText(1, Number.MAX_SAFE_INTEGER, "before must be the id of a session").optional(),
});
const orgPage = z.looseObject({
  from: z.string().optional(),
  to: z.string().optional(),
  state: z.enum(STATES, `state must be one of ${STATES.join(", ")}`).optional(),
  limit: wholeText(1, 500, LIMIT).default(100),
});

const removeQuery = z.looseObject({
  series: z.enum(["true", "false"], "series must be true or false").optional(),
});

/** How far the sessions of an org go back when nobody says. */
const RECENT_MS = DAY;

/** Officer routes about sessions, under `/api/compute/<org>`. */
export function sessionRoutes(deps: SessionDeps & { readonly guards: Guards }) {
  const { officer } = deps.guards;
  const view = ({ pod, session }: { pod: Parameters<typeof sessionView>[1]; session: SessionRow }) => ({
    session: sessionView(session, pod),
  });
  return new Hono<Env>()
    .get("/sessions", officer, query(orgPage), (c) => {
      const wanted = c.req.valid("query");
      const from = wanted.from === undefined ? deps.clock.now() - RECENT_MS : timeInQuery("from", wanted.from);
      const to = wanted.to === undefined ? null : timeInQuery("to", wanted.to);
      const rows = sessionsOfOrg(deps.db, orgOf(c).id, {
        from,
        withUnfinished: wanted.from === undefined,
        to,
        state: wanted.state ?? null,
        limit: wanted.limit + 1,
      });
      return c.json({
        from: isoTime(from),
        to: to === null ? null : isoTime(to),
        /** There are later ones, which the limit cut off. */
        more: rows.length > wanted.limit,
        sessions: rows.slice(0, wanted.limit).map((row) =>
          sessionView(row, { runpod_id: row.runpod_id, name: row.pod_name })
        ),
      });
    })
    .get("/pods/:id/sessions", officer, query(podPage), (c) => {
      const { limit, before } = c.req.valid("query");
      const pod = findPod(deps, orgOf(c), c.req.param("id"));
      const cursor = before === undefined ? null : sessionOf(deps.db, pod, before);
      const rows = sessionsOfPod(deps.db, pod.id, { limit: limit ?? null, before: cursor });
      return c.json({ sessions: rows.map((row) => sessionView(row, pod)) });
    })
    .post("/pods/:id/sessions", officer, json(newSessionSchema, { notAnObject: NO_SESSION }), async (c) => {
      const body = c.req.valid("json");
      const { pod, sessions, warnings } = await addSessions(deps, orgOf(c), askerOf(c), c.req.param("id"), body);
      const views = sessions.map((session) => sessionView(session, pod));
      const first = views[0]!;
      return c.json({
        session: first,
        ...(body.repeat === undefined ? {} : { sessions: views }),
        ...(warnings.length === 0 ? {} : { warnings }),
      }, 201);
    })
    .get("/pods/:id/sessions/:session", officer, (c) => {
      const id = sessionId(c.req.param("session"));
      const pod = findPod(deps, orgOf(c), c.req.param("id"));
      return c.json(view({ pod, session: sessionOf(deps.db, pod, id) }));
    })
    .put("/pods/:id/sessions/:session", officer, json(sessionChangeSchema, { notAnObject: NO_CHANGE }), async (c) => {
      const id = sessionId(c.req.param("session"));
      const body = c.req.valid("json");
      return c.json(view(await changeSession(deps, orgOf(c), askerOf(c), c.req.param("id"), id, body)));
    })
    .delete("/pods/:id/sessions/:session", officer, query(removeQuery), async (c) => {
      const id = sessionId(c.req.param("session"));
      const series = c.req.valid("query").series === "true";
      const ids = await removeSessions(deps, orgOf(c), askerOf(c), c.req.param("id"), id, { series });
      return c.json({ deleted: id, ...(series ? { sessions: ids } : {}) });
    })
    .post(
      "/pods/:id/sessions/:session/extend",
      officer,
      json(extendSchema, { notAnObject: "Send minutes" }),
      async (c) => {
        const id = sessionId(c.req.param("session"));
        const { minutes } = c.req.valid("json");
        return c.json(view(await extendSession(deps, orgOf(c), askerOf(c), c.req.param("id"), id, minutes)));
      },
    );
}

/** The number of a session in a path; anything else is no route (contract section 2.3). */
function sessionId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new AppError("route_not_found", "There is no such route");
  return Number(text);
}

/** In a query an unescaped `+` of an offset arrives as a space. */
function timeInQuery(name: string, text: string): number {
  return timeOf(name, text.replace(/ (?=\d\d:?\d\d$)/, "+"));
}
