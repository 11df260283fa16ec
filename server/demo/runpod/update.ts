/** `PATCH /pods/{id}`: replaces fields; a pod that is up is reset when the change touches its container. */
import { type Answer, invalid, json, Refusal, refuse } from "./answers.ts";
import { type Context, podOf } from "./context.ts";
import { boot } from "./life.ts";
import { meterStopped } from "./meter.ts";
import { violations } from "./schema_check.ts";
import { type Mounts, podUpdate, type UpdateBody } from "./schemas.ts";
import type { FakePod, World } from "./state.ts";
import { podView } from "./view.ts";

/** Fields whose change makes RunPod build the container anew. The others only change the record. */
const RESETS: readonly (keyof UpdateBody)[] = ["image", "args", "disk", "ports", "env", "registry", "mounts"];

export function updatePod(context: Context): Answer {
  const found = violations(podUpdate, context.body ?? null);
  if (found.length > 0) return invalid(found);
  const pod = podOf(context);
  const body = withTemplate(context.world, pod, context.body as UpdateBody);
  if (pod.cluster) refuse(409, "pod is a member of a cluster and cannot be changed on its own");
  const resets = RESETS.some((field) => body[field] !== undefined);
  if (pod.locked && body.locked !== false && resets && pod.phase === "up") refuse(409, "pod is locked");
  if (typeof body.registry === "string" && !context.world.catalog.registries.includes(body.registry)) {
    refuse(404, `container registry auth ${body.registry} not found`);
  }
  const mounts = newMounts(pod, body.mounts);
  const { templateId: _templateId, mounts: _mounts, ...fields } = body;
  Object.assign(pod, fields, { mounts });
  if (resets && pod.phase === "up") boot(context.world, pod, { kind: "restart" });
  else if (body.mounts) meterStopped(pod, context.world.clock.now());
  return json(podView(context, pod));
}

/** The kind of mount and its volume are fixed at create; size and path may change, `{}` changes nothing. */
function newMounts(pod: FakePod, mounts: Mounts | undefined): Mounts {
  if (!mounts || Object.keys(mounts).length === 0) return pod.mounts;
  if (mounts.persistent && mounts.network) refuse(400, "mounts.persistent and mounts.network cannot be combined");
  if (mounts.network?.length === 0) refuse(400, "mounts.network cannot be empty");
  const kinds = (value: Mounts) => Object.keys(value).join();
  if (kinds(mounts) !== kinds(pod.mounts)) refuse(400, "the kind of mount is fixed when the pod is created");
  if (mounts.network?.[0]?.volumeId !== pod.mounts.network?.[0]?.volumeId) {
    refuse(400, "mounts.network.volumeId cannot be changed");
  }
  return mounts;
}

/** Applies a template once; the body's own fields win, env is merged key by key. */
function withTemplate(world: World, pod: FakePod, body: UpdateBody): UpdateBody {
  if (body.templateId === undefined) return body;
  const template = world.catalog.templates.find((one) => one.id === body.templateId);
  if (!template) refuse(404, `template ${body.templateId} not found`);
  if (template.serverless) throw new Refusal(invalid(["$.templateId: a serverless template cannot make a pod"]));
  const { image, disk, ports } = template;
  return { image, disk, ports, ...body, env: { ...template.env, ...(body.env ?? pod.env) } };
}
