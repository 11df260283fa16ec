import { AppError, shown } from "../../server/errors.ts";
import { type CreateBody, createPod as sendCreate } from "../client/api.ts";
import { withOrg } from "./connected.ts";
import type { Shell } from "./shell.ts";

export interface CreateFlags {
  readonly name?: string;
  readonly image?: string;
  readonly gpu?: string;
  /** `true` for `--cpu` without a flavor. */
  readonly cpu?: string | true;
  readonly vcpus?: number;
  readonly cloud?: string;
  /** GB. */
  readonly volume?: number;
  /** GB. */
  readonly disk?: number;
  readonly mount?: string;
  /** `NAME=VALUE`, or `NAME` for a value out of this process's environment. */
  readonly env?: readonly string[];
  readonly public?: boolean;
  readonly allow?: readonly string[];
  readonly overBudget?: boolean;
  readonly idempotencyKey?: string;
}

/** `orgpods pod create`: prints the id of the new pod. */
export async function createPod(shell: Shell, flags: CreateFlags): Promise<void> {
  const body = createBodyOf(flags, shell.env);
  await withOrg(shell, async (api, org) => {
    const answer = await sendCreate(api, org, body, flags.idempotencyKey);
    const { name, status, cost_per_hour } = answer.value.pod;
    await shell.say(`${name} is ${status}${cost_per_hour === null ? "" : `, ${cost_per_hour} USD per hour`}.`);
    await shell.result(answer, ({ pod }) => pod.id);
  });
}

/** The flags as the body of a create; flags that were not given are left to the server's defaults. */
export function createBodyOf(flags: CreateFlags, env: (name: string) => string | undefined): CreateBody {
  if (flags.vcpus !== undefined && flags.cpu === undefined) {
    throw new AppError("usage", "--vcpus is for CPU pods: add --cpu");
  }
  if (flags.gpu === undefined && flags.cpu === undefined) {
    throw new AppError("usage", 'Name the hardware, which costs money: --gpu "NVIDIA RTX A4000", or --cpu');
  }
  const variables = envOf(flags.env ?? [], env);
  return {
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.image === undefined ? {} : { image_name: flags.image }),
    ...(flags.gpu === undefined ? {} : { gpu_type_id: flags.gpu }),
    ...(flags.cpu === undefined ? {} : { use_cpu_only: true }),
    ...(typeof flags.cpu === "string" ? { cpu_flavor: flags.cpu } : {}),
    ...(flags.vcpus === undefined ? {} : { vcpu_count: flags.vcpus }),
    ...(flags.cloud === undefined ? {} : { cloud_type: flags.cloud === "secure" ? "SECURE" : "COMMUNITY" }),
    ...(flags.volume === undefined ? {} : { volume_in_gb: flags.volume }),
    ...(flags.disk === undefined ? {} : { container_disk_in_gb: flags.disk }),
    ...(flags.mount === undefined ? {} : { volume_mount_path: flags.mount }),
    ...(Object.keys(variables).length === 0 ? {} : { env: variables }),
    ...(flags.public ? { is_public: true } : {}),
    ...(flags.overBudget ? { over_budget: true } : {}),
    ...(flags.allow === undefined ? {} : { allowed_users: [...flags.allow] }),
  };
}

function envOf(words: readonly string[], env: (name: string) => string | undefined): Record<string, string> {
  const variables = new Map<string, string>();
  for (const word of words) {
    const at = word.indexOf("=");
    const name = at === -1 ? word : word.slice(0, at);
    const value = at === -1 ? env(name) : word.slice(at + 1);
    if (name === "") throw new AppError("usage", "--env must be NAME=VALUE or NAME");
    if (value === undefined) {
      throw new AppError("usage", `--env ${shown(name)}: there is no such variable in the environment`);
    }
    if (variables.has(name)) throw new AppError("usage", `--env names ${shown(name)} twice`);
    variables.set(name, value);
  }
  return Object.fromEntries(variables);
}
