import { z } from "zod";
import { EVENT_KINDS } from "../events/kinds.ts";
import { MAX_URL } from "./url.ts";

const NAME = "name must be text of 1 to 80 characters";
const KINDS = `kinds must be a list of event kinds: ${EVENT_KINDS.join(", ")}`;

const name = z.string(NAME).trim().min(1, NAME).max(80, NAME);
const url = z.string("url must be text").trim().max(MAX_URL, `url must be text of at most ${MAX_URL} characters`);
const kinds = z.array(z.enum(EVENT_KINDS, KINDS), KINDS).max(EVENT_KINDS.length, KINDS)
  .transform((list) => [...new Set(list)]);

/** `POST /webhooks`. Without kinds, or with an empty list, the webhook gets every event. */
export const addSchema = z.strictObject({
  name,
  format: z.enum(["discord", "signed"], "format must be discord or signed"),
  url,
  kinds: kinds.default([]),
});

/** `PUT /webhooks/<id>`: any of it. A new secret comes from the server; the old one ends at once. */
export const changeSchema = z.strictObject({
  name: name.optional(),
  url: url.optional(),
  kinds: kinds.optional(),
  is_enabled: z.boolean("is_enabled must be true or false").optional(),
  rotate_secret: z.literal(true, "rotate_secret must be true").optional(),
}).refine((body) => Object.keys(body).length > 0, "Send at least one of name, url, kinds, is_enabled, rotate_secret");

export type AddWebhook = z.output<typeof addSchema>;
export type ChangeWebhook = z.output<typeof changeSchema>;
