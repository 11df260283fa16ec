import { Hono } from "hono";
import { z } from "zod";
import { isUniqueViolation } from "../../db/database.ts";
import {
  allOrgs,
  deleteOrg,
  insertOrg,
  installId,
  type Org,
  orgByPrefix,
  type OrgChange,
  updateOrg,
} from "../../db/stores/organizations.ts";
import { actorOf } from "../audit/write.ts";
import { type Clock, isoTime } from "../clock.ts";
import { AppError, shown } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import { forceQuery, json, query } from "../http/body.ts";
import type { Env } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { imageSchema } from "../pods/create_request.ts";
import { raiseSettingsChanged } from "../events/settings_changed.ts";
import { actorName, type Asker } from "./callers.ts";
import { changedSettings } from "./changed_settings.ts";
import { type CheckDeps, checkDiscord, checkOrg } from "./org_check.ts";
import { roleIdsSchema } from "./org_routes.ts";
import { secretName } from "./org_secrets.ts";
import { rotateSecrets } from "./rotate.ts";
import { livePodsOf, livePodsRefusal, removeRunpodKey, type RunpodKeyDeps, saveRunpodKey } from "./runpod_key.ts";
import type { Pause } from "../schedule/pause.ts";
import type { SecretBox } from "./secret_box.ts";
import { cudaSchema } from "./settings_request.ts";

const name = z.string("name must be text of at most 100 characters").trim()
  .min(1, "name must be text of at most 100 characters").max(100, "name must be text of at most 100 characters");
const guild = z.string("guild_id must be a Discord server id").regex(
  /^\d{15,20}$/,
  "guild_id must be a Discord server id: 15 to 20 digits",
);
const image = imageSchema("pod_image must be an image name of at most 200 characters, with no spaces").nullable();

/** Prefixes that are paths of the server itself. */
const RESERVED = ["api", "cli", "health", "metrics", "docs"];

const addSchema = z.strictObject({
  prefix: z.string("prefix must be 2 to 20 of a-z, 0-9, _ and -").regex(
    /^[a-z0-9_-]{2,20}$/,
    "prefix must be 2 to 20 of a-z, 0-9, _ and -",
  ).refine((prefix) => !RESERVED.includes(prefix), `prefix must not be one of ${RESERVED.join(", ")}`),
  name,
  guild_id: guild,
  officer_role_ids: roleIdsSchema("officer_role_ids").default([]),
  member_role_ids: roleIdsSchema("member_role_ids").default([]),
  pod_image: image.default(null),
  /** Adds the org although Discord could not confirm its server and roles. */
  force: z.boolean("force must be true or false").default(false),
});

const setSchema = z.strictObject({
  name: name.optional(),
  guild_id: guild.optional(),
  officer_role_ids: roleIdsSchema("officer_role_ids").optional(),
  member_role_ids: roleIdsSchema("member_role_ids").optional(),
  pod_image: image.optional(),
  min_cuda_version: cudaSchema.optional(),
  enabled: z.boolean("enabled must be true or false").optional(),
  is_active: z.boolean("is_active must be true or false").optional(),
  force: z.boolean("force must be true or false").default(false),
}).refine((body) => Object.keys(body).some((key) => key !== "force"), "Send at least one setting to change");

const secretSchema = z.strictObject({
  value: z.string("value must be text").trim().regex(
    /^[\x21-\x7e]{8,200}$/,
    "value must be 8 to 200 printable characters",
  ),
  replace: z.boolean("replace must be true or false").default(false),
});

export function orgView(org: Org) {
  return {
    prefix: org.prefix,
    name: org.name,
    guild_id: org.guildId,
    officer_role_ids: [...org.officerRoleIds],
    member_role_ids: [...org.memberRoleIds],
    is_active: org.isActive,
    enabled: org.computeEnabled,
    pod_image: org.podImage,
    min_cuda_version: org.minCudaVersion,
    created_at: isoTime(org.createdAt),
  };
}

