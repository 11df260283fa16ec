import type { z } from "zod";
import type { changeSchema } from "../../../server/webhooks/schema.ts";
import { type Api, read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import type { Webhook } from "../data/settings.ts";
import { wrap } from "../text/cells.ts";
import { BLANK, line, span } from "../text/line.ts";
import { pagerScreen } from "../widgets/pager.ts";

/** Changes a webhook; the answer carries a new secret where one was made. */
export async function put(api: Api, org: string, hook: Webhook, json: z.input<typeof changeSchema>) {
  return (await read(api.org.webhooks[":id"].$put({ param: { org, id: String(hook.id) }, json }))).value;
}

/** Says what became of a change, and shows a new secret: this once. */
export function tell(ui: Ui, answer: unknown, what: string): void {
  const { webhook, secret } = answer as Awaited<ReturnType<typeof put>>;
  ui.say(`The webhook ${webhook.name} ${what}`);
  if (secret === null) return;
  ui.open(pagerScreen, {
    title: "Signing secret",
    lines: (width) => [
      BLANK,
      ...wrap(secret, Math.max(10, width - 4)).map((text) => line(span(`  ${text}`, "strong"))),
      BLANK,
      ...wrap(
        `This is the signing secret of ${webhook.name}. Copy it now: it is not shown again. Your program checks with it ` +
          "that messages come from here.",
        Math.max(10, width - 4),
      ).map((text) => line(`  ${text}`)),
    ],
  });
}
