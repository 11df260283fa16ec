/** A stretch of certificate serials, both ends included. */
export interface SerialRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** Greatest serial of a certificate. */
export const MAX_SERIAL = 2n ** 64n - 1n;

/** True for ends in order within 1 to 2^64-1. Serial 0 stands for none, and OpenSSH cannot revoke it. */
export function isSerialRange({ from, to }: SerialRange): boolean {
  return from >= 1n && from <= to && to <= MAX_SERIAL;
}

/** The same serials in the fewest ranges: in order, with at least one serial left out between two. */
export function mergedRanges(ranges: readonly SerialRange[]): SerialRange[] {
  const sorted = ranges.toSorted((a, b) => a.from < b.from ? -1 : a.from > b.from ? 1 : 0);
  const merged: { from: bigint; to: bigint }[] = [];
  for (const { from, to } of sorted) {
    const last = merged.at(-1);
    if (last === undefined || from > last.to + 1n) merged.push({ from, to });
    else if (to > last.to) last.to = to;
  }
  return merged;
}

/** Whether a serial is in one of the ranges, which are as `mergedRanges` returns them. */
export function includesSerial(ranges: readonly SerialRange[], serial: bigint): boolean {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]!.to < serial) low = middle + 1;
    else high = middle;
  }
  const found = ranges[low];
  return found !== undefined && found.from <= serial;
}
