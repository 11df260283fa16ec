import { Hono } from "hono";
import { z } from "zod";
import { type Org, orgById, type OrgChange, updateOrg } from "../../db/stores/organizations.ts";
import { actorOf } from "../audit/write.ts";
import { isoTime } from "../clock.ts";
import { isImageName } from "../config.ts";
import { AppError } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import { forceQuery, json, parseOrRefuse, query, readJsonObject } from "../http/body.ts";
import { type Env, orgOf } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import { raiseSettingsChanged } from "../events/settings_changed.ts";
import { actorName, type Asker } from "./callers.ts";
import { changedSettings } from "./changed_settings.ts";
import { type OrgSettings, settingsOf } from "./org_settings.ts";
import {
  livePodsOf,
  livePodsRefusal,
  removeRunpodKey,
  type RunpodKeyDeps,
  saveRunpodKey,
  testRunpodKey,
} from "./runpod_key.ts";
import { runpodKeySchema } from "./runpod_key_request.ts";
import { IMAGE, settingsSchema } from "./settings_request.ts";

const moduleSchema = z.strictObject({
  enabled: z.boolean("enabled must be true or false"),
  force: z.boolean("force must be true or false").default(false),
});

/** A list of Discord role ids. */
export const roleIdsSchema = (name: string) =>
  z.array(
    z.string(`${name} must hold Discord role ids`).regex(/^\d{15,20}$/, `${name} must hold Discord role ids`),
    `${name} must be a list of at most 50 Discord role ids`,
  ).max(50, `${name} must be a list of at most 50 Discord role ids`);

const rolesSchema = z.strictObject({
  officer_role_ids: roleIdsSchema("officer_role_ids").optional(),
  member_role_ids: roleIdsSchema("member_role_ids").optional(),
}).refine((body) => Object.keys(body).length > 0, "Send officer_role_ids or member_role_ids");

/** Routes about the org itself, under `/api/compute/<org>`: image, module switch, RunPod key, roles. */
export function orgRoutes(
  deps: RunpodKeyDeps & {
    readonly guards: Guards;
    readonly deploymentImage: string;
    /** Lets the schedule look at once. */
    readonly poke: () => void;
  },
) {
  const { officer, superadmin } = deps.guards;
  const settingsView = (org: Org) => ({
    settings: {
      pod_image: org.podImage,
      min_cuda_version: org.minCudaVersion,
      deployment_pod_image: deps.deploymentImage,
      ...settingsOf(org),
    },
  });
  /** `money` are the settings of money and time to change; those that are not named stay. */
  const change = (org: Org, asker: Asker, set: OrgChange, money: Partial<OrgSettings> = {}): Org =>
    deps.db.tx(() => {
      const before = orgById(deps.db, org.id)!;
      const hasMoney = Object.keys(money).length > 0;
      const settings = hasMoney ? { settings: JSON.stringify({ ...JSON.parse(before.settings), ...money }) } : {};
      updateOrg(deps.db, org.id, { ...set, ...settings });
      deps.audit.write({
        ...actorOf(asker.caller),
        address: asker.address,
        action: asker.action,
        orgPrefix: org.prefix,
        status: 200,
        outcome: "ok",
        details: { changed: { ...set, ...money } },
      });
      const after = orgById(deps.db, org.id)!;
      const changed = changedSettings(before, after);
      raiseSettingsChanged(deps.db, org.id, actorName(asker.caller), { changed }, deps.clock.now());
      return after;
    });

  return new Hono<Env>()
    .get("/settings", officer, (c) => c.json(settingsView(orgOf(c))))
    .put("/settings", officer, async (c) => {
      const raw = await readJsonObject(c.req.raw, { notAnObject: "Send an object with pod_image" });
      const { pod_image, min_cuda_version, ...money } = parseOrRefuse(settingsSchema, raw);
      const image = pod_image?.trim();
      if (image && !isImageName(image)) throw new AppError("invalid_request", IMAGE);
      const set = {
        ...(pod_image === undefined ? {} : { podImage: image || null }),
        ...(min_cuda_version === undefined ? {} : { minCudaVersion: min_cuda_version || null }),
      };
      return c.json(settingsView(change(orgOf(c), askerOf(c), set, withoutUndefined(money))));
    })
    .put("/module", officer, json(moduleSchema), (c) => {
      const { enabled, force } = c.req.valid("json");
      const org = orgOf(c);
      const pods = livePodsOf(deps.db, org);
      if (!enabled && pods.length > 0 && !force) {
        throw livePodsRefusal(
          pods,
          'The organization has live pods; send "force": true to switch compute off all the same',
        );
      }
      return c.json({ enabled: change(org, askerOf(c), { computeEnabled: enabled }).computeEnabled });
    })
    .get("/roles", officer, (c) => {
      const { officerRoleIds, memberRoleIds } = orgOf(c);
      return c.json({ officer_role_ids: officerRoleIds, member_role_ids: memberRoleIds });
    })
    .put("/roles", superadmin, json(rolesSchema), (c) => {
      const body = c.req.valid("json");
      const org = change(orgOf(c), askerOf(c), {
        ...(body.officer_role_ids === undefined ? {} : { officerRoleIds: body.officer_role_ids }),
        ...(body.member_role_ids === undefined ? {} : { memberRoleIds: body.member_role_ids }),
      });
      return c.json({ officer_role_ids: org.officerRoleIds, member_role_ids: org.memberRoleIds });
    })
    .get("/integrations/runpod", officer, (c) => {
      const { configured, last4, updatedAt } = deps.secrets.describe(orgOf(c), "runpod_api_key");
      return c.json({ configured, last4, updated_at: updatedAt === null ? null : isoTime(updatedAt) });
    })
    .put("/integrations/runpod", officer, json(runpodKeySchema), async (c) => {
      const saved = await saveRunpodKey(deps, orgOf(c), askerOf(c), c.req.valid("json"));
      deps.poke();
      return c.json({ configured: true, ...saved });
    })
    .delete("/integrations/runpod", officer, query(forceQuery), (c) => {
      const { force } = c.req.valid("query");
      return c.json({ removed: removeRunpodKey(deps, orgOf(c), askerOf(c), force) });
    })
    .post("/integrations/runpod/test", officer, async (c) => {
      const { pods } = await testRunpodKey(deps, orgOf(c));
      return c.json({ pods, message: `Connected. ${pods} pods on the account.` });
    });
}

/** What a partial schema leaves is a value or nothing; the types do not know. */
function withoutUndefined(money: { readonly [K in keyof OrgSettings]?: OrgSettings[K] | undefined }) {
  return Object.fromEntries(Object.entries(money).filter(([, value]) => value !== undefined)) as Partial<OrgSettings>;
}
