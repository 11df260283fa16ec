/** `POST /graphql`: only `myself { clientBalance currentSpendPerHr }`, which REST v2 does not have. */
import { type Answer, json } from "./answers.ts";
import { balanceOf, spendRate } from "./meter.ts";
import { isObject } from "./schema_check.ts";
import type { World } from "./state.ts";

/** Answers a query. As with RunPod, whatever is wrong with it comes as 200 with `errors`. */
export function graphql(world: World, account: string, body: unknown): Answer {
  const query = isObject(body) ? body["query"] : undefined;
  const selection = typeof query === "string"
    ? /^\s*(?:query\b\s*\w*\s*)?\{\s*myself\s*\{([\w\s,]*)\}\s*\}\s*$/.exec(query)?.[1]
    : undefined;
  if (selection === undefined) return failure("Syntax Error: only myself { … } can be queried here.");
  const fields: Readonly<Record<string, number>> = {
    clientBalance: balanceOf(world, account),
    currentSpendPerHr: spendRate(world, account),
  };
  const names = selection.split(/[\s,]+/).filter((name) => name !== "");
  const unknown = names.find((name) => !Object.hasOwn(fields, name));
  if (names.length === 0) return failure('Field "myself" must have a selection of subfields.');
  if (unknown !== undefined) return failure(`Cannot query field "${unknown}" on type "User".`);
  return json({ data: { myself: Object.fromEntries(names.map((name) => [name, fields[name]])) } });
}

function failure(message: string): Answer {
  return json({ errors: [{ message, extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] });
}
