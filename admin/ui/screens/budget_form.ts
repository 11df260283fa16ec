import { z } from "zod";
import { orgSettingsShape } from "../../../server/identity/org_settings.ts";
import { read } from "../../client/api.ts";
import type { Ui } from "../core/screen.ts";
import { type BudgetSettings, budgetSettingsResource } from "../data/spend.ts";
import { podsResource } from "../data/pods.ts";
import { warningLines } from "../data/spend_words.ts";
import { money } from "../text/units.ts";
import type { Field, Values } from "../widgets/form/fields.ts";
import { formScreen } from "../widgets/form/screen.ts";
import { changedLines } from "./meanwhile.ts";

/** What the form sends, beside whether it was said that pods may stop at once. */
const schema = z.strictObject({
  monthly_budget_usd: orgSettingsShape.monthly_budget_usd,
  stop_at_budget: orgSettingsShape.stop_at_budget,
  is_sure: z.literal(true, "Say yes first: press space here"),
});

/**
 * Opens the form of the month's budget. `spent` is what the month has cost so far, in USD: where that is the budget already
 * and pods stop at it, they stop at once, so that must be said yes to.
 */
export function openBudgetForm(ui: Ui, settings: BudgetSettings, spent: number): void {
  const isReached = ({ monthly_budget_usd: budget }: Values) =>
    typeof budget === "number" && budget > 0 && budget <= spent;
  const stopsNow = (values: Values) => isReached(values) && values.stop_at_budget === "stop";
  const fields: readonly Field[] = [
    {
      name: "monthly_budget_usd",
      label: "Budget",
      kind: "number",
      ...(settings.monthly_budget_usd === null ? {} : { initial: settings.monthly_budget_usd }),
      unit: "USD a month",
      hint: "For a calendar month (UTC); empty for none. At 80 % an event warns, at 100 % starts are refused.",
    },
    {
      name: "stop_at_budget",
      label: "At 100 %",
      kind: "choice",
      options: [
        { value: "go_on", label: "running pods go on" },
        { value: "stop", label: "running pods are stopped" },
      ],
      initial: settings.stop_at_budget ? "stop" : "go_on",
      hint: "Starts and creates are refused either way. A stop disconnects everybody; files outside volumes are lost.",
    },
    {
      name: "is_sure",
      label: "Stop pods now?",
      kind: "switch",
      on: "yes, stop them",
      off: "no",
      when: stopsNow,
    },
  ];
  ui.open(formScreen, {
    title: "Budget",
    fields,
    schema,
    body: (values) => ({
      monthly_budget_usd: values.monthly_budget_usd ?? null,
      stop_at_budget: values.stop_at_budget === "stop",
      is_sure: !stopsNow(values) || values.is_sure === true,
    }),
    notes: (values, at, width) => {
      const now = at.read(budgetSettingsResource).value;
      const changed = [
        ...changedLines(
          settings.monthly_budget_usd,
          now?.monthly_budget_usd,
          (budget) => budget === null ? "no budget" : money(budget),
          width,
        ),
        ...changedLines(
          settings.stop_at_budget,
          now?.stop_at_budget,
          (stops) => stops ? "stopping pods at 100 %" : "letting pods go on at 100 %",
          width,
        ),
      ];
      if (!isReached(values)) return changed;
      const all = at.read(podsResource).value?.pods;
      const count = all?.filter(({ status }) => status === "RUNNING").length;
      const pods = count === undefined
        ? "running pods are stopped"
        : `${count} running ${count === 1 ? "pod is" : "pods are"} stopped`;
      return [
        ...changed,
        ...warningLines([
          `${money(spent)} is spent already: starts are refused from now on${stopsNow(values) ? `, and ${pods}` : ""}.`,
        ], width),
      ];
    },
    send: "Set the budget",
    work: (body) => (api, org) => {
      const { monthly_budget_usd, stop_at_budget } = body as z.infer<typeof schema>;
      // The route reads its body by itself, so the client has no type for it.
      return read(api.org.settings.$put({ param: { org } }, {
        headers: { "content-type": "application/json" },
        init: { body: JSON.stringify({ monthly_budget_usd, stop_at_budget }) },
      }));
    },
    done: (answer, at) => {
      const budget = (answer as { value: { settings: BudgetSettings } }).value.settings.monthly_budget_usd;
      at.say(
        budget === null
          ? "There is no budget: nothing limits the month"
          : `The budget is set: ${money(budget)} a month`,
      );
    },
  });
}
