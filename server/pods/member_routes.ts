import { Hono, type MiddlewareHandler } from "hono";
import { z } from "zod";
import type { Database } from "../../db/database.ts";
import { createSharedCommits } from "../../db/shared_commits.ts";
import { allOrgs, type Org } from "../../db/stores/organizations.ts";
import { livePods } from "../../db/stores/pods.ts";
import { AppError } from "../errors.ts";
import { askerOf, personAskerOf } from "../http/asker.ts";
import { json, query } from "../http/body.ts";
import { type Env, orgOf, personOf } from "../http/env.ts";
import type { Guards, Meanwhile } from "../http/guards.ts";
import type { Limits } from "../http/limits.ts";
import type { Caller } from "../identity/callers.ts";
import { lazily } from "../lazily.ts";
import { describeError } from "../log.ts";
import type { PodDeps } from "./deps.ts";
import { findPod } from "./list.ts";
import { ME_PODS_AGE_MS, ME_PODS_RUNPOD_MS, myPods } from "./me.ts";
import type { PodReader } from "./pod_reader.ts";
import type { Reach } from "./reach.ts";
import type { Refresher } from "./refresh.ts";
import type { PodSetup } from "../setup/setup.ts";
import { sshConfig } from "./ssh_config.ts";

const NO_KEY = "A valid SSH public key is required";
const connectSchema = z.looseObject({ public_key: z.unknown().optional() });
const stateSchema = z.looseObject({
  state: z.enum(["running", "all"], "state must be running or all").default("running"),
});
const sshConfigSchema = z.looseObject({
  serial: z.string().regex(/^\d{1,19}$/, "serial must be a certificate's serial").optional(),
});

/** Discord's share of the time of an answer; RunPod is asked at the same time. */
const ME_DISCORD_MS = 2_000;
const CONNECT_DISCORD_MS = 3_000;
/** A public key has at most 4096 characters. */
const CONNECT_BODY = 16_384;

/** Member routes, under `/api/compute/<org>/me`. */
export function memberRoutes(
  deps: PodDeps & {
    readonly refresher: Refresher;
    readonly reach: Reach;
    readonly reader: PodReader;
    readonly setup: PodSetup;
    readonly guards: Guards;
    readonly limits: Limits;
  },
) {
  const inBackground = (work: Promise<unknown>) => {
    work.catch((error) => deps.log.error("A read ahead failed", { error: describeError(error) }));
  };
  const readList: Meanwhile = (_c, org) => {
    // Whether the caller may see any of them is not known yet; without pods nobody needs RunPod.
    if (deps.refresher.recent(org, ME_PODS_AGE_MS) !== null || livePods(deps.db, org.id).length === 0) return;
    inBackground(deps.refresher.refresh(org, { maxAgeMs: ME_PODS_AGE_MS, timeoutMs: ME_PODS_RUNPOD_MS }));
  };
  const readOne: Meanwhile = (c, org) => {
    const id = c.req.param("id") ?? "";
    try {
      if (deps.runpod.hasKey(org)) inBackground(deps.reader.read(org, findPod(deps, org, id), 1));
    } catch (error) {
      if (!(error instanceof AppError)) throw error; // An unknown pod is refused later, after the membership check.
    }
  };
  /** Before the body is read: what is refused must be cheap. */
  const takeConnect: MiddlewareHandler<Env> = (c, next) => {
    deps.limits.connect.take(personOf(c).discordId);
    return next();
  };
  const { guards } = deps;
  const connecting = { ...deps, commits: createSharedCommits(deps.db) };
  /** What makes certificates is loaded at the first connect: it is a good part of the start and of the memory. */
  const loadConnect = lazily(async () => {
    const [{ connect }, { createKeyReader }] = await Promise.all([
      import("./connect.ts"),
      import("../ssh/key_reader.ts"),
    ]);
    return { connect, readKey: createKeyReader() };
  });
  return new Hono<Env>()
    .get(
      "/me/pods",
      guards.member({ discordMs: ME_DISCORD_MS, meanwhile: readList }),
      query(stateSchema),
      async (c) => {
        const options = { all: c.req.valid("query").state === "all", receivedAt: c.get("receivedAt") };
        return c.json(await myPods(deps, orgOf(c), personOf(c), options));
      },
    )
    .post(
      "/me/pods/:id/connect",
      guards.member({ discordMs: CONNECT_DISCORD_MS, meanwhile: readOne }),
      takeConnect,
      json(connectSchema, { notAnObject: NO_KEY, notJson: NO_KEY, maxBytes: CONNECT_BODY }),
      async (c) => {
        const asker = personAskerOf(c);
        const { connect, readKey } = await loadConnect();
        const key = readKey(c.req.valid("json").public_key);
        return c.json(await connect(connecting, orgOf(c), asker, c.req.param("id"), key, c.get("receivedAt")));
      },
    )
    .get(
      "/me/pods/:id/ssh-config",
      guards.member({ discordMs: ME_DISCORD_MS, meanwhile: readList }),
      query(sshConfigSchema),
      async (c) => c.json(await sshConfig(deps, orgOf(c), personOf(c), c.req.param("id"), c.req.valid("query").serial)),
    )
    .get("/me", guards.signedIn, (c) => {
      const { caller } = askerOf(c);
      const org = orgOf(c);
      return c.json({
        org: org.prefix,
        org_name: org.name,
        orgs: orgsOf(deps.db, org, caller).map(({ prefix, name }) => ({ prefix, name })),
        kind: caller.kind,
        discord_id: caller.kind === "operator" ? null : caller.discordId,
        name: caller.kind === "operator" ? caller.account : caller.name,
        is_officer: caller.kind === "operator" || caller.isOfficer,
        is_superadmin: caller.kind !== "operator" && caller.isSuperadmin,
      });
    });
}

/** The orgs a caller can turn to with the same credential: all of them for the operator and superadmins, else this one. */
function orgsOf(db: Database, org: Org, caller: Caller): Org[] {
  const mayAll = caller.kind === "operator" || (caller.isSuperadmin && caller.via === "session");
  return mayAll ? allOrgs(db).filter((one) => one.isActive) : [org];
}
