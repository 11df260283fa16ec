import { lastSettledChange } from "../../db/stores/env_changes.ts";
import { KEY_KINDS, type KeyKind, lastRotation, type RotationRow } from "../../db/stores/key_rotations.ts";
import type { Org } from "../../db/stores/organizations.ts";
import { listOf } from "../../db/stores/pod_keys.ts";
import { type LivePod, livePods } from "../../db/stores/pods.ts";
import { type KeyRow, keysOf } from "../../db/stores/secrets.ts";
import { isoTime } from "../clock.ts";
import { asClause } from "../errors.ts";
import type { PodDeps } from "../pods/deps.ts";
import { type Standing, standingOf } from "./standing.ts";

/** What is left on one pod of a rotation. */
export interface PodKeyView {
  readonly pod_id: string;
  readonly name: string;
  readonly status: string | null;
  /** Null: nothing. */
  readonly left: string | null;
  /** What somebody must do; null: it comes by itself. */
  readonly todo: string | null;
}

/** A rotation and what is left of it. */
export interface RotationView {
  readonly kind: KeyKind;
  readonly state: "open" | "done";
  /** The old private key could not be decrypted when it began. */
  readonly is_recovery: boolean;
  readonly old_fingerprint: string;
  readonly new_fingerprint: string;
  readonly asked_by: string;
  readonly asked_at: string;
  readonly finished_at: string | null;
  readonly pods: PodKeyView[];
}

/** A key that an org has or had. */
export interface KeyView {
  readonly kind: KeyKind;
  readonly fingerprint: string;
  readonly public_key: string;
  /** `current`, `replaced` while its rotation is open, else `retired`. */
  readonly state: "current" | "replaced" | "retired";
  /** Whether the server has the private half and can decrypt it. */
  readonly usable: boolean;
  readonly created_at: string;
  readonly retired_at: string | null;
}

type Deps = Pick<PodDeps, "db" | "clock" | "keys">;

const WHAT: Readonly<Record<Exclude<Standing, "done">, string>> = {
  not_shown: "RunPod did not show it, or not its environment, at the last look",
  stop_once: "Its environment still has another key",
  env_next: "Its environment still has another key; it is changed by itself",
  odd_state: "Its environment still has another key, and its state allows no change",
  files_next: "Its files do not have the new key yet; it is brought to them by itself",
  restart_once: "Its files do not have the new key, and they cannot be changed on this image",
};

/** The last rotation of a kind and what is left of it; null when there was none. */
export function rotationStatus(deps: Deps, org: Org, kind: KeyKind): RotationView | null {
  const rotation = lastRotation(deps.db, org.id, kind);
  if (rotation === undefined) return null;
  const oldIsUsable = rotation.state === "open" && isOldUsable(deps, org, rotation);
  return {
    kind,
    state: rotation.state,
    is_recovery: rotation.is_recovery === 1,
    old_fingerprint: rotation.old_fingerprint,
    new_fingerprint: rotation.new_fingerprint,
    asked_by: rotation.asked_by,
    asked_at: isoTime(rotation.asked_at),
    finished_at: rotation.finished_at === null ? null : isoTime(rotation.finished_at),
    pods: livePods(deps.db, org.id).filter((pod) => pod.status !== "GONE").map((pod) =>
      rotation.state === "open" ? openView(deps, pod, rotation, oldIsUsable) : doneView(pod, rotation)
    ),
  };
}

/** All rotations to be shown: the last of each kind. */
export function rotationViews(deps: Deps, org: Org): RotationView[] {
  return KEY_KINDS.flatMap((kind) => rotationStatus(deps, org, kind) ?? []);
}

/** Every key that the org has or had, the newest of a kind first. */
export function keyViews(deps: Deps, org: Org): KeyView[] {
  return KEY_KINDS.flatMap((kind) => {
    const last = lastRotation(deps.db, org.id, kind);
    const stateOf = (key: KeyRow): KeyView["state"] =>
      key.retired_at === null
        ? "current"
        : last?.state === "open" && last.old_fingerprint === key.fingerprint
        ? "replaced"
        : "retired";
    return keysOf(deps.db, org.id, kind).reverse().map((key) => ({
      kind,
      fingerprint: key.fingerprint,
      public_key: key.public_key,
      state: stateOf(key),
      usable: key.private_key !== "" && deps.keys.isReadable(key),
      created_at: isoTime(key.created_at),
      retired_at: key.retired_at === null ? null : isoTime(key.retired_at),
    }));
  });
}

function isOldUsable(deps: Deps, org: Org, { kind, old_fingerprint }: RotationRow): boolean {
  const old = keysOf(deps.db, org.id, kind).find((key) => key.fingerprint === old_fingerprint);
  return old !== undefined && old.private_key !== "" && deps.keys.isReadable(old);
}

const common = (pod: LivePod) => ({ pod_id: pod.runpod_id, name: pod.name, status: pod.status });

function openView(deps: Deps, pod: LivePod, rotation: RotationRow, oldIsUsable: boolean): PodKeyView {
  const standing = standingOf(pod, rotation);
  if (standing === "done") return { ...common(pod), left: null, todo: null };
  return { ...common(pod), ...explain(deps, pod, rotation, standing, oldIsUsable) };
}

function explain(
  deps: Deps,
  pod: LivePod,
  { kind }: RotationRow,
  standing: Exclude<Standing, "done">,
  oldIsUsable: boolean,
): { readonly left: string; readonly todo: string | null } {
  const left = WHAT[standing];
  switch (standing) {
    case "not_shown":
      return { left, todo: "Wait; if it stays, see whether RunPod can be reached and its key works" };
    case "stop_once": {
      const without = oldIsUsable
        ? ""
        : kind === "backend"
        ? ". Until then the server cannot log in to it"
        : ". Until then it takes no new certificates, unless its files could be changed";
      return { left: left + without, todo: "Stop it once, for half a minute, so that its environment can be changed" };
    }
    case "env_next": {
      const last = lastSettledChange(deps.db, pod.id);
      const why = last?.state === "failed" && last.error !== null
        ? `. The last attempt failed: ${asClause(last.error)}`
        : "";
      return { left: left + why, todo: null };
    }
    case "odd_state":
      return { left, todo: `It is in the state ${pod.status}: start and stop it once, or terminate it` };
    case "files_next": {
      const why = pod.unreachable_reason ?? pod.trust_error;
      return why === null
        ? { left, todo: null }
        : { left: `${left}. It did not work so far: ${asClause(why)}`, todo: "Stop it, or make it reachable again" };
    }
    case "restart_once":
      return { left, todo: "Stop and start it once" };
  }
}

/** After the end of a rotation the old key leaves the files of running pods. */
function doneView(pod: LivePod, { kind, old_fingerprint }: RotationRow): PodKeyView {
  const isThisStart = pod.start_key !== null && pod.keys_start === pod.start_key;
  const files = isThisStart ? listOf(pod[`files_${kind}`]) : null;
  if (pod.status !== "RUNNING" || files?.includes(old_fingerprint) !== true) {
    return { ...common(pod), left: null, todo: null };
  }
  const isFixed = pod.setup_start === pod.start_key && pod.setup_state === "refused";
  return {
    ...common(pod),
    left: "Its files still have the old key; it is taken out of them by itself, and goes with a restart",
    todo: isFixed ? "Restart it once" : null,
  };
}
