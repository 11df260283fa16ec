import type { z } from "zod";
import type { Field } from "./fields.ts";

/** A mistake, and the field that it speaks of; null where none can be told. */
export interface Mistake {
  readonly field: string | null;
  readonly sentence: string;
}

/** What the server's own schema says of a body. */
export function mistakesIn(schema: z.ZodType | undefined, body: unknown, fields: readonly Field[]): Mistake[] {
  const result = schema?.safeParse(body);
  if (result === undefined || result.success) return [];
  return result.error.issues.map((issue) => {
    const [first] = issue.path;
    const isField = fields.some(({ name }) => name === first);
    return { field: isField ? String(first) : fieldOf(issue.message, fields), sentence: issue.message };
  });
}

/**
 * A sentence of the server in the words of the form: its fields by their labels, and an empty field for null.
 * `stop_at must be after start_at` becomes `Stop must be after Start`.
 */
export function inLabels(sentence: string, fields: readonly Field[]): string {
  const labelOf = (word: string) => fields.find(({ name }) => name === word)?.label ?? word;
  return sentence
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, labelOf)
    // A name of one word may be any word of a sentence but the first.
    .replace(/^[a-z]+\b/, labelOf)
    .replace(/,? or null$/, ", or empty");
}

/** The field that a sentence names: the server's sentences begin with the field's name. */
export function fieldOf(sentence: string, fields: readonly Field[]): string | null {
  const words = sentence.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
  const named = words.find((word) => fields.some(({ name }) => name === word));
  return named ?? null;
}
