import { clean, cut, widthOf } from "../text/cells.ts";
import { type Line, span } from "../text/line.ts";

/** A bar of `width` columns, filled by a share from 0 to 1; a share above 0 is never drawn as nothing. */
export function bar(share: number, width: number): string {
  const bounded = Math.max(0, Math.min(1, Number.isFinite(share) ? share : 0));
  const filled = bounded === 0 ? 0 : Math.max(1, Math.round(bounded * width));
  return "█".repeat(Math.min(width, filled)) + "░".repeat(Math.max(0, width - filled));
}

/** Things beside their amounts, as bars of the largest one. */
export function barLines(
  rows: readonly { readonly label: string; readonly amount: number; readonly text: string }[],
  width: number,
): Line[] {
  const most = Math.max(0, ...rows.map(({ amount }) => amount));
  const texts = Math.max(0, ...rows.map(({ text }) => widthOf(clean(text))));
  const labels = Math.min(Math.floor(width / 3), Math.max(0, ...rows.map(({ label }) => widthOf(clean(label)))));
  const room = Math.max(4, width - labels - texts - 4);
  return rows.map(({ label, amount, text }) => {
    const name = cut(clean(label), labels);
    return [
      span(name + " ".repeat(labels - widthOf(name) + 2)),
      span(bar(most === 0 ? 0 : amount / most, room), "accent"),
      span(`  ${clean(text).padStart(texts)}`),
    ];
  });
}
