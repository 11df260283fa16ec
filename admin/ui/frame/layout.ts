import { BLANK, fit, type Line, line, lineWidth, span } from "../text/line.ts";

/** The smallest window with a frame in it. */
export const LEAST = { columns: 40, rows: 12 } as const;

export interface Layout {
  readonly width: number;
  /** Rows of the body, between the title and the message. */
  readonly body: number;
  readonly footer: number;
}

/** How a window is divided; null when it is too small for a frame. */
export function layoutOf(columns: number, rows: number): Layout | null {
  if (columns < LEAST.columns || rows < LEAST.rows) return null;
  const footer = rows >= 20 ? 2 : 1;
  return { width: columns, body: rows - 3 - footer, footer };
}

/** What is drawn in a window that is too small: one line, whatever fits of it. */
export function tooSmall(columns: number, rows: number): Line[] {
  const text = `orgpods needs a window of ${LEAST.columns}x${LEAST.rows}; this is ${columns}x${rows}`;
  const lines = columns < text.length && rows > 1
    ? [`Needs ${LEAST.columns}x${LEAST.rows}`, `is ${columns}x${rows}`]
    : [
      text,
    ];
  return Array.from({ length: Math.max(1, rows) }, (_, row) => fit(line(lines[row] ?? ""), Math.max(1, columns)));
}

export interface FrameParts {
  readonly header: Line;
  readonly title: Line;
  readonly body: readonly Line[];
  readonly message: Line;
  readonly footer: readonly Line[];
}

/** The frame: exactly as many lines as the window has rows, each exactly as wide as the window. */
export function assemble({ width, body, footer }: Layout, parts: FrameParts): Line[] {
  return [
    parts.header,
    parts.title,
    ...rowsOf(parts.body, body),
    parts.message,
    ...rowsOf(parts.footer, footer),
  ].map((one) => fit(one, width));
}

/** Exactly so many rows. */
export function rowsOf(lines: readonly Line[], rows: number): Line[] {
  return Array.from({ length: rows }, (_, row) => lines[row] ?? BLANK);
}

/** The room inside of a dialog over a body of this size. */
export function dialogRoom(width: number, height: number): { width: number; height: number; hasBorder: boolean } {
  const hasBorder = width >= 50 && height >= 10;
  return hasBorder
    ? { width: Math.min(width - 8, 76), height: height - 2, hasBorder }
    : { width: width - 2, height: height - 1, hasBorder };
}

/** A dialog drawn over the body of the screen below it; in a small window it takes the whole body. */
export function overlaid(
  below: readonly Line[],
  dialog: { readonly title: string; readonly lines: readonly Line[] },
  width: number,
  height: number,
): Line[] {
  const room = dialogRoom(width, height);
  const lines = dialog.lines.slice(0, room.height);
  if (!room.hasBorder) {
    return [
      fit(line(span(`-- ${dialog.title} `, "strong")), width),
      ...lines.map((one) => fit([span(" "), ...one], width)),
    ];
  }
  const inside = Math.min(room.width, Math.max(30, ...lines.map(lineWidth), dialog.title.length + 4));
  const left = Math.floor((width - inside - 4) / 2);
  const top = Math.max(0, Math.floor((height - lines.length - 2) / 2));
  const edge = (start: string, end: string, title: string) => {
    const name = title === "" ? "" : ` ${title} `;
    const text = fit(line(span(name, "strong")), Math.min(lineWidth(line(name)), inside));
    return [span(`${start}─`), ...text, span("─".repeat(Math.max(0, inside + 1 - lineWidth(text))) + end)];
  };
  const box: Line[] = [
    edge("┌", "┐", dialog.title),
    ...lines.map((one) => [span("│ "), ...fit(one, inside), span(" │")]),
    edge("└", "┘", ""),
  ];
  return Array.from({ length: height }, (_, row) => {
    const boxed = box[row - top];
    const under = below[row] ?? BLANK;
    // The rest of these rows is left blank, so that the box is easy to see.
    return boxed === undefined ? under : [span(" ".repeat(left)), ...boxed];
  });
}
