import { z } from "zod";

const KEY = "api_key must be a RunPod API key: 8 to 200 printable characters without spaces";

/** Body of `PUT /integrations/runpod`. */
export const runpodKeySchema = z.strictObject({
  api_key: z.string(KEY).trim().regex(/^[\x21-\x7e]{8,200}$/, KEY),
  replace: z.boolean("replace must be true or false").default(false),
});
