/** `POST /pods`: the rules of the create body, the search for a host, and the faults of a create. */
import { type Answer, invalid, json, problem, Refusal, refuse } from "./answers.ts";
import type { Context } from "./context.ts";
import { boot } from "./life.ts";
import { balanceOf, hardwareRate } from "./meter.ts";
import { newPod } from "./new_pod.ts";
import { place } from "./placement.ts";
import { violations } from "./schema_check.ts";
import { type CreateBody, podCreate } from "./schemas.ts";
import type { FakePod, World } from "./state.ts";
import { podView } from "./view.ts";

/** The sentence of RunPod for a create that finds no host. */
const CAPACITY = "There are no longer any instances available with the requested specifications.";
const CAPACITY_TEXTS: Readonly<Record<string, string>> = {
  refresh: `${CAPACITY} Please refresh and try again.`,
  plain: CAPACITY,
  currently: "There are no instances currently available.",
  resources: "This machine does not have the resources to deploy your pod. Please try a different machine.",
};

export function createPod(context: Context): Answer {
  const failed = context.fault("F14");
  if (failed) return failed.variant === "cut" ? { ...serverError(500), connection: { kind: "cut" } } : serverError(500);
  const found = violations(podCreate, context.body ?? null);
  const raw = context.body as CreateBody;
  if (found.length === 0 && raw.image === undefined && raw.templateId === undefined) {
    found.push("$: missing property 'image'");
  }
  if (found.length > 0) return invalid(found);
  const body = withTemplate(context.world, raw);
  checkFields(context.world, body);
  refusedByFault(context, body);
  const placed = place(context.world.catalog, body);
  if (!placed) refuse(400, CAPACITY_TEXTS["refresh"]!);
  if (body.gpu && body.gpu.count === undefined && context.fault("F12")) refuse(400, CAPACITY_TEXTS["refresh"]!);
  if (body.disk === undefined) {
    refuse(400, "The pod could not be deployed. Please check your template id or pod configuration parameters.");
  }
  const pod = newPod(context.world, context.account, { ...body, disk: body.disk }, placed);
  const rate = hardwareRate(context.world, pod);
  // A new pod needs credit for one hour (RunPod's pricing page).
  if (balanceOf(context.world, context.account) < rate.gpu + rate.cpu) {
    refuse(402, "Your balance is too low to deploy this pod. Please add credit and try again.");
  }
  context.world.pods.set(pod.id, pod);
  boot(context.world, pod, { kind: "create" });
  return lostOrFresh(context, pod);
}

function refusedByFault(context: Context, body: CreateBody): void {
  const refused = context.fault("F11");
  if (refused?.variant === "balance") refuse(402, "Your balance is too low to deploy this pod.");
  if (refused) refuse(403, `access denied: this account may not use ${body.cloud ?? "SECURE"} pods`);
  const capacity = context.fault("F10");
  if (capacity) refuse(400, CAPACITY_TEXTS[capacity.variant]!);
}

/** The 201, or what the client gets instead of it although the pod exists (F13, F15). */
function lostOrFresh(context: Context, pod: FakePod): Answer {
  const { world } = context;
  const now = world.clock.now();
  pod.unlistedUntil = now + world.timings.listDelayMs;
  const answer = json(podView(context, pod), 201);
  const lost = context.fault("F13");
  if (lost) {
    pod.invisibleUntil = now + (lost.ms ?? world.timings.lostDelayMs);
    if (lost.variant === "500" || lost.variant === "502") return serverError(Number(lost.variant));
    return { ...answer, connection: { kind: lost.variant as "cut" | "hang" | "cut-body" } };
  }
  const fresh = context.fault("F15");
  if (fresh) pod.invisibleUntil = now + (fresh.ms ?? 3_000);
  return answer;
}

function serverError(status: number): Answer {
  return problem(status, "Something went wrong. Please try again later or contact support.");
}

/** Template settings under the body's own; env is merged key by key. */
function withTemplate(world: World, body: CreateBody): CreateBody {
  if (body.templateId === undefined) return body;
  const template = world.catalog.templates.find((one) => one.id === body.templateId);
  if (!template) refuse(404, `template ${body.templateId} not found`);
  if (template.serverless) throw new Refusal(invalid(["$.templateId: a serverless template cannot make a pod"]));
  return {
    ...body,
    image: body.image ?? template.image,
    disk: body.disk ?? template.disk,
    ports: body.ports ?? template.ports,
    env: { ...template.env, ...body.env },
  };
}

/** Rules between fields: 400, except things that are not on the account (404). */
function checkFields({ catalog }: World, body: CreateBody): void {
  const { gpu, cpu, mounts } = body;
  if (gpu && cpu) refuse(400, "only one of gpu and cpu may be set");
  if (!gpu && !cpu) refuse(400, "one of gpu and cpu must be set");
  if (mounts?.persistent && mounts.network) refuse(400, "mounts.persistent and mounts.network cannot be combined");
  if (mounts?.persistent && cpu) refuse(400, "mounts.persistent is not supported on CPU pods");
  if (gpu?.minCudaVersion !== undefined && (gpu.allowedCudaVersions ?? []).length > 0) {
    refuse(400, "gpu.allowedCudaVersions and gpu.minCudaVersion cannot be combined");
  }
  const flavor = catalog.cpus.find((one) => one.id === cpu?.id);
  if (cpu && (!Number.isInteger(Math.log2(cpu.vcpuCount)))) refuse(400, "cpu.vcpuCount must be a power of two");
  if (cpu && flavor && (cpu.vcpuCount < flavor.vcpu.min || cpu.vcpuCount > flavor.vcpu.max)) {
    refuse(400, `cpu.vcpuCount must be between ${flavor.vcpu.min} and ${flavor.vcpu.max} for ${flavor.id}`);
  }
  if (body.args !== undefined && (body.entrypoint ?? body.cmd) && !sameCommand(body)) {
    refuse(400, "args must mean the same as entrypoint and cmd");
  }
  if (body.globalNetworking && !gpu?.id.startsWith("NVIDIA")) refuse(400, "globalNetworking needs an NVIDIA GPU");
  if (typeof body.registry === "string" && !catalog.registries.includes(body.registry)) {
    refuse(404, `container registry auth ${body.registry} not found`);
  }
  const volumeId = mounts?.network?.[0]?.volumeId;
  if (volumeId === undefined) return;
  const volume = catalog.networkVolumes.find((one) => one.id === volumeId);
  if (!volume) refuse(404, `network volume ${volumeId} not found`);
  if (body.cloud === "COMMUNITY") refuse(400, "network volumes can only be attached to pods on SECURE cloud");
}

/** `args` may repeat `entrypoint` and `cmd` only as a JSON object in a string that says the same. */
function sameCommand(body: CreateBody): boolean {
  const wanted = JSON.stringify({ entrypoint: body.entrypoint ?? [], cmd: body.cmd ?? [] });
  return body.args === wanted;
}
