/** The fields of a new pod, and the request that they make. All of it is pure. */
import { z } from "zod";
import { createRequestSchema } from "../../../server/pods/create_request.ts";
import type { CreateBody } from "../../client/api.ts";
import {
  type Cloud,
  cpusResource,
  defaultImageResource,
  gpuPrice,
  gpusResource,
  KNOWN_FLAVORS,
  KNOWN_GPUS,
  stockText,
} from "../data/catalog.ts";
import { idsIn } from "../data/members.ts";
import type { Ui } from "../core/screen.ts";
import { rate } from "../text/units.ts";
import type { Field, Suggestion, Values } from "../widgets/form/fields.ts";

export const isCpu = (values: Values) => values.use_cpu_only === true;
export const cloudOf = (values: Values): Cloud => values.cloud_type === "COMMUNITY" ? "COMMUNITY" : "SECURE";
const isGpu = (values: Values) => !isCpu(values);

export const NEW_POD_FIELDS: readonly Field[] = [
  { name: "name", label: "Name", kind: "text", example: "a made-up one", hint: "Empty for a made-up one." },
  { name: "use_cpu_only", label: "Hardware", kind: "switch", on: "CPU only", off: "GPU", hint: "space changes it." },
  {
    name: "gpu_type_id",
    label: "GPU type",
    kind: "suggest",
    initial: "NVIDIA RTX A4000",
    when: isGpu,
    suggestions: gpuSuggestions,
    hint: "enter lists what RunPod offers; any other name of RunPod's can be typed.",
  },
  {
    name: "cpu_flavor",
    label: "CPU flavor",
    kind: "suggest",
    initial: "cpu3c",
    when: isCpu,
    suggestions: flavorSuggestions,
    hint: "enter lists what RunPod offers. c: compute, g: general, m: memory.",
  },
  {
    name: "vcpu_count",
    label: "vCPUs",
    kind: "choice",
    options: ["2", "4", "8", "16"].map((value) => ({ value, label: value })),
    when: isCpu,
  },
  {
    name: "cloud_type",
    label: "Cloud",
    kind: "choice",
    options: [{ value: "SECURE", label: "Secure" }, { value: "COMMUNITY", label: "Community" }],
    when: isGpu,
    hint: "Secure machines always have a public address; community ones cost less and may have none.",
  },
  {
    name: "volume_in_gb",
    label: "Volume",
    kind: "number",
    initial: 10,
    unit: "GB",
    when: isGpu,
    hint: "Kept at a stop. 0 for none, else 10 to 2000.",
  },
  {
    name: "container_disk_in_gb",
    label: "Container disk",
    kind: "number",
    initial: 20,
    unit: "GB",
    hint: "1 to 500. Lost at every stop.",
  },
  {
    name: "volume_mount_path",
    label: "Mount path",
    kind: "text",
    initial: "/workspace",
    when: (values) => isGpu(values) && values.volume_in_gb !== 0,
    hint: "Where the volume is on the pod.",
  },
  {
    name: "image_name",
    label: "Image",
    kind: "text",
    example: (read) => read(defaultImageResource).value,
    hint: "Empty for the default one.",
  },
  {
    name: "env",
    label: "Environment",
    kind: "rows",
    cells: ["name", "value"],
    hint: "Everyone who can log in to the pod can read these values there.",
  },
  {
    name: "is_public",
    label: "Who may enter",
    kind: "switch",
    on: "all members",
    off: "officers and those listed",
    hint: "space changes it.",
  },
  {
    name: "allowed_users",
    label: "Listed people",
    kind: "text",
    example: "nobody",
    when: (values) => values.is_public !== true,
    hint: "enter finds people by name or role; Discord ids can be typed and pasted, several at once.",
  },
  {
    name: "over_budget",
    label: "Over the budget",
    kind: "switch",
    on: "create it all the same",
    off: "no",
    hint: "For a month whose budget is spent; the audit says that you did it.",
  },
  { name: "provider", label: "Provider", kind: "choice", options: [{ value: "runpod", label: "RunPod" }] },
];

/** What RunPod sells in the chosen cloud, the cheapest first; the known names while its catalog is not known. */
function gpuSuggestions(read: Ui["read"], values: Values): readonly Suggestion[] {
  const cloud = cloudOf(values);
  const offers = read(gpusResource(cloud)).value;
  if (offers === undefined) return KNOWN_GPUS.map((value) => ({ value }));
  const price = (gpu: (typeof offers)[number]) => gpuPrice(gpu, cloud);
  return offers.filter((gpu) => price(gpu) !== null).sort((a, b) => price(a)! - price(b)!).map((gpu) => ({
    value: gpu.id,
    note: joined([rate(price(gpu)), gpu.memoryGb === null ? "" : `${gpu.memoryGb} GB`, stockText(gpu.availability)]),
  }));
}

function flavorSuggestions(read: Ui["read"]): readonly Suggestion[] {
  const offers = read(cpusResource).value;
  if (offers === undefined) return KNOWN_FLAVORS.map((value) => ({ value }));
  return offers.map((cpu) => ({
    value: cpu.id,
    note: joined([
      cpu.pricePerVcpu === null ? "" : `${rate(cpu.pricePerVcpu)} for a vCPU`,
      cpu.ramGbPerVcpu === null ? "" : `${cpu.ramGbPerVcpu} GB for a vCPU`,
      stockText(cpu.availability),
    ]),
  }));
}

const joined = (parts: readonly string[]) => parts.filter((part) => part !== "").join(", ");

/** What stands in the form, as far as the request and its check need it. */
export interface Draft {
  readonly request: CreateBody;
  /** Names that stand in more than one row: only one of the values could be kept. */
  readonly doubled: readonly string[];
}

/** The request that a form makes; empty rows and what is not asked for are left out. */
export function draftOf(values: Values): Draft {
  const { env, allowed_users, vcpu_count, ...rest } = values;
  const rows = (env as readonly (readonly [string, string])[] | undefined ?? [])
    .map(([name, value]) => [name.trim(), value] as const)
    .filter(([name, value]) => name !== "" || value !== "");
  const names = rows.map(([name]) => name);
  const request = {
    ...rest,
    ...(vcpu_count === undefined ? {} : { vcpu_count: Number(vcpu_count) }),
    ...(rows.length === 0 ? {} : { env: Object.fromEntries(rows) }),
    ...(allowed_users === undefined ? {} : { allowed_users: idsIn(String(allowed_users)) }),
  };
  return { request, doubled: names.filter((name, at) => names.indexOf(name) !== at) };
}

/** The server's own check of a create, and one that a form with rows needs besides. */
export const draftSchema = z.custom<Draft>().superRefine(({ request, doubled }, check) => {
  for (const name of new Set(doubled)) {
    check.addIssue({ code: "custom", path: ["env"], message: `env must hold each name once: ${name}` });
  }
  for (const { path, message } of createRequestSchema.safeParse(request).error?.issues ?? []) {
    check.addIssue({ code: "custom", path, message });
  }
});
