import { z } from "zod";
import { orgSettingsShape } from "./org_settings.ts";

/** What an image name must be; whether it is one is checked beside the schema, because "" clears it. */
export const IMAGE = "pod_image must be an image name of at most 200 characters, with no spaces";

/** The oldest CUDA version an image runs on; null or "" for any. RunPod then places the pod accordingly. */
export const cudaSchema = z.union([z.string(), z.null()], "min_cuda_version must be a string").refine(
  (value) => value === null || value === "" || /^\d{1,2}\.\d{1,2}$/.test(value),
  "min_cuda_version must be a version such as 12.4",
);

/** Body of `PUT /settings`: any of it, but not nothing. */
export const settingsSchema = z.object({
  pod_image: z.union([z.string(), z.null()], "pod_image must be a string"),
  min_cuda_version: cudaSchema,
  ...orgSettingsShape,
}).partial().strict().refine((body) => Object.keys(body).length > 0, "Send an object with pod_image");
