/** The calendar month (UTC) that a time lies in. */
export interface Month {
  /** Such as `2026-11`. */
  readonly name: string;
  readonly from: number;
  /** The first moment of the next month. */
  readonly to: number;
}

export function monthOf(ms: number): Month {
  const date = new Date(ms);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return {
    name: date.toISOString().slice(0, 7),
    from: Date.UTC(year, month),
    to: Date.UTC(year, month + 1),
  };
}

/** The months that a span touches, each cut to it. */
export function monthsBetween(from: number, to: number): Month[] {
  const months: Month[] = [];
  for (let at = from; at < to;) {
    const month = monthOf(at);
    months.push({ name: month.name, from: at, to: Math.min(month.to, to) });
    at = month.to;
  }
  return months;
}
