import { z } from "zod";
import { AppError, shown } from "../../errors.ts";
import { CATALOGUE, type FaultId, FAULTS, type VariantOf } from "./fault_catalogue.ts";
import { parsed } from "./parsed.ts";
import { matchesPattern, patternMatchesAny, ROUTE_NAMES, type RouteMatch } from "./route_table.ts";

/** A fault that is on. */
export interface ActiveFault {
  readonly fault: string;
  readonly variant: string;
  /** How often it still strikes; null until it is switched off. */
  times: number | null;
  /** The route pattern it is restricted to (see `matchesPattern`), or null for every route of the API. */
  readonly on: string | null;
  /** Milliseconds; what they mean is in the catalogue. Null where the variant has no use for them. */
  readonly ms: number | null;
}

const switchSchema = z.strictObject({
  fault: z.string(),
  variant: z.string().optional(),
  times: z.number().int().min(0).max(1_000_000).optional(),
  on: z.string().max(200).optional(),
  ms: z.number().int().min(0).max(600_000).optional(),
  off: z.literal(true).optional(),
});

/** The body of `POST /_demo/faults`. `times` 0 or absent means until it is switched off. */
export type FaultSwitch = z.infer<typeof switchSchema>;

/** The faults that are on, in the order in which they were switched on. */
export interface Faults {
  /**
   * Switches a fault on, in place of the same one with the same variant and route, or off (`off: true`; without a
   * variant all of its variants).
   * @throws AppError `invalid_request`, which names the known faults, variants or routes
   */
  set(change: FaultSwitch): void;
  clear(): void;
  list(): ActiveFault[];
  /** The first one that is on and fits, without using it up. */
  find<F extends FaultId>(fault: F, where?: Where<F>): Struck<F> | undefined;
  /** The same, used up by one. */
  take<F extends FaultId>(fault: F, where?: Where<F>): Struck<F> | undefined;
}

/** Which of the faults that are on is meant. */
export interface Where<F extends FaultId> {
  readonly variant?: VariantOf<F>;
  readonly except?: VariantOf<F>;
  readonly route?: RouteMatch;
}

export interface Struck<F extends FaultId> {
  readonly variant: VariantOf<F>;
  /** The given or the default milliseconds; 0 where the variant has none. */
  readonly ms: number;
  /** Uses it up by one. */
  use(): void;
}

export function createFaults(): Faults {
  let active: ActiveFault[] = [];

  function use(fault: ActiveFault): void {
    if (fault.times === null) return;
    fault.times -= 1;
    if (fault.times === 0) active = active.filter((other) => other !== fault);
  }

  function find<F extends FaultId>(fault: F, where: Where<F> = {}) {
    const hit = active.find((one) =>
      one.fault === fault &&
      (where.variant === undefined || one.variant === where.variant) &&
      (where.except === undefined || one.variant !== where.except) &&
      (where.route === undefined || fits(one, where.route))
    );
    return hit && { variant: hit.variant as VariantOf<F>, ms: hit.ms ?? 0, use: () => use(hit) };
  }

  return {
    set(change) {
      const wanted = checked(parsed(switchSchema, change));
      if (change.off) {
        active = active.filter((one) =>
          one.fault !== change.fault || (change.variant !== undefined && one.variant !== change.variant)
        );
        return;
      }
      const same = (one: ActiveFault) =>
        one.fault === wanted.fault && one.variant === wanted.variant && one.on === wanted.on;
      active = [...active.filter((one) => !same(one)), wanted];
    },
    clear: () => void (active = []),
    list: () => active.map((one) => ({ ...one })),
    find,
    take(fault, where) {
      const hit = find(fault, where);
      hit?.use();
      return hit;
    },
  };
}

/** Without a pattern a fault strikes every API route; the authorize page only when it is named. */
function fits(fault: ActiveFault, route: RouteMatch): boolean {
  return fault.on === null ? route.route.path !== "/oauth2/authorize" : matchesPattern(fault.on, route);
}

function checked(change: FaultSwitch): ActiveFault {
  const info = Object.hasOwn(CATALOGUE, change.fault) ? CATALOGUE[change.fault] : undefined;
  if (!info) {
    const known = Object.keys(FAULTS).join(", ");
    throw new AppError("invalid_request", `Unknown fault ${shown(change.fault)}. Known are ${known}.`);
  }
  const name = change.variant ?? Object.keys(info.variants)[0]!;
  const variant = Object.hasOwn(info.variants, name) ? info.variants[name] : undefined;
  if (!variant) {
    const known = Object.keys(info.variants).join(", ");
    throw new AppError("invalid_request", `Unknown variant ${shown(name)} of ${change.fault}. Known are ${known}.`);
  }
  if (change.off && (change.times !== undefined || change.ms !== undefined || change.on !== undefined)) {
    throw new AppError("invalid_request", "With off, only fault and variant may be given.");
  }
  if (change.ms !== undefined && !variant.ms) {
    throw new AppError("invalid_request", `The variant ${name} of ${change.fault} takes no ms.`);
  }
  if (change.on !== undefined && !info.byRoute) {
    throw new AppError("invalid_request", `The fault ${change.fault} belongs to one place and takes no "on".`);
  }
  if (change.on !== undefined && !patternMatchesAny(change.on)) {
    throw new AppError("invalid_request", `No route fits ${shown(change.on)}. Known are ${ROUTE_NAMES.join(", ")}.`);
  }
  return {
    fault: change.fault,
    variant: name,
    times: change.times ? change.times : null,
    on: change.on ?? null,
    ms: variant.ms ? change.ms ?? variant.ms.default : null,
  };
}
