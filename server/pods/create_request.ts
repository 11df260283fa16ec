import { z } from "zod";
import { isImageName } from "../config.ts";

const text = (max: number, sentence: string) =>
  z.string(sentence).trim().min(1, sentence).max(max, sentence).refine((value) => !value.includes("\0"), sentence);
const flag = (name: string) => z.boolean(`${name} must be true or false`);
const whole = (min: number, max: number, sentence: string) => z.int(sentence).min(min, sentence).max(max, sentence);

/** How many people a pod's list may hold. */
export const MOST_ALLOWED = 500;

/** Discord ids as officers send them: at most 500, each 5 to 25 digits; sorted and unique afterwards. */
export const discordIdsSchema = (field: string) => {
  const list = `${field} must be a list of at most ${MOST_ALLOWED} Discord ids`;
  const entry = `${field} must hold Discord ids, of 5 to 25 digits each`;
  return z.array(z.string(entry).regex(/^\d{5,25}$/, entry), list).max(MOST_ALLOWED, list)
    .transform((ids) => [...new Set(ids)].sort());
};

export const allowedUsersSchema = discordIdsSchema("allowed_users");

/** An image name; the sentence is the caller's. */
export const imageSchema = (sentence: string) => text(200, sentence).refine(isImageName, sentence);

const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

const envSchema = z.record(z.string(), z.string("env must map names to text"), "env must map names to text")
  .superRefine((env, check) => {
    const refuse = (message: string) => check.addIssue({ code: "custom", message });
    const names = Object.keys(env);
    if (names.length > 47) refuse("env must hold at most 47 names: RunPod takes 50, and 3 are reserved");
    for (const name of names) {
      if (!ENV_NAME.test(name)) refuse("env names must match [A-Za-z_][A-Za-z0-9_]*");
      if (name.startsWith("GODFATHER_")) refuse("env names starting with GODFATHER_ are reserved");
      if (name.startsWith("RUNPOD_")) refuse("env names starting with RUNPOD_ are reserved: RunPod sets them itself");
      if (env[name]!.includes("\0")) refuse("env values must not hold NUL characters");
    }
  });

const VOLUME = "volume_in_gb must be a whole number from 0 to 2000";

/**
 * The body of a create (contract section 5.12, strict: an unknown field is refused, because a typo must not buy a GPU).
 * GPU fields of a CPU pod, and CPU fields of a GPU pod, are checked for nothing, as the contract says.
 */
export const createRequestSchema = z.strictObject({
  name: text(100, "name must be text of at most 100 characters").optional(),
  image_name: imageSchema("image_name must be text of at most 200 characters").optional(),
  use_cpu_only: flag("use_cpu_only").default(false),
  cloud_type: z.enum(["COMMUNITY", "SECURE"], "cloud_type must be COMMUNITY or SECURE").optional(),
  gpu_type_id: z.unknown().optional(),
  cpu_flavor: z.unknown().optional(),
  vcpu_count: z.unknown().optional(),
  volume_in_gb: whole(0, 2000, VOLUME).refine(
    (gb) => gb === 0 || gb >= 10,
    "volume_in_gb must be 0 or from 10 to 2000: RunPod refuses a volume under 10 GB",
  ).default(0),
  container_disk_in_gb: whole(1, 500, "container_disk_in_gb must be a whole number from 1 to 500").default(20),
  volume_mount_path: text(200, "volume_mount_path must be text of at most 200 characters")
    .regex(/^\/[^\0]*$/, "volume_mount_path must be an absolute path").default("/workspace"),
  env: envSchema.default({}),
  is_public: flag("is_public").default(false),
  allowed_users: allowedUsersSchema.default([]),
  over_budget: flag("over_budget").default(false),
  provider: z.literal("runpod", "provider must be one of: runpod").default("runpod"),
}).transform((body, check) => {
  const { gpu_type_id, cpu_flavor, vcpu_count, ...common } = body;
  const hardware = body.use_cpu_only
    ? cpuSchema.safeParse({ cpu_flavor, vcpu_count })
    : gpuSchema.safeParse({ gpu_type_id });
  if (!hardware.success) {
    for (const issue of hardware.error.issues) check.addIssue({ code: "custom", message: issue.message });
    return z.NEVER;
  }
  return { ...common, hardware: hardware.data };
});

const gpuSchema = z.object({
  gpu_type_id: text(100, "gpu_type_id must be text of at most 100 characters").default("NVIDIA RTX A4000"),
}).transform((gpu) => ({ kind: "gpu" as const, ...gpu }));

const cpuSchema = z.object({
  cpu_flavor: text(50, "cpu_flavor must be text of at most 50 characters").default("cpu3c"),
  vcpu_count: whole(2, 64, "vcpu_count must be a whole number from 2 to 64").refine(
    (count) => (count & (count - 1)) === 0,
    "vcpu_count must be a power of two",
  ).default(2),
}).transform((cpu) => ({ kind: "cpu" as const, ...cpu }));

export type CreateRequest = z.output<typeof createRequestSchema>;
