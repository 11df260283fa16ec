import type { Database } from "../../db/database.ts";
import { KEY_KINDS, type KeyKind, openRotation } from "../../db/stores/key_rotations.ts";
import { listOf } from "../../db/stores/pod_keys.ts";
import type { LivePod } from "../../db/stores/pods.ts";
import { currentKey, keysOf } from "../../db/stores/secrets.ts";
import { shown } from "../errors.ts";
import type { Difference } from "./differences.ts";
import { ENV_NAMES } from "./env_keys.ts";

/** What is otherwise than it was asked for, and what to do. */
export interface ChangedOutside {
  /** `keys` keeps the server or everybody out sooner or later. */
  readonly what: "keys" | Difference;
  readonly sentence: string;
  readonly todo: string;
}

/**
 * Compares each pod of an org, as RunPod last showed it, with what was asked for: image, args and the keys in its env. A
 * key is not judged while it is being replaced.
 */
export function changedOutsideReader(db: Database, orgId: number): (pod: LivePod) => ChangedOutside[] {
  const judged = KEY_KINDS.filter((kind) => openRotation(db, orgId, kind) === undefined);
  const current = new Map(judged.map((kind) => [kind, currentKey(db, orgId, kind)?.fingerprint]));
  const had = new Map(judged.map((kind) => [kind, new Set(keysOf(db, orgId, kind).map((key) => key.fingerprint))]));
  const wrongKeys = (pod: LivePod): ChangedOutside[] =>
    judged.flatMap((kind) => {
      const word = pod.env_of === pod.runpod_id ? pod[`env_${kind}`] : null;
      if (word === null || word === current.get(kind)) return [];
      return [keyChange(kind, pod, had.get(kind)!.has(word))];
    });
  return (pod) => {
    if (pod.status === "GONE") return [];
    const makes = (listOf(pod.differs) ?? []) as Difference[];
    return [...wrongKeys(pod), ...makes.map((what) => makeChange(what, pod))];
  };
}

function keyChange(kind: KeyKind, pod: LivePod, wasOurs: boolean): ChangedOutside {
  const name = ENV_NAMES[kind];
  if (wasOurs) {
    return {
      what: "keys",
      sentence: `${name} in its environment is a key that was replaced.`,
      todo: pod.status === "EXITED"
        ? "Wait: it is changed by itself."
        : "Stop the pod once, for half a minute: the key is then changed by itself.",
    };
  }
  return {
    what: "keys",
    sentence: `${name} in its environment is not a key of this organization.`,
    todo:
      `Put the key back in RunPod's console (the operator sees it with orgpods keys list), or replace the ${kind} key.`,
  };
}

function makeChange(what: Difference, pod: LivePod): ChangedOutside {
  if (what === "args") {
    return {
      what,
      sentence: "It has start arguments, which orgpods never sets: its image may not start as it should.",
      todo: "Take them away in RunPod's console if nobody put them there on purpose.",
    };
  }
  const { image_name } = JSON.parse(pod.config) as { readonly image_name?: unknown };
  return {
    what,
    sentence: `Its image is another one than ${shown(image_name)}, which was asked for.`,
    todo: "Look in RunPod's console who changed it, and why.",
  };
}
