/**
 * Checks a JSON value against the part of JSON Schema that the stand-in's bodies need, and words violations as RunPod
 * does: one line each, a path from `$`, then the reason (`$: additional properties 'bogus' not allowed`).
 */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly deprecated?: boolean;
}

/** All violations of `schema` by `value`; empty when it fits. */
export function violations(schema: Schema, value: unknown, path = "$"): string[] {
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length > 0 && !types.some((type) => hasType(value, type))) {
    return [`${path}: got ${typeName(value)}, want ${types.join(" or ")}`];
  }
  if (typeof value === "string") return stringViolations(schema, value, path);
  if (typeof value === "number" && schema.minimum !== undefined && value < schema.minimum) {
    return [`${path}: minimum: got ${value}, want ${schema.minimum}`];
  }
  if (Array.isArray(value)) return arrayViolations(schema, value, path);
  if (isObject(value)) return objectViolations(schema, value, path);
  return [];
}

/** True for a JSON object (not null, not an array). */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function stringViolations(schema: Schema, value: string, path: string): string[] {
  if (schema.minLength !== undefined && value.length < schema.minLength) {
    return [`${path}: minLength: got ${value.length}, want ${schema.minLength}`];
  }
  if (schema.enum && !schema.enum.includes(value)) {
    return [`${path}: value must be one of ${schema.enum.map((word) => `'${word}'`).join(", ")}`];
  }
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) {
    return [`${path}: '${value.slice(0, 80)}' does not match pattern '${schema.pattern}'`];
  }
  return [];
}

function arrayViolations(schema: Schema, value: unknown[], path: string): string[] {
  const found: string[] = [];
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    found.push(`${path}: maxItems: got ${value.length}, want ${schema.maxItems}`);
  }
  const { items } = schema;
  return items ? found.concat(value.flatMap((item, index) => violations(items, item, `${path}[${index}]`))) : found;
}

function objectViolations(schema: Schema, value: Record<string, unknown>, path: string): string[] {
  const found: string[] = [];
  const quoted = (names: readonly string[]) => names.map((name) => `'${name}'`).join(", ");
  const missing = (schema.required ?? []).filter((name) => !Object.hasOwn(value, name));
  if (missing.length > 0) {
    found.push(`${path}: missing ${missing.length > 1 ? "properties" : "property"} ${quoted(missing)}`);
  }
  const properties = schema.properties ?? {};
  const extra = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  if (extra.length > 0 && schema.additionalProperties === false) {
    found.push(`${path}: additional properties ${quoted(extra)} not allowed`);
  }
  const rest = isObject(schema.additionalProperties) ? schema.additionalProperties as Schema : undefined;
  for (const [name, member] of Object.entries(value)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : rest;
    if (inner) found.push(...violations(inner, member, `${path}.${name}`));
  }
  return found;
}

function hasType(value: unknown, type: string): boolean {
  if (type === "object") return isObject(value);
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return typeof value === "number" && Number.isInteger(value);
  if (type === "null") return value === null;
  return typeName(value) === type;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
