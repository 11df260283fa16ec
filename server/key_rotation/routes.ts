import { Hono } from "hono";
import type { Database } from "../../db/database.ts";
import { type Org, orgByPrefix } from "../../db/stores/organizations.ts";
import { AppError, shown } from "../errors.ts";
import { askerOf } from "../http/asker.ts";
import type { Env } from "../http/env.ts";
import type { Guards } from "../http/guards.ts";
import type { PodDeps } from "../pods/deps.ts";
import { beginRotation } from "./begin.ts";
import { keyKind } from "./names.ts";
import { keyViews, rotationStatus, type RotationView, rotationViews } from "./status.ts";

/** The operator's routes about an org's SSH keys, under `/api/operator`. */
export function keyRoutes(
  deps: Pick<PodDeps, "db" | "clock" | "audit" | "keys"> & {
    readonly guards: Guards;
    /** Lets the rotations have a turn at once. */
    readonly pokeKeys: () => void;
  },
) {
  const { operator } = deps.guards;
  return new Hono<Env>()
    .get("/orgs/:prefix/keys", operator, (c) => c.json({ keys: keyViews(deps, find(deps.db, c.req.param("prefix"))) }))
    .get(
      "/orgs/:prefix/rotations",
      operator,
      (c) => c.json({ rotations: rotationViews(deps, find(deps.db, c.req.param("prefix"))) }),
    )
    .post("/orgs/:prefix/keys/:kind", operator, async (c) => {
      const org = find(deps.db, c.req.param("prefix"));
      const kind = keyKind(c.req.param("kind"));
      await beginRotation(deps, org, askerOf(c), kind);
      deps.pokeKeys();
      const rotation = rotationStatus(deps, org, kind)!;
      return c.json({ rotation, warnings: warningsOf(rotation) }, 202);
    });
}

function find(db: Database, prefix: string): Org {
  const org = orgByPrefix(db, prefix);
  if (org === undefined) throw new AppError("org_not_found", `Organization not found: ${shown(prefix)}`);
  return org;
}

function warningsOf({ is_recovery, kind }: RotationView): string[] {
  if (!is_recovery) return [];
  return [
    kind === "backend"
      ? "The old key cannot be decrypted: the server cannot log in to pods that run until they were stopped once."
      : "The old key cannot be decrypted: pods that run and whose files the server cannot change take no new " +
        "certificates until they were stopped once.",
  ];
}
