/** The middle value; of an even number of values the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError("There is no median of nothing");
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/**
 * Measures each of `sides` once per round, one after another, in an order that turns around every round: whatever else
 * the machine does meanwhile then falls on all of them alike. Returns the values of each side by round.
 */
export async function alternate<T, Side extends string>(
  rounds: number,
  sides: Readonly<Record<Side, () => Promise<T>>>,
): Promise<Record<Side, T[]>> {
  const names = Object.keys(sides) as Side[];
  const values = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<Side, T[]>;
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? names : names.toReversed();
    for (const name of order) values[name].push(await sides[name]());
  }
  return values;
}

/** The median of the ratios of the same rounds, which shared disturbances leave alone. */
export function medianRatio(values: readonly number[], peers: readonly number[]): number {
  return median(values.map((value, round) => value / peers[round]!));
}
