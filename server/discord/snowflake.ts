/** Discord ids: unsigned 64-bit numbers, always kept as decimal text because a JavaScript number cannot hold them. */

const LARGEST = 2n ** 64n - 1n;

/**
 * True for an id that Discord may be asked about: 15 to 20 digits (the oldest staff ids have 15) that fit 64 bits.
 * Everything else belongs to no account and no server.
 */
export function isSnowflake(id: string): boolean {
  return /^[0-9]{15,20}$/.test(id) && BigInt(id) <= LARGEST;
}

/** Order of two ids by value, for sorting and for the `after` cursor of a list. */
export function compareIds(a: string, b: string): number {
  const left = BigInt(a), right = BigInt(b);
  return left < right ? -1 : left > right ? 1 : 0;
}
