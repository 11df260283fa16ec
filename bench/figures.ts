/** One measured figure beside its peer of the same run. */
export interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly unit: string;
  readonly peer: string;
  readonly peerValue: number;
  /** How the two are compared: the number the goal is about. */
  readonly compared: { readonly how: "ratio" | "difference" | "value"; readonly value: number };
  /** Absent for figures that are shown to explain another. */
  readonly goal?: { readonly text: string; readonly met: boolean };
  /** What one must know to read the number. */
  readonly note?: string;
}

type Comparison = Pick<Figure, "figure" | "value" | "unit" | "peer" | "peerValue" | "note">;

/** A figure compared by its ratio to the peer; `atLeast` is the goal. */
export function ratioFigure(of: Comparison, ratio: number, atLeast?: number): Figure {
  return {
    ...of,
    compared: { how: "ratio", value: ratio },
    ...(atLeast === undefined ? {} : { goal: { text: `at least ${atLeast}`, met: ratio >= atLeast } }),
  };
}

/** The table for people: plain text, numbers to the right. */
export function table(figures: readonly Figure[]): string {
  const head = ["figure", "value", "peer", "value", "compared", "goal", "met"];
  const rows = figures.map((f) => [
    f.figure,
    amount(f.value, f.unit),
    f.peer,
    amount(f.peerValue, f.unit),
    comparison(f),
    f.goal?.text ?? "",
    f.goal === undefined ? "" : f.goal.met ? "yes" : "no",
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]!.length)));
  const isNumber = (column: number) => column === 1 || column === 3 || column === 4;
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))
      .join("  ").trimEnd();
  const notes = figures.filter((f) => f.note !== undefined).map((f) => `${f.figure}: ${f.note}`);
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line), "", ...notes].join("\n");
}

function amount(value: number, unit: string): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
}

function comparison({ compared, unit }: Figure): string {
  if (compared.how === "ratio") return `${compared.value.toFixed(2)} times`;
  if (compared.how === "difference") return `${compared.value >= 0 ? "+" : ""}${compared.value.toFixed(0)} ${unit}`;
  return amount(compared.value, unit);
}
