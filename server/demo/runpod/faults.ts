/** The switchboard of faults: what is on, for which requests, and how many times more. */
import { AppError, shown } from "../../errors.ts";
import { type FaultId, type FaultInfo, FAULTS } from "./fault_table.ts";

/** A fault to switch on. Without `times` (or with 0) it stays on until it is switched off. */
export interface FaultSpec {
  readonly fault: string;
  readonly variant?: string | undefined;
  readonly times?: number | undefined;
  /** Method and path pattern, such as `POST /pods` or `* /pods/{id}/action`; `{…}` stands for one segment. */
  readonly on?: string | undefined;
  /** Only this action word of `POST /pods/{id}/action`. */
  readonly action?: string | undefined;
  /** Milliseconds; each fault's sentence says of what. */
  readonly ms?: number | undefined;
  /** F10: only this GPU id or CPU flavor. */
  readonly gpu?: string | undefined;
  /** F10: only this cloud. */
  readonly cloud?: string | undefined;
  /** F33: status of the odd error body. */
  readonly status?: number | undefined;
}

export interface ActiveFault extends FaultSpec {
  readonly fault: FaultId;
  readonly variant: string;
  /** How often it still applies; null means until it is switched off. */
  left: number | null;
}

/** What of a request decides whether a fault applies. `path` is without `/v2`. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly action?: string | undefined;
  readonly hardware?: string | undefined;
  readonly cloud?: string | undefined;
}

export interface Faults {
  /** Switches a fault on. Throws `invalid_request` for an unknown fault, variant or pattern. */
  on(spec: FaultSpec): ActiveFault;
  /** Switches all of one fault off. Throws `invalid_request` for an unknown one. */
  off(fault: string): void;
  clear(): void;
  active(): readonly ActiveFault[];
  /** The first matching fault that is on, counted down by one; null when there is none. */
  take(fault: FaultId, call: Call, variant?: string): ActiveFault | null;
}

export function createFaults(): Faults {
  let active: ActiveFault[] = [];
  return {
    on(spec) {
      const info = infoOf(spec.fault);
      const variant = spec.variant ?? info.variants[0]!;
      if (!info.variants.includes(variant)) {
        throw new AppError(
          "invalid_request",
          `The variant of ${info.id} must be one of ${info.variants.join(", ")}: ${shown(variant)}`,
        );
      }
      if (spec.on !== undefined) parsePattern(spec.on);
      const fault: ActiveFault = { ...spec, fault: info.id as FaultId, variant, left: spec.times || null };
      active.push(fault);
      return fault;
    },
    off(fault) {
      const { id } = infoOf(fault);
      active = active.filter((one) => one.fault !== id);
    },
    clear() {
      active = [];
    },
    active: () => active,
    take(id, call, variant) {
      const found = active.find((one) =>
        one.fault === id && (variant === undefined || one.variant === variant) && matches(one, call)
      );
      if (!found) return null;
      if (found.left !== null && --found.left === 0) active = active.filter((one) => one !== found);
      return found;
    },
  };
}

function infoOf(id: string): FaultInfo {
  const info = (FAULTS as readonly FaultInfo[]).find((one) => one.id === id);
  if (info && info.variants.length > 0) return info;
  const known = FAULTS.filter((one) => one.variants.length > 0).map((one) => one.id).join(", ");
  const why = info ? "always holds and cannot be switched" : "is not known";
  throw new AppError("invalid_request", `Fault ${shown(id)} ${why}; these can be switched: ${known}`);
}

function matches(fault: ActiveFault, call: Call): boolean {
  if (fault.action !== undefined && fault.action !== call.action) return false;
  if (fault.gpu !== undefined && fault.gpu !== call.hardware) return false;
  if (fault.cloud !== undefined && fault.cloud !== call.cloud) return false;
  return fault.on === undefined || parsePattern(fault.on)(call);
}

function parsePattern(pattern: string): (call: Call) => boolean {
  const parts = /^([A-Z]+|\*) (?:\/v2)?(\/\S*)$/.exec(pattern);
  if (!parts) {
    throw new AppError(
      "invalid_request",
      `Field on must be a method and a path such as "POST /pods": ${shown(pattern)}`,
    );
  }
  const [, method, path] = parts as unknown as [string, string, string];
  const wanted = path.split("/");
  return (call) => {
    if (method !== "*" && method !== call.method) return false;
    const got = call.path.split("/");
    return got.length === wanted.length &&
      wanted.every((segment, index) => /^\{.*\}$/.test(segment) || segment === got[index]);
  };
}