/** What only the operator on the server does, under `/api/operator`: orgs, secrets, rotation. */
export function operatorRoutes(
  deps: RunpodKeyDeps & CheckDeps & {
    readonly guards: Guards;
    readonly clock: Clock;
    readonly box: SecretBox;
    readonly pause: Pause;
    /** Lets the schedule look at once. */
    readonly poke: () => void;
    readonly version: string;
    readonly dataDir: string;
  },
) {
  const { db, clock } = deps;
  const { operator } = deps.guards;
  const find = (prefix: string): Org => {
    const org = orgByPrefix(db, prefix);
    if (org === undefined) throw new AppError("org_not_found", `Organization not found: ${shown(prefix)}`);
    return org;
  };
  const note = (asker: Asker, org: string | null, status: number, details: Record<string, unknown>) =>
    deps.audit.write({
      ...actorOf(asker.caller),
      address: asker.address,
      action: asker.action,
      orgPrefix: org,
      status,
      outcome: "ok",
      details,
    });
  const unique = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw new AppError("org_exists", "An organization with this prefix or this Discord server exists already");
    }
  };
  /** The live look at Discord; what is wrong is refused unless forced. */
  const confirmed = async (org: Pick<Org, "guildId" | "officerRoleIds" | "memberRoleIds">, force: boolean) => {
    const checks = await checkDiscord(deps, org);
    const wrong = checks.filter((check) => check.ok === false);
    if (wrong.length > 0 && !force) {
      throw new AppError(
        "conflict",
        `${wrong[0]!.name}: ${wrong[0]!.detail}. ${wrong[0]!.fix}, or use --force`,
        { extra: { checks } },
      );
    }
    return checks.filter((check) => check.ok !== true).map((check) => `${check.name}: ${check.detail}`);
  };

  return new Hono<Env>()
    .get(
      "/status",
      operator,
      (c) =>
        c.json({
          version: deps.version,
          data_dir: deps.dataDir,
          install_id: installId(db),
          secrets_key: deps.box.ready,
          paused: deps.pause.reason(),
        }),
    )
    .post("/schedule/resume", operator, (c) => {
      const { caller, address, action } = askerOf(c);
      const before = deps.pause.reason();
      db.tx(() => {
        deps.pause.resume();
        deps.audit.write({ ...actorOf(caller), address, action, orgPrefix: null, status: 200, outcome: "ok" });
      });
      return c.json({ was_paused: before, paused: deps.pause.reason() });
    })
    .get("/orgs", operator, (c) => c.json({ orgs: allOrgs(db).map(orgView) }))
    .post("/orgs", operator, json(addSchema), async (c) => {
      const request = c.req.valid("json");
      const org = {
        prefix: request.prefix,
        name: request.name,
        guildId: request.guild_id,
        officerRoleIds: request.officer_role_ids,
        memberRoleIds: request.member_role_ids,
        podImage: request.pod_image,
      };
      if (orgByPrefix(db, org.prefix) !== undefined) {
        throw new AppError("org_exists", "An organization with this prefix or this Discord server exists already");
      }
      const warnings = await confirmed(org, request.force);
      const added = unique(() =>
        db.tx(() => {
          const made = insertOrg(db, org, clock.now());
          note(askerOf(c), org.prefix, 201, { added: orgView(made) });
          return made;
        })
      );
      deps.poke();
      return c.json({ org: orgView(added), warnings }, 201);
    })
    .get("/orgs/:prefix", operator, (c) => c.json({ org: orgView(find(c.req.param("prefix"))) }))
    .patch("/orgs/:prefix", operator, json(setSchema), async (c) => {
      const org = find(c.req.param("prefix"));
      const request = c.req.valid("json");
      const change: OrgChange = {
        ...(request.name === undefined ? {} : { name: request.name }),
        ...(request.guild_id === undefined ? {} : { guildId: request.guild_id }),
        ...(request.officer_role_ids === undefined ? {} : { officerRoleIds: request.officer_role_ids }),
        ...(request.member_role_ids === undefined ? {} : { memberRoleIds: request.member_role_ids }),
        ...(request.pod_image === undefined ? {} : { podImage: request.pod_image }),
        ...(request.min_cuda_version === undefined ? {} : { minCudaVersion: request.min_cuda_version || null }),
        ...(request.enabled === undefined ? {} : { computeEnabled: request.enabled }),
        ...(request.is_active === undefined ? {} : { isActive: request.is_active }),
      };
      const after = { ...org, ...change };
      const asksDiscord = request.guild_id !== undefined || request.officer_role_ids !== undefined ||
        request.member_role_ids !== undefined;
      const warnings = asksDiscord ? await confirmed(after, request.force) : [];
      const off = request.enabled === false || request.is_active === false;
      const changed = unique(() =>
        db.tx(() => {
          const pods = off ? livePodsOf(db, org) : [];
          if (pods.length > 0 && !request.force) {
            throw livePodsRefusal(pods, "The organization has live pods (use --force)");
          }
          const before = find(org.prefix);
          updateOrg(db, org.id, change);
          note(askerOf(c), org.prefix, 200, { changed: change });
          const after = find(org.prefix);
          const changed = changedSettings(before, after);
          raiseSettingsChanged(db, org.id, actorName(askerOf(c).caller), { changed }, clock.now());
          return after;
        })
      );
      return c.json({ org: orgView(changed), warnings });
    })
    .delete("/orgs/:prefix", operator, query(forceQuery), (c) => {
      const { force } = c.req.valid("query");
      const org = find(c.req.param("prefix"));
      db.tx(() => {
        const pods = livePodsOf(db, org);
        if (pods.length > 0 && !force) throw livePodsRefusal(pods, "The organization has live pods (use --force)");
        deleteOrg(db, org.id);
        note(askerOf(c), org.prefix, 200, { removed: orgView(org), live_pods: pods.map((pod) => pod.runpod_id) });
      });
      return c.json({ removed: org.prefix });
    })
    .post("/orgs/:prefix/check", operator, async (c) => {
      return c.json({ checks: await checkOrg(deps, find(c.req.param("prefix"))) });
    })
    .put("/orgs/:prefix/secrets/:name", operator, json(secretSchema), async (c) => {
      const org = find(c.req.param("prefix"));
      const secret = secretName(c.req.param("name"));
      const { value, replace } = c.req.valid("json");
      const saved = await saveRunpodKey(deps, org, askerOf(c), { api_key: value, replace });
      deps.poke();
      return c.json({ name: secret, ...saved });
    })
    .delete("/orgs/:prefix/secrets/:name", operator, query(forceQuery), (c) => {
      const org = find(c.req.param("prefix"));
      const secret = secretName(c.req.param("name"));
      const { force } = c.req.valid("query");
      if (!removeRunpodKey(deps, org, askerOf(c), force)) {
        throw new AppError("secret_not_found", `The organization has no secret ${secret}`);
      }
      return c.json({ removed: secret });
    })
    .post("/secrets/rotate", operator, (c) => {
      const result = db.tx(() => {
        const rotated = rotateSecrets(db, deps.box);
        note(askerOf(c), null, 200, rotated);
        return rotated;
      });
      return c.json(result);
    });
}
