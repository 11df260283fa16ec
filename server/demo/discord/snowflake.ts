/** The largest id that Discord accepts: ids are 64-bit, and larger values than a signed one are refused. */
const LARGEST = 9_223_372_036_854_775_807n;

/** True for a decimal id of at most 64 bits. Ids stay strings everywhere: a JavaScript number would round them. */
export function isSnowflake(text: string): boolean {
  return /^\d{1,19}$/.test(text) && BigInt(text) <= LARGEST;
}

/** Orders two ids by value, lowest first. */
export function compareSnowflakes(a: string, b: string): number {
  const left = BigInt(a);
  const right = BigInt(b);
  return left < right ? -1 : left > right ? 1 : 0;
}
