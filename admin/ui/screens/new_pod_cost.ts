import type { Problem } from "../client/problem.ts";
import type { Ui } from "../core/screen.ts";
import { cpusResource, gpuPrice, gpusResource, stockText } from "../data/catalog.ts";
import { wrap } from "../text/cells.ts";
import { type Line, line, span, type Tone } from "../text/line.ts";
import { rate } from "../text/units.ts";
import type { Values } from "../widgets/form/fields.ts";
import { cloudOf, isCpu } from "./new_pod_fields.ts";

interface Note {
  readonly text: string;
  readonly tone?: Tone;
}

/** What the pod of a form costs, and what a stop loses: always in sight above the fields. */
export function newPodNotes(values: Values, { read }: Pick<Ui, "read">, width: number): Line[] {
  return [costNote(values, read), lossNote(values)].flatMap(({ text, tone }) =>
    wrap(`${tone === "warn" ? "! " : ""}${text}`, width - 2).map((part) => line(span(` ${part}`, tone)))
  );
}

/** USD per hour of the hardware, from RunPod's catalog. RunPod bills disks on top, whose price it does not list. */
function costNote(values: Values, read: Ui["read"]): Note {
  return isCpu(values) ? cpuCost(values, read) : gpuCost(values, read);
}

function gpuCost(values: Values, read: Ui["read"]): Note {
  const cloud = cloudOf(values);
  const { value: offers, problem } = read(gpusResource(cloud));
  if (offers === undefined) return unknown(problem);
  const wanted = values.gpu_type_id ?? "NVIDIA RTX A4000";
  const gpu = offers.find(({ id }) => id === wanted);
  if (gpu === undefined) return notOffered(String(wanted));
  const price = gpuPrice(gpu, cloud);
  if (price === null) {
    return { text: `RunPod does not sell this GPU in its ${cloud.toLowerCase()} cloud.`, tone: "warn" };
  }
  return costs(price, gpu.availability);
}

function cpuCost(values: Values, read: Ui["read"]): Note {
  const { value: offers, problem } = read(cpusResource);
  if (offers === undefined) return unknown(problem);
  const wanted = values.cpu_flavor ?? "cpu3c";
  const cpu = offers.find(({ id }) => id === wanted);
  if (cpu === undefined) return notOffered(String(wanted));
  const count = Number(values.vcpu_count ?? 2);
  const { min, max } = cpu.vcpu;
  if ((min !== null && count < min) || (max !== null && count > max)) {
    return { text: `RunPod sells ${cpu.id} with ${min ?? "?"} to ${max ?? "?"} vCPUs.`, tone: "warn" };
  }
  return cpu.pricePerVcpu === null
    ? { text: "Cost: RunPod names no price for it.", tone: "warn" }
    : costs(cpu.pricePerVcpu * count, cpu.availability);
}

function costs(usdPerHour: number, availability: string | null): Note {
  const text = `Cost: ${rate(usdPerHour)} and disks from now on.`;
  const stock = stockText(availability);
  return availability === "NONE"
    ? { text: `${text} RunPod says: ${stock}.`, tone: "warn" }
    : { text: stock === "" ? text : `${text} RunPod: ${stock}.`, tone: "strong" };
}

const notOffered = (name: string): Note => ({
  text: `RunPod's catalog does not have ${name}, so its cost is not known.`,
  tone: "warn",
});

function unknown(problem: Problem | null): Note {
  return problem === null
    ? { text: "Cost: asking RunPod …" }
    : { text: `The cost is not known: ${problem.sentence}`, tone: "warn" };
}

function lossNote(values: Values): Note {
  if (isCpu(values)) return { text: "A CPU pod has no volume: a stop loses EVERY file.", tone: "warn" };
  if (values.volume_in_gb === undefined || values.volume_in_gb === 0) {
    return { text: "Without a volume a stop loses EVERY file.", tone: "warn" };
  }
  return { text: `A stop loses all but ${values.volume_mount_path ?? "/workspace"}.` };
}
