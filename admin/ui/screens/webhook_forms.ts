/** Adding a webhook and changing one. */
import { z } from "zod";
import { EVENT_KINDS, type EventKind } from "../../../server/events/kinds.ts";
import { addSchema, changeSchema } from "../../../server/webhooks/schema.ts";
import { read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import type { Webhook } from "../data/settings.ts";
import type { Field, Values } from "../widgets/form/fields.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { put, tell } from "./webhook_put.ts";

const SOME_KIND = "Choose at least one kind, or all events";
/** An empty list means all kinds to the server; here nothing chosen is a mistake. */
const chosen = z.looseObject({ kinds: z.array(z.string(), SOME_KIND) });
const withKinds = (schema: z.ZodType) => chosen.pipe(schema as z.ZodType<unknown, z.output<typeof chosen>>);

const DISCORD_HINT = "In Discord: channel settings > Integrations > Webhooks > Copy URL. It is not shown.";
const SIGNED_HINT = "The https address of your program. It is not shown again.";

const isSigned = (values: Values) => values.format === "signed";

/** A switch for all kinds, and one for each while that is off. */
function kindFields(kinds: readonly string[]): Field[] {
  return [
    {
      name: "kinds",
      label: "Events",
      kind: "switch",
      initial: kinds.length === 0,
      on: "all, also kinds of later versions",
      off: "only those below",
    },
    ...EVENT_KINDS.map((kind): Field => ({
      name: kind,
      label: kind,
      kind: "switch",
      initial: kinds.includes(kind),
      when: (values) => values.kinds === false,
    })),
  ];
}

/** The kinds of a body; null when none is chosen. */
function kindsOf(values: Values): EventKind[] | null {
  if (values.kinds === true) return [];
  const kinds = EVENT_KINDS.filter((kind) => values[kind] === true);
  return kinds.length === 0 ? null : kinds;
}

export function openAddForm(ui: Ui): void {
  ui.open(formScreen, {
    title: "New webhook",
    fields: [
      { name: "name", label: "Name", kind: "text", hint: "For this list." },
      {
        name: "format",
        label: "Format",
        kind: "choice",
        options: [
          { value: "discord", label: "a Discord channel" },
          { value: "signed", label: "JSON, signed, for a program" },
        ],
      },
      { name: "url", label: "Address", kind: "text", isSecret: true, hint: DISCORD_HINT, when: (v) => !isSigned(v) },
      { name: "signed_url", label: "Address", kind: "text", isSecret: true, hint: SIGNED_HINT, when: isSigned },
      ...kindFields([]),
    ],
    schema: withKinds(addSchema),
    body: (values) => ({
      name: values.name,
      format: values.format,
      url: isSigned(values) ? values.signed_url : values.url,
      kinds: kindsOf(values),
    }),
    send: "Add the webhook",
    work: (body) => async (api, org) =>
      (await read(api.org.webhooks.$post({ param: { org }, json: body as z.input<typeof addSchema> }))).value,
    done: (answer, at) => tell(at, answer, "is added; t sends a test"),
  });
}

export function openChangeForm(ui: Ui, hook: Webhook): void {
  ui.open(formScreen, {
    title: `Change ${hook.name}`,
    fields: [
      { name: "name", label: "Name", kind: "text", initial: hook.name },
      {
        name: "url",
        label: "New address",
        kind: "text",
        isSecret: true,
        hint: `Empty: it stays (${hook.url_hint}). ${hook.format === "discord" ? DISCORD_HINT : SIGNED_HINT}`,
      },
      ...kindFields(hook.kinds),
    ],
    schema: withKinds(changeSchema),
    body: (values) => ({
      name: values.name ?? "",
      ...(values.url === undefined ? {} : { url: values.url }),
      kinds: kindsOf(values),
    }),
    send: "Save",
    work: (body) => (api, org) => put(api, org, hook, body as z.input<typeof changeSchema>),
    done: (answer, at) => tell(at, answer, "is changed"),
  });
}
