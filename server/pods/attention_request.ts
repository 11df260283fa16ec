import { z } from "zod";

/** Body of `POST /attention/<id>`. A create whose answer was lost is adopted by the `runpod_id` that somebody found. */
export const attentionActionSchema = z.strictObject({
  action: z.enum(["adopt", "forget"], "action must be adopt or forget"),
  runpod_id: z.string("runpod_id must be text").regex(/^[A-Za-z0-9_-]{1,64}$/, "runpod_id must be a RunPod pod id")
    .optional(),
});
