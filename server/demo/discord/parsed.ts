import { z } from "zod";
import { AppError, shown } from "../../errors.ts";

/**
 * A value that fits the schema, for what test code and the demo's routes hand over.
 * @throws AppError `invalid_request` with one sentence that names the field
 */
export function parsed<S extends z.ZodType>(schema: S, value: unknown): z.infer<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  if (issue.code === "unrecognized_keys") {
    throw new AppError("invalid_request", `Unknown field ${shown(issue.keys[0] ?? "")}.`);
  }
  const field = issue.path.length > 0 ? `Field ${shown(issue.path.join("."))}: ` : "";
  throw new AppError("invalid_request", `${field}${issue.message}.`);
}
